report --aux -i {aux}/snapshot.data
