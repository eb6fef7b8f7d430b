report -g caller,0,branch -s sym {branches}/chains.data
