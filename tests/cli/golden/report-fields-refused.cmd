report -F overhead,op {corpus}/local/clockid.data
