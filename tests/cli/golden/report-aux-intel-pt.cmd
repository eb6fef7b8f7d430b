report --aux -i {corpus}/google+perf_data_converter/src/quipper/testdata/perf.data.intel_pt-4.14
