report --srot comm,dso {corpus}/local/clockid.data
