report --children -s sym,addr {corpus}/local/clockid.data --symfs /nonexistent --kallsyms /dev/null
