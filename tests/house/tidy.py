#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs clang-tidy (.clang-tidy has its checks) over the files of src/ as a build compiles them.

usage: tidy.py BUILD [NAME ...]     NAME selects files by substring

It first checks a file with a fault, which clang-tidy must find. Prints `ok FILE`, or `FAIL FILE reason` with the first finding of
the file and the others behind it; exit status 1 on failure.
"""
import concurrent.futures
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
VERSION = 14  # others have other checks by the same patterns
FAULT = '#include <string.h>\n\nvoid clear(char *p, size_t n);\nvoid clear(char *p, size_t n)\n{\n\tmemset(p, n, 0);\n}\n'


def program():
    """Returns the name of a clang-tidy of the right version, or None."""
    for name in f'clang-tidy-{VERSION}', 'clang-tidy':
        if shutil.which(name):
            out = subprocess.run([name, '--version'], capture_output=True, text=True, check=True).stdout
            if re.search(rf'version {VERSION}\.', out):
                return name
    return None


def findings(argv):
    """Returns each line of clang-tidy that names a finding, once."""
    run = subprocess.run(argv, cwd=TOP, capture_output=True, text=True, check=False)
    found = re.findall(r'^.*: (?:warning|error): .*', run.stdout, re.M)
    found = list(dict.fromkeys(re.sub(r'^.*?((?:src|build)/)', r'\1', line) for line in found))
    return found or ([run.stderr.strip()[-300:]] if run.returncode else [])


def sources(build):
    """Returns the C files of src/ that the build compiles, relative to the top."""
    with open(os.path.join(TOP, build, 'compile_commands.json'), encoding='utf-8') as f:
        paths = {os.path.relpath(os.path.join(entry['directory'], entry['file']), TOP) for entry in json.load(f)}
    return sorted(path for path in paths if path.startswith('src/') and path.endswith('.c'))


def finds_the_fault(name):
    """Returns whether clang-tidy notices a memset() with its arguments swapped."""
    with tempfile.TemporaryDirectory(prefix='ringtail-tidy-') as folder:
        path = os.path.join(folder, 'fault.c')
        with open(path, 'w', encoding='ascii') as f:
            f.write(FAULT)
        return any('bugprone-suspicious-memset-usage' in line for line in findings(
            [name, f'--config-file={TOP}/.clang-tidy', '--quiet', path, '--']))


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    build, wanted, failed = sys.argv[1], sys.argv[2:], False
    name = program()
    if not name:
        print(f'skip clang-tidy {VERSION} is not installed (Debian 12 has it)')
        return 0
    if finds_the_fault(name):
        print('ok a fault is found')
    else:
        print('FAIL a fault is found: memset(p, n, 0) passes')
        failed = True
    paths = [path for path in sources(build) if not wanted or any(word in path for word in wanted)]
    with concurrent.futures.ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
        for path, found in zip(paths, pool.map(lambda path: findings([name, '-p', build, '--quiet', path]), paths)):
            print(f'FAIL {path} ' + '\n  '.join(found) if found else f'ok {path}', flush=True)
            failed |= bool(found)
    return 1 if failed else 0


sys.exit(main())
