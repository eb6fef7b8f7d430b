diff {corpus}/local/dir.data {corpus}/local/clockid.data -q --changed -c ratio -s comm --confidence 99.9 --symfs /nonexistent --kallsyms /dev/null
