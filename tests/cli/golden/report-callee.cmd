report {corpus}/local/pipe.data -g callee,5 --percent-limit 2 --symfs /nonexistent --kallsyms /dev/null
