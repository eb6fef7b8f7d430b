aux extract -i {aux}/truncated.data -o {tmp}/out
