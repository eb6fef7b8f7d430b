script -i {corpus}/local/sched.data --symbol 'no(such, a)' -C 0-1 --symfs /nonexistent --kallsyms /dev/null
