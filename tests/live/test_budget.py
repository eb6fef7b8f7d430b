# SPDX-License-Identifier: Apache-2.0
"""--max-cpu: ringtail lowers the frequencies and reports it, and the samples still stand for the whole time."""
import collections
import itertools
import os
import re
import statistics

from lab import interrupt, need_root, wait_for


def stats(lab, recorder):
    p = lab.run('ctl', '--pid', recorder.pid, 'stats', status=None)
    words = (word.split('=') for word in p.stdout.splitlines()[0].split()) if p.returncode == 0 else ()
    return {name: float(value) for name, value in words}


def check_periods(lab, data):
    """The period of each sample is the time since the one before, whatever the frequency was."""
    lines = lab.run('script', '-i', data, '-G', '--ns', '-F', 'cpu,time,period', release=True).stdout.splitlines()
    by_cpu = collections.defaultdict(list)
    for cpu, time, period in (line.split()[:3] for line in lines):
        by_cpu[cpu].append((float(time.rstrip(':')), int(period)))
    compared = set()
    for samples in by_cpu.values():
        # A frequency that rises again comes to periods that there were before.
        for period, run in itertools.groupby(sorted(samples), lambda sample: sample[1]):
            steps = [1e9 * (b - a) for (a, _), (b, _) in itertools.pairwise(run)]
            # Of long ones few may be within the time that a host leaves to a CPU at once.
            if len(steps) > 100 and period < 5e6:
                # Where it is taken away, steps are longer, and the next one shorter, each as it comes: others are right.
                near = sum(0.9 * period < step < 1.1 * period for step in steps)
                assert near > len(steps) / 10, (period, near, len(steps), statistics.median(steps))
                compared.add(period)
    assert len(compared) > 1, [len(samples) for samples in by_cpu.values()]


def lowered(lab, *options):
    need_root()
    recorder = lab.start('record', '-a', '-e', 'cpu-clock', '-F', '2000', '--max-cpu', '0.01%', '-o', 'p.data',
                         *options, release=True)
    wait_for(lambda: os.path.exists(lab.path('p.data')), what='file')
    wait_for(lambda: stats(lab, recorder).get('frequency_percent', 100) < 10, what='a lower frequency')
    assert stats(lab, recorder)['cpu_percent'] > 0.01
    status, _, said = interrupt(recorder)
    assert status == 0, said
    assert re.search(r'recording takes [\d.]+ % of a CPU, with --max-cpu 0.01%: frequencies are lowered to 25 %', said)
    assert re.search(r'frequencies were lowered \d+ times, down to', said), said
    assert re.search(r'--max-cpu 0.01% was missed: recording took [\d.]+ % of a CPU over', said), said
    check_periods(lab, 'p.data')
    assert lab.samples('p.data') == lab.perf_samples('p.data') > 0


def test_frequencies_fall(lab):
    lowered(lab)


def test_frequencies_fall_in_memory(lab):
    lowered(lab, '-M', '16M', '-z', '--snapshot-on-exit', '--threads')


def test_what_is_not_changed(lab):
    p = lab.run('record', '-e', 'cpu-clock', '-e', 'page-faults/period=5/', '--max-cpu', '1%', '-o', 'p.data', '--', 'true')
    assert '--max-cpu does not change cpu-clock' in p.stderr and 'inherit' in p.stderr, p.stderr
    assert re.search(r'--max-cpu does not change page-faults.* period', p.stderr), p.stderr
    p = lab.run('record', '-i', '-e', 'cpu-clock', '--max-cpu', '100', '-o', 'p.data', '--', 'true')
    assert '--max-cpu' not in p.stderr, p.stderr
    for wrong in '0', '-1%', 'much', '1 %', '1%%', 'nan', '':
        p = lab.run('record', '--max-cpu', wrong, '-o', 'q.data', '--', 'true', status=2)
        assert '--max-cpu' in p.stderr and not os.path.exists(lab.path('q.data')), (wrong, p.stderr)
