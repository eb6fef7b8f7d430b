report {corpus}/local/pipe.data -g graph,3,callee,period -s dso --symfs /nonexistent --kallsyms /dev/null
