script -i {corpus}/google+perf_data_converter/src/quipper/testdata/perf.data.weight_struct -F comm,tid,time,data_src,weight,ip --symfs /nonexistent --kallsyms /dev/null
