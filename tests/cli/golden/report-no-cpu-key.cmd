report -i {corpus}/google+perf_data_converter/src/quipper/testdata/perf.data.lost_samples-4.4 --sort comm,cpu
