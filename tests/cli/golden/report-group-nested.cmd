report -i {corpus}/local/multi-data.data --symfs /nonexistent --kallsyms /dev/null --group -q -s dso --hierarchy -t ,
