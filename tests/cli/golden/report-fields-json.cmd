report -i {corpus}/local/multi-data.data --symfs /nonexistent --kallsyms /dev/null -F sample,overhead_us -s dso -q --json
