report --header-only -I -i {aux}/full.data
