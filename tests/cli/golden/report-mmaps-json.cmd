report {corpus}/local/regs.data --mmaps --json
