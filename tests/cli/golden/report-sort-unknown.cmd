report -s socket,frob {corpus}/local/clockid.data
