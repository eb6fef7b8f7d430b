report -s comm,op {corpus}/local/clockid.data
