buildid-list -i {corpus}/local/pipe-z.data
