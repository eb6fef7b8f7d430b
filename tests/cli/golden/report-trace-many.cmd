report -s 'trace_fields,trace_fields/raw,sched_switch.*' --percent-limit 1.5 {corpus}/local/sched.data --symfs /nonexistent --kallsyms /dev/null
