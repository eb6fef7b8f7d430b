report --latency -s parallelism,comm,dso -g none -i {aux}/../switches/threads.data --symfs /nonexistent --kallsyms /dev/null
