report --latency -s parallelism -g none -i {corpus}/local/switch-ns-cg.data
