report -s sym,callchain_branch_cycles {branches}/chains.data
