script -i {corpus}/GrapheneOS+platform_system_extras/simpleperf/testdata/perf_with_trace_offcpu_v2.data -G --time ,676374.9545 --symfs /nonexistent --kallsyms /dev/null
