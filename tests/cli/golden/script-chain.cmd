script -i {corpus}/google+perf_data_converter/src/quipper/testdata/perf.data.callgraph_and_branch-3.4 --time 2489.2727,2489.2738 --max-stack 3 --symfs /nonexistent --kallsyms /dev/null
