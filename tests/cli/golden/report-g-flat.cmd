report {corpus}/local/pipe.data -g flat
