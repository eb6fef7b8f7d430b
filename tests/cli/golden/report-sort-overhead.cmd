report -i {corpus}/local/multi-data.data --symfs /nonexistent --kallsyms /dev/null -q -s sym,overhead
