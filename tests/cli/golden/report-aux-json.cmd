report --aux --json -i {aux}/truncated.data
