report --branch-history --hierarchy -s comm,sym,callchain_branch_abort {branches}/chains.data
