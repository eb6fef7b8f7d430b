report -i {corpus}/no/such/file
