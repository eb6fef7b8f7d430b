report -i {corpus}/local/multi-data.data --symfs /nonexistent --kallsyms /dev/null -F overhead_us,overhead_sys,dso,sample,period
