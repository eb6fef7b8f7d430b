report -b {corpus}/local/clockid.data
