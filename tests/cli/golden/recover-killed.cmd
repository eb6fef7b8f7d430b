recover -o {tmp}/r.data {corpus}/derived/trunc/callgraph-3.8.killed-size0
