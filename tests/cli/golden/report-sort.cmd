report -i {corpus}/local/group-read.data --sort pid,tid,cpu,event --symfs /nonexistent --kallsyms /dev/null
