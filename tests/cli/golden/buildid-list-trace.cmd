buildid-list -H {corpus}/GrapheneOS+platform_system_extras/simpleperf/testdata/etm/perf_etm.data
