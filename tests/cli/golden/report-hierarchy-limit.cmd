report {corpus}/local/pipe.data --hierarchy -s comm,dso,sym --percent-limit 3 -g folded,3 -n --symfs /nonexistent --kallsyms /dev/null
