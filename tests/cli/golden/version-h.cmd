version -h
