report -s time,comm --time-quantum 250ms -n {corpus}/local/clockid.data --symfs /nonexistent --kallsyms /dev/null
