report {corpus}/local/pipe.data -g graph,3,caller,count -s comm --symfs /nonexistent --kallsyms /dev/null
