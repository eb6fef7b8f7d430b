report -g none -s cgroup_id {corpus}/local/regs.data --symfs /nonexistent --kallsyms /dev/null
