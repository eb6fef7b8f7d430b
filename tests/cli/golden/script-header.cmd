script -i {corpus}/local/sched.data --header --reltime -c sh -F comm,time,event --symfs /nonexistent --kallsyms /dev/null
