# SPDX-License-Identifier: Apache-2.0
"""Folded stacks: the lines are those of the samples."""
import collections

from lab import EVENTS, escape, expect


def known_stacks(bench, kind, event, periods):
    _, names, samples = bench.recording(kind)
    stacks = collections.Counter()
    for s in samples:
        if s.event == event:
            line = ';'.join(part.replace(';', ':') for part in
                            [escape(s.comm), *(names[f] for f in reversed(s.functions))])
            stacks[line] += s.period if periods else 1
    return stacks


def read_folded(data):
    stacks = {}
    for line in data.decode('utf-8').split('\n')[:-1]:
        stack, number = line.rsplit(' ', 1)
        expect('a stack is there twice:', stack not in stacks, stack)
        stacks[stack] = int(number)
    return stacks


def compare(bench, kind):
    for event, name in enumerate(EVENTS):
        for periods in False, True:
            data = bench.run(kind, '--to', 'folded', '-e', name, '--value', 'period' if periods else 'samples')
            ours, known = read_folded(data), known_stacks(bench, kind, event, periods)
            expect(f'stacks of {name} differ:', ours == known, list(ours.items() - known.items())[:2],
                   list(known.items() - ours.items())[:2])


def test_has_each_stack(bench):
    compare(bench, 'plain')


def test_has_hostile_names(bench):
    compare(bench, 'hostile')


def test_takes_one_event(bench):
    data = bench.run('plain', '--to', 'folded')
    expect('samples of the first event', read_folded(data) == known_stacks(bench, 'plain', 0, False))


def test_filters(bench):
    _, names, samples = bench.recording('plain')
    for option, keep in ((('--comm', 'one'), lambda s: s.comm == b'one'), (('--tid', '1100'), lambda s: s.tid == 1100),
                         (('--cpu', '1-2'), lambda s: s.cpu in (1, 2)),
                         (('--symbol', 'parse'), lambda s: names[s.functions[0]] == 'parse'),
                         (('--dso', 'other'), lambda s: False)):
        total = sum(read_folded(bench.run('plain', '--to', 'folded', '-e', EVENTS[0], *option)).values())
        known = sum(1 for s in samples if s.event == 0 and keep(s))
        expect(f'{option}:', total == known, total, known)
