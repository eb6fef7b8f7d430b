script -i {corpus}/google+perf_data_converter/src/quipper/testdata/perf.data.callgraph_and_branch-3.4 -F comm,pid,ip,dso,dsoff -G -d /tmp/perf-1748.map --symfs /nonexistent --kallsyms /dev/null
