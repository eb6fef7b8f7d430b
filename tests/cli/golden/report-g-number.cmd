report {corpus}/local/pipe.data -g 5 -s comm -q --symfs /nonexistent --kallsyms /dev/null
