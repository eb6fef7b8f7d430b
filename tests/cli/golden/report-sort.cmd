report -i {corpus}/local/group-read.data --sort pid,tid,event --symfs /nonexistent --kallsyms /dev/null
