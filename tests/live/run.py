#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs the live tests: recordings of this machine's kernel, with perf as a second opinion.

usage: run.py DEV-BUILD RELEASE-BUILD [NAME ...]

Each function test_* of the modules test_*.py beside this file is one test; NAME selects by
substring. Prints `ok NAME`, `FAIL NAME reason` or `skip NAME reason`; exit status 1 on failure.
"""
import glob
import importlib.util
import os
import sys
import traceback

from lab import Lab, Skip


def modules():
    here = os.path.dirname(os.path.abspath(__file__))
    for path in sorted(glob.glob(here + '/test_*.py')):
        spec = importlib.util.spec_from_file_location(os.path.basename(path)[:-3], path)
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        yield module


def run_one(name, function, dev, release):
    """Returns whether the test did not fail."""
    try:
        with Lab(dev, release) as lab:
            function(lab)
        print('ok', name, flush=True)
    except Skip as reason:
        print('skip', name, reason, flush=True)
    except Exception as reason:  # a test that dies is a failed test, and the next one's turn
        where = traceback.extract_tb(reason.__traceback__)[-1]
        print('FAIL', name, f'{os.path.basename(where.filename)}:{where.lineno}', where.line,
              f'{type(reason).__name__} {reason}'.replace('\n', '\n    '), flush=True)
        return False
    return True


def main():
    dev, release, wanted = sys.argv[1], sys.argv[2], sys.argv[3:]
    fine = True
    for module in modules():
        for name, function in vars(module).items():
            if not name.startswith('test_') or not callable(function):
                continue
            title = f'{module.__name__[5:]}: {name[5:]}'
            if not wanted or any(word in title for word in wanted):
                fine &= run_one(title, function, dev, release)
    return 0 if fine else 1


sys.exit(main())
