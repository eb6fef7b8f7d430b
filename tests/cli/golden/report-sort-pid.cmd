report {corpus}/google+perf_data_converter/src/quipper/testdata/perf.data.systemwide.0-3.4 -s pid -g none --symfs /nonexistent --kallsyms /dev/null
