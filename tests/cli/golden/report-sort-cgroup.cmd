report -s cgroup,socket,comm -g none -n {corpus}/local/switch-ns-cg.data --symfs /nonexistent --kallsyms /dev/null
