report --json --group -s pid,prev_pid,runtime,target_cpu --percent-limit 10 {corpus}/local/schedrec.data --symfs /nonexistent --kallsyms /dev/null
