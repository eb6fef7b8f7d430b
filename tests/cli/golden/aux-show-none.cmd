aux show {corpus}/google+autofdo/testdata/perf-kernel.data
