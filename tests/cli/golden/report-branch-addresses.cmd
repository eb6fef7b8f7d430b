report -s addr_from,addr_to -n {corpus}/google+perf_data_converter/src/quipper/testdata/perf.data.branch-4.14 --symfs /nonexistent --kallsyms /dev/null
