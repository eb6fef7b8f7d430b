#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs the live tests: recordings of this machine's kernel, with perf as a second opinion.

usage: run.py DEV-BUILD RELEASE-BUILD [NAME ...]

Each function test_* of the modules test_*.py beside this file is one test; NAME selects by
substring. Prints `ok NAME`, `FAIL NAME reason` or `skip NAME reason`; exit status 1 on failure. Behind all
of them comes what the programs of each test that failed have said.
"""
import glob
import importlib.util
import os
import signal
import sys
import tempfile
import traceback

from lab import Lab, Skip, end_well

HERE = os.path.dirname(os.path.abspath(__file__))
SECONDS = 1800  # a test that takes longer hangs; less than what tests/run waits for a line


def modules():
    for path in sorted(glob.glob(HERE + '/test_*.py')):
        spec = importlib.util.spec_from_file_location(os.path.basename(path)[:-3], path)
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        yield module


def on_alarm(*_):
    raise AssertionError(f'no end within {SECONDS} s')


def places(failure):
    """Returns the lines of a failure: from the test's own line to the innermost one in these files."""
    frames = [f for f in traceback.extract_tb(failure.__traceback__) if f.filename.startswith(HERE)][1:]
    return ' < '.join(f'{os.path.basename(f.filename)}:{f.lineno}' for f in reversed(frames))


def run_one(name, function, dev, release, stories):
    """Runs one test. Returns False if it failed."""
    lab = Lab(dev, release)
    try:
        signal.alarm(SECONDS)
        with lab:
            function(lab)
        print('ok', name, flush=True)
    except Skip as reason:
        print('skip', name, reason, flush=True)
    except Exception as reason:  # a test that dies is a failed test, and the next one's turn
        line = [f.line for f in traceback.extract_tb(reason.__traceback__) if f.filename.startswith(HERE)][-1]
        print('FAIL', name, places(reason), line,
              f'{type(reason).__name__} {reason}'.replace('\n', '\n    '), flush=True)
        stories.append((name, lab.story))
        return False
    finally:
        signal.alarm(0)
    return True


def tell(stories):
    """Prints lines with a leading space, so that none is taken for a result."""
    for name, story in stories:
        print(f'  == {name}: what its programs said', *story, sep='\n    ', flush=True)


def run_all(dev, release, wanted, stories):
    for module in modules():
        for name, function in vars(module).items():
            if not name.startswith('test_') or not callable(function):
                continue
            title = f'{module.__name__[5:]}: {name[5:]}'
            if not wanted or any(word in title for word in wanted):
                run_one(title, function, dev, release, stories)


def main():
    dev, release, wanted = sys.argv[1], sys.argv[2], sys.argv[3:]
    stories = []
    signal.signal(signal.SIGALRM, on_alarm)
    signal.signal(signal.SIGINT, signal.default_int_handler)  # a script's background ignores it
    end_well()
    with tempfile.TemporaryDirectory(prefix='ringtail-run-') as runtime:
        # Who is not logged in has none, and recorders take no commands; and for root's, which are side by side in /run,
        # commands come from whoever runs the same tests meanwhile.
        os.environ['XDG_RUNTIME_DIR'] = runtime
        run_all(dev, release, wanted, stories)
    tell(stories)
    return 1 if stories else 0


sys.exit(main())
