report --time 08:37:45.73,08:37:45.74 -n -s comm {corpus}/local/clockid.data --symfs /nonexistent --kallsyms /dev/null -g none
