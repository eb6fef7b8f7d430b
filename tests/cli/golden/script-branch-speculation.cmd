script -i {corpus}/google+perf_data_converter/src/quipper/testdata/perf.data.branch_stack_spec -F tid,brstack --symfs /nonexistent --kallsyms /dev/null
