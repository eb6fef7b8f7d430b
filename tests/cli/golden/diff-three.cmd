diff {corpus}/local/dir.data {corpus}/local/clockid.data {corpus}/local/regs.data -s comm -c delta -o 2 -p --rate --symfs /nonexistent --kallsyms /dev/null
