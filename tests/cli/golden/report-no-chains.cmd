report -i {corpus}/local/multi-data.data -g -s comm --symfs /nonexistent --kallsyms /dev/null
