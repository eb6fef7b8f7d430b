report --aux -i {aux}/ringtail-snapshot.data
