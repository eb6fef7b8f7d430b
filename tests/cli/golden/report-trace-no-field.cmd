report -s sched_switch.frob {corpus}/local/sched.data
