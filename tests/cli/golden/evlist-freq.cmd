evlist -F {corpus}/local/sched.data
