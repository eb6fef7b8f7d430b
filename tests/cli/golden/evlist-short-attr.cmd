evlist -v {corpus}/google+perf_data_converter/src/quipper/testdata/perf.data.piped.target-3.4
