diff --folded {corpus}/local/zstd.data {corpus}/local/dirz.data --comms xz --symfs /nonexistent --kallsyms /dev/null
