report --children -g none -s comm,symoff,addr,dso_size {corpus}/../switches/threads.data --symfs /nonexistent --kallsyms /dev/null
