report -s sched.prev_pid {corpus}/local/sched.data
