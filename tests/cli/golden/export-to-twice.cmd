export --to folded --to frob -i {corpus}/local/clockid.data
