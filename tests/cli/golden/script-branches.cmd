script -i {corpus}/google+perf_data_converter/src/quipper/testdata/perf.data.branch-4.14 -F comm,ip,brstack --symfs /nonexistent --kallsyms /dev/null
