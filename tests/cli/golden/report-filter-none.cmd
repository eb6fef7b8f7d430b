report -i {corpus}/local/sched.data --comm nosuch --pid 1-4000000 -s comm --symfs /nonexistent --kallsyms /dev/null
