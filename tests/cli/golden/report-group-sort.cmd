report -i {corpus}/local/group-read.data --symfs /nonexistent --kallsyms /dev/null --group -s dso --group-sort-idx 1 -g none
