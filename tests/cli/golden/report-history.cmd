report --branch-history {branches}/chains.data
