script -i {corpus}/local/sched.data -c gzip -C 1 --deltatime --ns -F comm,time,event --symfs /nonexistent --kallsyms /dev/null
