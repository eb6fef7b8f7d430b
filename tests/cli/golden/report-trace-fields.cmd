report -s sched_switch.prev_pid,prev_state,target_cpu,trace:next_comm {corpus}/local/sched.data --symfs /nonexistent --kallsyms /dev/null
