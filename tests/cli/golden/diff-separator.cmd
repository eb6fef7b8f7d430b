diff {corpus}/local/dir.data {corpus}/local/dwarf.data -s comm,dso -t , -b -c wdiff:1,2 --symfs /nonexistent --kallsyms /dev/null
