report -i {corpus}/local/group-read.data -k /nope
