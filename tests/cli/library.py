#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares what the shared library exports with its header, its version map and its manual page, and runs the examples.

usage: library.py BUILD

Prints `ok NAME`, `skip NAME reason` or `FAIL NAME reason`; exit status 1 on failure.
"""
import os
import re
import subprocess
import sys
import tempfile

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


class Skip(Exception):
    """A test that cannot run here; its text says why."""


def read(path):
    with open(os.path.join(TOP, path), encoding='utf-8') as f:
        return f.read()


def output(*argv, **keys):
    run = subprocess.run(argv, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False, timeout=300,
                         **keys)
    assert run.returncode == 0, f'{" ".join(argv)}: status {run.returncode}: {run.stdout[-1500:]}'
    return run.stdout


def declared():
    """Returns the functions that the header declares."""
    return sorted(re.findall(r'^RINGTAIL_API [^;]*?\b(ringtail_\w+)\(', read('include/ringtail/ringtail.h'), re.M))


def test_exports_are_those_of_the_map(build):
    library = f'{build}/src/libringtail.so'
    lines = [line.split() for line in output('nm', '-D', '--defined-only', library).splitlines()]
    exported = sorted(words[2] for words in lines if words[1] != 'A')
    mapped = sorted(f'{name}@@RINGTAIL_0' for name in re.findall(r'^\t(ringtail_\w+);', read('src/api/ringtail.map'), re.M))
    assert exported == mapped, set(exported) ^ set(mapped)
    assert [name.split('@')[0] for name in mapped] == declared(), 'the header declares others'


def test_soname(build):
    assert re.search(r'SONAME.*\[libringtail\.so\.0\]', output('readelf', '-d', f'{build}/src/libringtail.so'))


def test_header_stands_alone(build):
    """The header compiles in C of any standard and in C++, with the warnings that users may enable."""
    source = '#include <ringtail/ringtail.h>\nint main(void) { return !*ringtail_version(); }\n'
    for compiler in ['cc', '-std=c99', '-xc'], ['c++', '-std=c++11', '-xc++']:
        output(*compiler, '-Wall', '-Wextra', '-Wpedantic', '-Werror', '-fsyntax-only', f'-I{TOP}/include', '-',
               input=source)


def test_page_describes_each_function(_):
    page = sorted(set(re.findall(r'\*(ringtail_\w+)\*\(', read('man/ringtail.3.scd'))))
    assert page == declared(), set(page) ^ set(declared())


def test_example_top_symbols(build):
    """The example agrees with `ringtail script` on a recording whose own records have the symbols."""
    data = f'{TOP}/tests/data/corpus/local/sched.data'
    lines = output(f'{build}/examples/top-symbols', data).splitlines()
    samples = output(f'{build}/src/cli/ringtail', 'script', '-f', '-F', 'comm', '-i', data).count('\n')
    counts = [int(line.split()[0]) for line in lines[1:]]
    assert lines[0] == f'{samples} samples' and counts and len(counts) <= 10, lines
    assert counts == sorted(counts, reverse=True) and sum(counts) <= samples, lines


def test_example_flight_recorder(build):
    with tempfile.TemporaryDirectory(prefix='ringtail-library-') as folder:
        run = subprocess.run([f'{build}/examples/flight-recorder', f'{folder}/f.data'], text=True, timeout=300,
                             stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
        if re.search('perf_event_paranoid|may not|not supported', run.stdout) and run.returncode == 1:
            raise Skip(run.stdout.strip())
        assert run.returncode == 0, run.stdout
        assert re.fullmatch(r'1 snapshots, [1-9][0-9]* samples\n', run.stdout), run.stdout
        top = output(f'{build}/examples/top-symbols', f'{folder}/f.data')
        assert top.startswith(run.stdout.split(', ')[1]) and 'serve_request' in top, run.stdout + top
        header = output(f'{build}/src/cli/ringtail', 'report', '--header-only', '-i', f'{folder}/f.data')
        assert 'request 4 took' in header, header


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    failed = 0
    for name, function in list(globals().items()):
        if not name.startswith('test_'):
            continue
        try:
            function(sys.argv[1])
            print('ok', name[len('test_'):], flush=True)
        except Skip as reason:
            print('skip', name[len('test_'):], reason, flush=True)
        except (AssertionError, OSError, subprocess.TimeoutExpired) as reason:
            failed = 1
            print('FAIL', name[len('test_'):], reason, flush=True)
    return failed


sys.exit(main())
