diff {tmp}/absent {corpus}/local/dir.data
