report --json -s pid,prev_pid,runtime,target_cpu {corpus}/local/schedrec.data --symfs /nonexistent --kallsyms /dev/null
