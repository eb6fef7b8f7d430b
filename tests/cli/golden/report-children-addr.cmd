report --children -s sym,addr {corpus}/local/clockid.data
