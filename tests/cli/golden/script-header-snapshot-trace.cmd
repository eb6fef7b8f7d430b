script --header -i {aux}/ringtail-snapshot.data
