report -i {corpus}/local/multi-data.data --symfs /nonexistent --kallsyms /dev/null -F +period,pid -s dso -n -t ,
