dump -i {corpus}/local/group-read.data
