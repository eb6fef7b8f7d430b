dump {corpus}/local/stat.data
