script -i {corpus}/local/regs.data -F -period,+pid,+dsoff,+misc --ns --symfs /nonexistent --kallsyms /dev/null
