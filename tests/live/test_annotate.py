# SPDX-License-Identifier: Apache-2.0
"""Annotated code: known loops are hot, and each instruction has the share that perf gives it."""
import json
import os
import re
import shutil
import subprocess

from lab import Skip, scaled

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


def listings(text, heading):
    """[{address: share}] of the instructions with samples, for each function."""
    found = []
    for line in text.splitlines():
        if re.search(heading, line):
            found.append({})
        m = re.match(r' +([0-9.]+) +: +([0-9a-f]+): ', line)
        if m and float(m.group(1)):
            found[-1][int(m.group(2), 16)] = m.group(1)
    return [f for f in found if f]


def compare(lab, data, *options):
    if not shutil.which('objdump'):
        raise Skip('no objdump (package binutils), which perf runs')
    ours = listings(lab.run('annotate', '-i', data, '--percent-limit', '0', *options).stdout, r'[0-9a-f]{16} <.*>:$')
    theirs = listings(lab.perf('annotate', '--stdio', '-i', data, *options, quiet=False).stdout, r'Source code & Disass')
    assert ours, lab.last.stderr
    # Functions of equal weight come in any order.
    ours.sort(key=str)
    theirs.sort(key=str)
    assert ours == theirs, [pair for pair in zip(ours, theirs) if pair[0] != pair[1]][:2]


def test_shares_as_perf(lab):
    lab.run('record', '-e', 'cpu-clock:u', '-F', '5000', '-o', 'a.data', '--', lab.workload, scaled(40))
    compare(lab, 'a.data', '-d', 'workload')


def test_shares_with_call_chains(lab):
    lab.run('record', '-g', '-e', 'cpu-clock:u', '-F', '5000', '-o', 'g.data', '--', lab.workload, scaled(20, 10))
    compare(lab, 'g.data', '-d', 'workload')


def test_hot_loop(lab):
    """All samples of a function that only loops are in the body of the loop, which has an arrow."""
    lab.run('record', '-e', 'cpu-clock:u', '-o', 'l.data', '--', lab.program('short'), '300')
    text = lab.run('annotate', '-i', 'l.data', 'work_0000').stdout
    rows = re.findall(r'^ +([0-9.]+) : +[0-9a-f]+: ([-|/\\> ]*)', text, re.M)
    inside = [float(share) for share, margin in rows if re.search(r'[|/\\]', margin)]
    assert sum(inside) > 95, text
    assert any('>' in margin for _, margin in rows), text


def test_source_lines(lab):
    """Each instruction has the line that addr2line gives it; the text shows the line."""
    if not shutil.which('addr2line'):
        raise Skip('no addr2line (package binutils)')
    lab.run('record', '-e', 'cpu-clock:u', '-o', 's.data', '--', lab.workload, scaled(20, 10))
    found = json.loads(lab.run('annotate', '-i', 's.data', '-d', 'workload', '--json').stdout)['functions']
    rows = [i for f in found for i in f['instructions'] if 'line' in i]
    assert len(rows) > 50, found
    p = subprocess.run(['addr2line', '-e', lab.workload, *[i['address'] for i in rows]], check=True, text=True,
                       stdout=subprocess.PIPE)
    theirs = [os.path.basename(line.split()[0]) for line in p.stdout.splitlines()]
    ours = [f'{os.path.basename(i["file"])}:{i["line"]}' for i in rows]
    assert ours == theirs, [pair for pair in zip(ours, theirs) if pair[0] != pair[1]][:5]
    text = lab.run('annotate', '-i', 's.data', '-d', 'workload', '-l', '--source-dir', TOP).stdout
    assert re.search(r'^# Source lines:$', text, re.M) and re.search(r'^ +: workload\.c:\d+ {2}.*\S$', text, re.M), text
    assert 'workload.c' not in lab.run('annotate', '-i', 's.data', '-d', 'workload', '--no-source').stdout
