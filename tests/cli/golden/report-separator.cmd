report -i {corpus}/local/sched.data -c xz,gzip -s +cpu -t : -n --show-total-period --percentage relative --symfs /nonexistent --kallsyms /dev/null
