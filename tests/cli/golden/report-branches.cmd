report -b -n --percent-limit 1.5 {corpus}/google+perf_data_converter/src/quipper/testdata/perf.data.branch-4.14 --symfs /nonexistent --kallsyms /dev/null
