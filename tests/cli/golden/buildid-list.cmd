buildid-list {corpus}/local/stat-s.data
