evlist -g {corpus}/local/group-read.data
