report {corpus}/local/pipe.data -g flat,4,caller,count -s comm --symfs /nonexistent --kallsyms /dev/null -q
