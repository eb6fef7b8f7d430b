evlist -i {corpus}/local/group-read.data
