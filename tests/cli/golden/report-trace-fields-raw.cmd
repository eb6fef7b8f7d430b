report -s prev_state/raw,prev_prio -F+prev_comm {corpus}/local/sched.data --symfs /nonexistent --kallsyms /dev/null
