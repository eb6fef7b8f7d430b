report -i {corpus}/local/group-read.data --json --header --symfs /nonexistent --kallsyms /dev/null
