report -s weight,ins_lat,p_stage_cyc,symbol_daddr,dso_daddr -n {corpus}/google+perf_data_converter/src/quipper/testdata/perf.data.weight_struct --symfs /nonexistent --kallsyms /dev/null
