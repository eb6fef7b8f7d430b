report {corpus}/local/pipe.data -g folded -s comm --percent-limit 1 --symfs /nonexistent --kallsyms /dev/null
