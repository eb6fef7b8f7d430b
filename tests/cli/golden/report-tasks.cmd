report {corpus}/local/regs.data --tasks
