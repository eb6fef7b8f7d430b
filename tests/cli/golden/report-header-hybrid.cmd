report -i {corpus}/google+perf_data_converter/src/quipper/testdata/perf.data.hybrid_topology --header-only -I
