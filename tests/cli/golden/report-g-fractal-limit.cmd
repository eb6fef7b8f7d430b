report {corpus}/local/pipe.data -g fractal,8,2 -s comm --symfs /nonexistent --kallsyms /dev/null -q --children
