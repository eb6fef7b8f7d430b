report {corpus}/local/pipe.data -g fractl,0.5
