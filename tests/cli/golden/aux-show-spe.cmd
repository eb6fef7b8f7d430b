aux show {aux}/spe.data
