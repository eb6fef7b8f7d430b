report {corpus}/local/pipe.data --hierarchy --fields sym
