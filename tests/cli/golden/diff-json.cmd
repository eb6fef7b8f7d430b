diff {corpus}/local/dir.data {corpus}/local/dwarf.data -s dso --json --percent-limit 1 --symfs /nonexistent --kallsyms /dev/null
