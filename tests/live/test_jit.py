# SPDX-License-Identifier: Apache-2.0
"""Code of a JIT, named by its jitdump."""
import json
import os

from lab import Skip


def functions(lab, *options):
    """Records the JIT; returns the samples of each function that it made."""
    lab.run('record', '-q', *options, '-e', 'cpu-clock:u', '-F', '400', '--', lab.program('jit'), lab.path('.'),
            release=True)
    table, = json.loads(lab.run('report', '--json', '-g', 'none', '-s', 'dso,sym').stdout)['tables']
    return {row['sym'].removeprefix('[.] '): row['samples'] for row in table['rows'] if row['dso'].endswith('.dump')}


def test_functions_at_one_address(lab):
    """With the clock of the jitdump, each sample has the function of its time; without it, the newest."""
    if os.uname().machine not in ('x86_64', 'aarch64'):
        raise Skip(f'the JIT makes no code for {os.uname().machine}')
    found = functions(lab, '-k', 'mono')
    assert set(found) == {'first', 'second'}, found
    assert 0.2 < found['first'] / found['second'] < 5, found
    found = functions(lab)
    assert set(found) == {'second'}, found
