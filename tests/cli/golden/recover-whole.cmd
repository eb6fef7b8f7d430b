recover -n {corpus}/local/sched.data
