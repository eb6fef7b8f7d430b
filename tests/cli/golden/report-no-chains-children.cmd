report -i {corpus}/local/multi-data.data --children -s comm --symfs /nonexistent --kallsyms /dev/null
