report --aux -i {aux}/sample.data
