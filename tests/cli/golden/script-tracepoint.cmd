script {corpus}/local/schedrec.data --symfs /nonexistent --kallsyms /dev/null
