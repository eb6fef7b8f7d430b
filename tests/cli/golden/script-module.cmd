script -i {corpus}/google+perf_data_converter/src/quipper/testdata/perf.data.callgraph-3.8 -F comm,tid,time,ip,dso -d '[ath9k]' --max-stack 3 --symfs /nonexistent --kallsyms /dev/null
