report -v -g -i {corpus}/local/dwarf.data --percent-limit 90 --symfs /nonexistent --kallsyms /dev/null
