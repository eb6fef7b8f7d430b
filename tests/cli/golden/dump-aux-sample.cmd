dump -i {aux}/sample.data
