report --branch-history -g callee,0 {corpus}/google+perf_data_converter/src/quipper/testdata/perf.data.branch_stack_spec --symfs /nonexistent --kallsyms /dev/null
