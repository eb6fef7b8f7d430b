report -i {corpus}/local/multi-data.data --symfs /nonexistent --kallsyms /dev/null -w 12,0,6,9
