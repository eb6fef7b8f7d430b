diff {corpus}/local/multi-data.data {corpus}/local/sched.data -s comm --symfs /nonexistent --kallsyms /dev/null
