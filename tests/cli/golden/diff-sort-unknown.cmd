diff -s trace_fields {corpus}/local/sched.data {corpus}/local/sched.data
