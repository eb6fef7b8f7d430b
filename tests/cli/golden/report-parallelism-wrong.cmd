report --parallelism 2- -i {aux}/../switches/threads.data --symfs /nonexistent --kallsyms /dev/null
