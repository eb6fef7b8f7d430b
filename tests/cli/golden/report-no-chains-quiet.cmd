report -i {corpus}/local/multi-data.data -g -q -s comm --symfs /nonexistent --kallsyms /dev/null
