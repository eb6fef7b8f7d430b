# SPDX-License-Identifier: GPL-2.0
"""CPU 3 of 16 goes offline three times: every mode of recording counts each call of a known load."""
import collections
import glob
import re

from lab import BIG, check_perf_counts, guest, path_of, ringtail, said_all, samples, script

CALLS = {cpu: 4 * 1000 + (0 if cpu == 3 else 3 * 500) for cpu in range(16)}


def number(text):
    return int(text.replace(',', ''))


def recorded():
    g = guest('hotplug', 'amd64', '6.12', BIG, script('hotplug'))
    assert said_all(g, 'status') == 6 * ['0'], g.log
    for name in 'file', 'turned', 'memory', 'newest', 'group', 'waits':
        lines = said_all(g, name)
        assert sum('CPU 3 is online again' in line for line in lines) == 3, lines
        assert any('after coming online: 3 (for a moment)' in line for line in lines), lines
    return g


def count(path):
    check_perf_counts(path)
    return collections.Counter(cpu for cpu, _ in samples(path))


def test_every_call_around_a_cpu_that_was_away():
    assert count(path_of(recorded(), 'file.data')) == CALLS


def test_each_output_knows_events_that_were_opened_again():
    g = recorded()
    paths = glob.glob(f'{g.files}/turned.data.2*')
    assert len(paths) == 2, g.log
    assert sum(map(count, paths), collections.Counter()) == CALLS


def test_members_of_a_group_are_opened_again():
    assert count(path_of(recorded(), 'group.data')) == {cpu: 2 * n for cpu, n in CALLS.items()}


def test_a_trigger_counts_around_a_cpu_that_was_away():
    (times,) = (re.search(r'trigger .*: ([\d,]+) times', line) for line in said_all(recorded(), 'memory')
                if 'trigger raw' in line)
    assert number(times[1]) == sum(CALLS.values()), times[0]


def test_what_is_left_in_rings_has_ids_of_every_age():
    g = recorded()
    kept = count(path_of(g, 'newest.data'))
    (gone,) = (re.search(r'overwritten ([\d,]+) of raw', line) for line in said_all(g, 'newest')
               if 'overwritten' in line)
    assert sum(kept.values()) + number(gone[1]) == sum(CALLS.values()), (kept, gone[0])
    assert set(kept) == set(range(16))


def test_wakeups_beside_tasks_are_recorded_again():
    """They are of whole CPUs, also where the recording follows a task."""
    g = recorded()
    text = ringtail('script', '-i', path_of(g, 'waits.data'), '-F', 'event,cpu,time')
    wakeups = [float(time) for time in re.findall(r'\[003\] +(\d+\.\d+): +sched:sched_wak', text)]
    calls = sorted(time for cpu, time in samples(path_of(g, 'file.data')) if cpu == 3)
    assert len(calls) == CALLS[3]
    # Of four times; before the last one the CPU was away.
    assert max(wakeups) > calls[-1000], (max(wakeups), calls[-1000])
