script -F comm,tiem {corpus}/local/clockid.data
