aux show --cpu 3 {aux}/ringtail-snapshot.data
