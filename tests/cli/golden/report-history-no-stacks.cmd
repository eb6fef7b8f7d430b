report --branch-history {corpus}/local/clockid.data
