report {corpus}/local/pipe.data --percent-limit 10 -g graph,0.5,caller -s comm -q --symfs /nonexistent --kallsyms /dev/null
