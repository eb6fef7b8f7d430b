report {corpus}/local/pipe.data -g 101,caller
