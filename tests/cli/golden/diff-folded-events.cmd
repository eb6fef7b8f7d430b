diff --folded {corpus}/local/multi-data.data {corpus}/local/regs.data --symfs /nonexistent --kallsyms /dev/null
