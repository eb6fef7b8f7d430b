report --aux -i {aux}/full.data
