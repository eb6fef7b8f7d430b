report -g none -s cgroup_id,comm -n {corpus}/local/switch-ns-cg.data --symfs /nonexistent --kallsyms /dev/null
