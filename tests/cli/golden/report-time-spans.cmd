report --time '3068.8,3068.9 3068.9,3069 3069.2,' -n -s comm {corpus}/local/clockid.data --symfs /nonexistent --kallsyms /dev/null -g none
