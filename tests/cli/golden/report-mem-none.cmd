report --mem-mode {corpus}/local/regs.data
