report -s comm,symbol_to --children {corpus}/google+perf_data_converter/src/quipper/testdata/perf.data.branch-4.14
