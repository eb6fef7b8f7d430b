report {corpus}/local/pipe.data -g fractal,5,2 --percent-limit 5 -s comm --symfs /nonexistent --kallsyms /dev/null
