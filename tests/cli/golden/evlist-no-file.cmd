evlist {corpus}/nothing
