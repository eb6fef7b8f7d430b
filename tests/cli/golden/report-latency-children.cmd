report -s comm,dso --children -g none -i {aux}/../switches/threads.data --symfs /nonexistent --kallsyms /dev/null
