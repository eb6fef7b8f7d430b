report -b --branch-history {branches}/chains.data
