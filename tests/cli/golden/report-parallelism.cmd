report --parallelism 2 --percentage relative -s parallelism,dso -g none -i {aux}/../switches/threads.data --symfs /nonexistent --kallsyms /dev/null
