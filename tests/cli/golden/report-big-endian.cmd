report -i {corpus}/derived/be/google.perf.data.singleprocess-3.8.be --symfs /nonexistent --kallsyms /dev/null
