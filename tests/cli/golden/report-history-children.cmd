report --branch-history --children -s sym {branches}/chains.data
