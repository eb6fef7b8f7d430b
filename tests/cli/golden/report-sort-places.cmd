report -s addr,symoff,symbol_size,dso_size -g none -n {corpus}/local/clockid.data --symfs /nonexistent --kallsyms /dev/null
