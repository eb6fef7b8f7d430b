report -i {corpus}/local/sched.data --comm xz,gzip -s comm,cpu -C 1 --symfs /nonexistent --kallsyms /dev/null
