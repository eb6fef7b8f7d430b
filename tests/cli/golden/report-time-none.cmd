report -i {corpus}/local/sched.data --time 1,2 --symfs /nonexistent --kallsyms /dev/null
