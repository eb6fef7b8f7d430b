diff {corpus}/local/dir.data
