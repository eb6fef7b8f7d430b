report -f -i {corpus}/GrapheneOS+platform_system_extras/simpleperf/testdata/lbr/perf_lbr.data -s dso,ipc_lbr --stdio
