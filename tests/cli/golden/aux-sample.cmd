aux extract -i {aux}/sample.data -o {tmp}/out
