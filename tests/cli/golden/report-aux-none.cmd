report --aux -i {corpus}/google+autofdo/testdata/perf-kernel.data
