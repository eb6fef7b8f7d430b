report {corpus}/local/pipe.data -g graph,0.5,caller --percent-limit 10 -s comm --symfs /nonexistent --kallsyms /dev/null
