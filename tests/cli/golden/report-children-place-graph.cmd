report --children -g function,5 -s addr,sym --percent-limit 20 {corpus}/../switches/threads.data --symfs /nonexistent --kallsyms /dev/null
