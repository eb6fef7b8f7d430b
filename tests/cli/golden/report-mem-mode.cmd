report --mem-mode {corpus}/google+perf_data_converter/src/quipper/testdata/perf.data.weight_struct --symfs /nonexistent --kallsyms /dev/null
