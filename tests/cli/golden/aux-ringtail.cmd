aux extract -i {aux}/ringtail-snapshot.data -o {tmp}
