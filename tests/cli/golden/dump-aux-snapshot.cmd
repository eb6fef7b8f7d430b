dump -i {aux}/snapshot.data
