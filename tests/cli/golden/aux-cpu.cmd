aux extract -o {tmp} --cpu 1,3 {aux}/full.data
