report --aux -i {aux}/truncated.data
