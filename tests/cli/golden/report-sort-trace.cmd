report -s trace -n --percent-limit 1 {corpus}/local/sched.data --symfs /nonexistent --kallsyms /dev/null
