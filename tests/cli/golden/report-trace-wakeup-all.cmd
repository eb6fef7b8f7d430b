report -s sched_wakeup.* -n {corpus}/local/sched.data --symfs /nonexistent --kallsyms /dev/null
