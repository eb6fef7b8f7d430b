report --branch-history --json -s comm,callchain_branch_predicted,callchain_branch_cycles {branches}/chains.data
