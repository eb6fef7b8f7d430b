evlist --json {corpus}/local/schedrec.data
