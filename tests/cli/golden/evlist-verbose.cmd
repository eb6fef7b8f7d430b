evlist -v {corpus}/local/regs.data
