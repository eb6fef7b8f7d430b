script -i {corpus}/local/regs.data -F comm,brstack
