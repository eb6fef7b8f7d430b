report {corpus}/google+perf_data_converter/src/quipper/testdata/perf.data.callgraph-3.8 --children -g caller --max-stack 2 -s sym --percent-limit 6 --symfs /nonexistent --kallsyms /dev/null
