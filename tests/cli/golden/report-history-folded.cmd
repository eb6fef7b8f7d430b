report --branch-history -g folded,count -s comm {branches}/chains.data
