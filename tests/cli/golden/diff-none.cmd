diff {corpus}/local/dir.data {corpus}/local/dirz.data -s comm,dso --symfs /nonexistent --kallsyms /dev/null
