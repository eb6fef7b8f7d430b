aux extract -i {aux}/snapshot.data -o {tmp}/out
