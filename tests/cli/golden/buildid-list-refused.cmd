buildid-list -m
