recover -o {tmp}/r.data {corpus}/derived/trunc/piped.lost_samples.cut-mid
