report {corpus}/local/pipe.data -g none -n -s comm,dso --symfs /nonexistent --kallsyms /dev/null
