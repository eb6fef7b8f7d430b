report {corpus}/local/pipe.data -g address,2,callee -s comm --symfs /nonexistent --kallsyms /dev/null -q
