script -i {corpus}/local/group-read.data --kallsyms /
