report -i {corpus}/local/group-read.data --kallsyms /nope --header
