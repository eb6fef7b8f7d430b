script flamegraph
