report -s tgid,comm_nodigit -g none -n {corpus}/local/switch-ns-cg.data --symfs /nonexistent --kallsyms /dev/null
