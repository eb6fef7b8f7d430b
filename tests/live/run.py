#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs the live tests: recordings of this machine's kernel, with perf as a second opinion.

usage: run.py DEV-BUILD RELEASE-BUILD [NAME ...] [-TITLE ...]

Each function test_* of the modules test_*.py beside this file is one test; NAME selects by
substring, `MODULE:` a module; -TITLE leaves out the test that results call so. Each CPU runs
one test at a time, LANES of them at most, because most tests wait more than they compute.
Prints `ok NAME`, `FAIL NAME reason` or `skip NAME reason`; exit status 1 on failure. The output of the programs of
each test that failed follows all results.
"""
import concurrent.futures
import glob
import importlib.util
import multiprocessing
import os
import signal
import sys
import tempfile
import traceback

from lab import PATIENCE, Lab, Skip, end_well

HERE = os.path.dirname(os.path.abspath(__file__))
LANES = 4  # more lanes make tests late rather than early
SECONDS = 30 * PATIENCE  # a test that takes longer hangs; less than what tests/run waits for a line


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


def run_one(title):
    """Runs one test. Returns its line of result, and the story of its programs if it failed."""
    lab, function = Lab(*sys.argv[1:3]), TESTS[title]
    try:
        signal.alarm(SECONDS)
        with lab:
            function(lab)
        return 'ok ' + title, None
    except Skip as reason:
        return f'skip {title} {reason}', None
    except Exception as reason:  # a test that dies is a failed test, and the next one's turn
        line = [f.line for f in traceback.extract_tb(reason.__traceback__) if f.filename.startswith(HERE)][-1]
        text = f'{type(reason).__name__} {reason}'.replace('\n', '\n    ')
        return f'FAIL {title} {places(reason)} {line} {text}', lab.story
    finally:
        signal.alarm(0)


def tell(stories):
    """Prints lines with a leading space, so that none is taken for a result."""
    for name, story in stories:
        print(f'  == {name}: what its programs said', *story, sep='\n    ', flush=True)


def selects(word, title):
    return title.startswith(word) if word.endswith(':') else word in title


def tests(wanted):
    """Returns {title: function} of the tests that are wanted."""
    without = {word[1:] for word in wanted if word.startswith('-')}
    wanted = [word for word in wanted if not word.startswith('-')]
    found = {}
    for module in modules():
        for name, function in vars(module).items():
            title = f'{module.__name__[5:]}: {name[5:]}'
            if name.startswith('test_') and callable(function) and title not in without and (
                    not wanted or any(selects(word, title) for word in wanted)):
                found[title] = function
    return found


def prepare_lane():
    """Sets the signals of a process that runs tests."""
    signal.signal(signal.SIGALRM, on_alarm)
    signal.signal(signal.SIGINT, signal.default_int_handler)  # a script's background ignores it
    end_well()


def run_all():
    """Runs TESTS, in their order. Returns the stories of those that failed."""
    stories = []
    lanes = max(1, min(LANES, len(os.sched_getaffinity(0)), len(TESTS)))
    with concurrent.futures.ProcessPoolExecutor(lanes, multiprocessing.get_context('fork'), prepare_lane) as pool:
        results = {pool.submit(run_one, title): title for title in TESTS}
        for result in concurrent.futures.as_completed(results):
            line, story = result.result()
            print(line, flush=True)
            if story is not None:
                stories.append((results[result], story))
    return stories


def main():
    if not TESTS:
        print('FAIL no test has such a name:', *sys.argv[3:])
        return 1
    prepare_lane()
    with tempfile.TemporaryDirectory(prefix='ringtail-run-') as runtime:
        # Who is not logged in has none, and recorders take no commands; and for root's, which are side by side in /run,
        # commands come from whoever runs the same tests meanwhile.
        os.environ['XDG_RUNTIME_DIR'] = runtime
        stories = run_all()
    tell(stories)
    return 1 if stories else 0


if __name__ == '__main__':
    TESTS = tests(sys.argv[3:])
    sys.exit(main())
