report --latency --hierarchy -s parallelism,dso -g none --json -i {aux}/../switches/threads.data --symfs /nonexistent --kallsyms /dev/null
