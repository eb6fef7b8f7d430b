aux extract -i {aux}/full.data -o {tmp}/out
