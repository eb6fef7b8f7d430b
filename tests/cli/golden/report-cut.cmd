report -i {corpus}/derived/trunc/piped.lost_samples.cut-mid -s comm --symfs /nonexistent --kallsyms /dev/null
