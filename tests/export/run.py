#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Exports recordings, whose every sample is known, and reads the exports with their own consumers.

usage: run.py RINGTAIL [NAME ...]     NAME selects tests by substring

It prints `ok NAME`, `FAIL NAME reason` or `skip NAME reason`. Consumers from npm are installed into build/export;
where that is not possible, their tests are skipped.
"""
import os
import sys
import tempfile

import lab
import test_chrome
import test_errors
import test_firefox
import test_folded
import test_otlp
import test_parquet
import test_perfetto
import test_pprof
import test_speedscope

SUITES = [test_folded, test_speedscope, test_pprof, test_otlp, test_chrome, test_perfetto, test_firefox, test_parquet,
          test_errors]


def main():
    ringtail, wanted, failed = os.path.abspath(sys.argv[1]), sys.argv[2:], 0
    with tempfile.TemporaryDirectory() as folder:
        bench = lab.Lab(ringtail, folder)
        for suite in SUITES:
            for name, test in vars(suite).items():
                name = f'{suite.__name__.removeprefix("test_")} {name.removeprefix("test_")}'
                if test.__class__.__name__ != 'function' or not test.__name__.startswith('test_') or (
                        wanted and not any(word in name for word in wanted)):
                    continue
                failed += not bench.try_test(name, test)
    return 1 if failed else 0


sys.exit(main())
