script -i {corpus}/local/group-read.data -F comm,tid,time,period,event,ip --symfs /nonexistent --kallsyms /dev/null
