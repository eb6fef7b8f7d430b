diff {corpus}/local/dir.data {corpus}/local/dirz.data --comms nobody --symfs /nonexistent --kallsyms /dev/null
