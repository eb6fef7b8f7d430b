report --time 10%/2,50%-60% -n -s comm {corpus}/local/clockid.data --symfs /nonexistent --kallsyms /dev/null -g none
