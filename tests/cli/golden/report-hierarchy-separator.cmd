report {corpus}/local/pipe.data --hierarchy -s pid,dso -t : -g none --symfs /nonexistent --kallsyms /dev/null
