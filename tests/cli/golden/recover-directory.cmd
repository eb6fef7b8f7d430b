recover -n {corpus}/local/dirz.data
