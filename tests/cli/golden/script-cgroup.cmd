script -i {corpus}/local/switch-ns-cg.data -F comm,tid,time,ip,dso,cgroup --time 3055.379,3055.380 --symfs /nonexistent --kallsyms /dev/null
