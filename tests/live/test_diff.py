# SPDX-License-Identifier: Apache-2.0
"""Recordings of two builds of a program, compared."""
import json
import os
import shutil

ROUNDS = 6000
# So that a test fails by chance once in a million runs, if only sampling differs.
CERTAIN = '99.9999'


def record(lab, data, program):
    """Records a build under the name `app`, each in a folder of its own."""
    folder = lab.path(os.path.splitext(data)[0])
    os.mkdir(folder)
    shutil.copy(lab.program(program), folder + '/app')
    lab.run('record', '-q', '-o', data, '-e', 'cpu-clock:u', '-F', '4000', '-g', '--', folder + '/app', str(ROUNDS),
            release=True)


def compare(lab, *args):
    table, = json.loads(lab.run('diff', '--json', '-d', 'app', *args).stdout)['tables']
    return table, {row['sym'].removeprefix('[.] '): row for row in table['rows']}


def test_slower_function(lab):
    """The function that became slower is marked, and its callers' other work is not called slower; the same build
    twice has no mark. Shares are those of the reports, and rows those of perf diff."""
    for data, program in ('a.data', 'variants'), ('b.data', 'variants'), ('c.data', 'variants-slower'):
        record(lab, data, program)
    table, rows = compare(lab, 'a.data', 'c.data', '--confidence', CERTAIN)
    change, = rows['middle']['changes']
    assert change['changed'] and 10 < change['delta'] and change['p_corrected'] < 1e-6, rows
    assert all(rows[name]['changes'][0]['delta'] < 0 for name in ('first', 'last')), rows
    assert table['rows'][0] is rows['middle'], 'the largest change comes first'
    table, rows = compare(lab, 'a.data', 'b.data', '--confidence', CERTAIN)
    assert table['verdicts'][0]['changed'] == 0, rows
    assert table['verdicts'][0]['tested'] >= 3, table
    text = lab.run('diff', 'a.data', 'b.data', '--confidence', CERTAIN).stdout
    assert '# No change beyond sampling error' in text, text
    for data, index in ('a.data', 0), ('b.data', 1):
        report, = json.loads(lab.run('report', '--json', '-g', 'none', '-s', 'dso,sym', '-d', 'app', data).stdout)['tables']
        for row in report['rows']:
            share = rows[row['sym'].removeprefix('[.] ')]['recordings'][index]
            assert share == {key: row[key] for key in ('percent', 'period', 'samples')}, (share, row)


def test_folded_difference(lab):
    """The stacks of two recordings have all their samples, and begin at the same callers."""
    record(lab, 'a.data', 'variants')
    record(lab, 'c.data', 'variants-slower')
    stacks = {}
    for line in lab.run('diff', '--folded', 'a.data', 'c.data').stdout.splitlines():
        stack, before, after = line.rsplit(' ', 2)
        stacks[stack] = int(before), int(after)
    assert list(stacks) == sorted(stacks), stacks
    for index, data in enumerate(('a.data', 'c.data')):
        table, = json.loads(lab.run('report', '--json', data).stdout)['tables']
        assert sum(counts[index] for counts in stacks.values()) == table['samples']
    ends = {name: [stack for stack in stacks if stack.endswith(';' + name)] for name in ('first', 'middle', 'last')}
    assert all(ends.values()), stacks
    assert all(stack.startswith('app;') for found in ends.values() for stack in found), ends


def test_names_left_out(lab):
    """As perf, diff takes perf.data.old and perf.data."""
    for _ in range(2):
        lab.run('record', '-q', '-e', 'cpu-clock:u', '-F', '4000', '--', lab.program('variants'), '1000', release=True)
    text = lab.run('diff').stdout
    assert text.startswith('# Before: perf.data.old\n# After: perf.data\n'), text
    shutil.copy(lab.path('perf.data'), lab.path('newer'))
    assert lab.run('diff', 'newer').stdout.startswith('# Before: perf.data.old\n# After: newer\n')
