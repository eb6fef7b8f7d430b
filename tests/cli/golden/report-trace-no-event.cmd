report -s frob.pid {corpus}/local/sched.data
