buildid-list -H {corpus}/local/stat-s.data
