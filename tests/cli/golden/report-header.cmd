report -i {corpus}/local/group-read.data --header-only -I
