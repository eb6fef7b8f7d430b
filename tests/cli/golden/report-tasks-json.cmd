report {corpus}/local/stat.data --mmaps --json
