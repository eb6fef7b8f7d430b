report --aux --json -i {aux}/ringtail-snapshot.data
