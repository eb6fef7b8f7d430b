report -i {corpus}/local/sched.data -U --symbol-filter=schedule --no-call-graph --symfs /nonexistent --kallsyms /dev/null
