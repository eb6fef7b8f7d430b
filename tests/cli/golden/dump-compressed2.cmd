dump -i {corpus}/mstange+linux-perf-data/tests/fixtures/sleep.compressed2.data
