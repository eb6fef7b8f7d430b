evlist --trace-fields -v {corpus}/local/sched.data
