# SPDX-License-Identifier: Apache-2.0
"""Shared code of the tests of recordings in memory (-M)."""
import collections
import os
import re
import subprocess

from lab import PATIENCE, calls_lost, running, wait_for

MODES = {
    'serial': [],
    'threads': ['--threads'],
    'aio, compressed': ['--aio', '-z'],
    'threads, compressed': ['--threads', '-z'],
}
COUNTS = re.compile(r'memory: ([\d,]+) samples? taken: ([\d,]+) in (\d+) snapshots?, ([\d,]+) evicted, '
                    r'([\d,]+) left at the end')


def number(text):
    return int(text.replace(',', ''))


def memory_counts(said):
    """Returns (taken, written, snapshots, evicted, held) from the last lines, and checks that they add up."""
    match = COUNTS.search(said)
    assert match, said
    taken, written, snapshots, passed, held = map(number, match.groups())
    assert taken == written + passed + held, match.group(0)
    return taken, written, snapshots, passed, held


def moments(lab, data):
    """Returns time and CPU of each sample; no two samples have the same."""
    p = lab.run('script', '-i', data, '--ns', '-G', '-F', 'cpu,time', release=True)
    lines = p.stdout.splitlines()
    twice = [line for line, n in collections.Counter(lines).items() if n > 1]
    assert not twice, (data, len(twice), twice[:3])
    return lines


def ready(lab, child, data='p.data'):
    wait_for(lambda: os.path.exists(lab.path(data)) or child.poll() is not None, what='file')
    running(lab, child)


def snapshot(lab, child):
    lab.run('ctl', '--pid', child.pid, 'snapshot')


def held(lab, recorder):
    """Returns the numbers that `stats` reports about a recording."""
    stats = lab.run('ctl', '--pid', recorder.pid, 'stats').stdout.splitlines()[0]
    return {name: float(value) for name, value in (word.split('=') for word in stats.split())}


def start(lab, calls, *options, output='p.data'):
    # Its lines fill a pipe that nobody reads.
    with open(lab.path('said'), 'wb') as said:
        recorder = subprocess.Popen(lab.argv(['record', '-o', output, *options, *calls.argv], release=True),
                                    cwd=lab.dir, stdin=subprocess.DEVNULL, stdout=said, stderr=said,
                                    start_new_session=True)
    recorder.leads = True  # its command waits at a gate for ever if a test fails
    lab.children.append(recorder)
    calls.begin(recorder)
    ready(lab, recorder, output)
    return recorder


def said_so_far(lab):
    with open(lab.path('said'), encoding='utf-8', errors='replace') as text:
        return text.read()


def finish(lab, calls, recorder, data):
    """Ends a recording and returns the counts of its last lines. They cover all calls, and readers find all
    written samples."""
    calls.end()
    recorder.wait(timeout=PATIENCE)
    said = said_so_far(lab)
    assert recorder.returncode == 0 and 'Sanitizer' not in said, said[-3000:]
    counts = memory_counts(said)
    assert counts[0] + calls_lost(said) == calls.calls, said
    assert len(moments(lab, data)) == counts[1] == lab.samples(data) == lab.perf_samples(data)
    return counts, said
