report --latency -i {corpus}/local/sched.data
