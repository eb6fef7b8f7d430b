report -i {corpus}/local/multi-data.data -F sym,weight1
