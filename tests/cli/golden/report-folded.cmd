report {corpus}/local/pipe.data -g folded,3,callee,period -s comm -n --symfs /nonexistent --kallsyms /dev/null
