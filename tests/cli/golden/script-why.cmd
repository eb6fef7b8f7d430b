script -v -i {corpus}/local/group-read.data --symfs /nonexistent --kallsyms /dev/null --time 3056.466761,3056.467008 -F comm,ip,sym
