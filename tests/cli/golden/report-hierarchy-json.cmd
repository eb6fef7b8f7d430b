report {corpus}/local/pipe.data --hierarchy -s comm,dso --percent-limit 10 -g none --json -q --symfs /nonexistent --kallsyms /dev/null
