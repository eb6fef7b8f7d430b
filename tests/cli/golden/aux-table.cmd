aux table {aux}/ringtail-snapshot.data
