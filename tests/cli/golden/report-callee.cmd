report {corpus}/local/pipe.data --percent-limit 2 -g callee,5 --symfs /nonexistent --kallsyms /dev/null
