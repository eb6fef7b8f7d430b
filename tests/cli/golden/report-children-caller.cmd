report -i {corpus}/local/zstd.data --children -g caller,2 --percent-limit 5 --symfs /nonexistent --kallsyms /dev/null
