report -b --children {corpus}/google+perf_data_converter/src/quipper/testdata/perf.data.branch-4.14
