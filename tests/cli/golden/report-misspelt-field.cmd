report --fields overhed,comm {corpus}/local/clockid.data
