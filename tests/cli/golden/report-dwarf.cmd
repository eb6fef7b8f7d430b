report -i {corpus}/GrapheneOS+platform_system_extras/simpleperf/testdata/perf_display_bitmaps.data -f -s comm -g none --symfs /nonexistent --kallsyms /dev/null
