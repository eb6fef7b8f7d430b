report --mem-mode -g none {corpus}/local/dwarf.data --symfs /nonexistent --kallsyms /dev/null
