report -i {corpus}/local/multi-data.data -m --stdio-color never -s overhead,comm --symfs /nonexistent --kallsyms /dev/null
