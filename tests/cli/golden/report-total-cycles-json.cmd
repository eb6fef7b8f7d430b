report -f -i {corpus}/google+perf_data_converter/src/quipper/testdata/perf.data.branch-4.14 --total-cycles --json --percent-limit 1
