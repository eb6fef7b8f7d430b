dump -i {corpus}/local/stat.data --pid 1330
