report --branch-history -t, {branches}/chains.data
