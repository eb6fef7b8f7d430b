report --time 10%/11 {corpus}/local/clockid.data
