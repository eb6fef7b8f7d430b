report --time-quantum 5 {corpus}/local/clockid.data
