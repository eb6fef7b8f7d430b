# SPDX-License-Identifier: GPL-2.0
"""A kernel that throttles an event: ringtail counts its THROTTLE records and reports them."""
import re

from lab import guest, path_of, ringtail, said, said_all, script, stat


def check_throttled(name):
    g = guest('throttled', 'amd64', None, ('-s', '2'), script('throttled'))
    assert said(g, name) == '0', g.log
    lines = [line for line in said_all(g, name + '.said') if 'throttled' in line]
    assert len(lines) == 1, lines
    times, seconds = re.search(r'throttled events (\d+) times, for ([\d.]+) s on all CPUs together, cpu-clock on CPU \d',
                               lines[0]).groups()
    assert 'kernel.perf_event_max_sample_rate, 1000 now' in lines[0], lines
    text = ringtail('report', '--stats', '-i', path_of(g, name))
    assert int(times) == stat(text, 'THROTTLE') > 0 and float(seconds) > 0, (lines, text)


def test_throttling_is_told():
    check_throttled('plain')


def test_throttling_is_told_with_threads():
    check_throttled('threads')


def test_throttling_is_told_with_overwritten_rings():
    check_throttled('overwrite')


def test_throttling_is_told_of_memory():
    check_throttled('memory')
