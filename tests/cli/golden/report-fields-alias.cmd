report -i {corpus}/local/multi-data.data -F sym,retire_lat
