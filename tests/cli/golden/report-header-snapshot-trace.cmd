report --header-only -i {aux}/ringtail-snapshot.data
