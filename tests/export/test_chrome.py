# SPDX-License-Identifier: Apache-2.0
"""Traces of Chrome: each sample and event is there, and the Firefox Profiler's own reader counts as we do."""
import collections
import json
import random
import re
import subprocess

import recording
from lab import PLAIN, ProfilerCli, escape, expect, own_counts


def stacks_of(events):
    """{(pid, tid): [(microseconds, names from the outermost)]} of the profiles in chunks."""
    out, nodes, at = collections.defaultdict(list), {}, {}
    for e in events:
        if e['name'] == 'Profile':
            expect('an id is new', e['id'] not in at, e['id'])
            at[e['id']] = e['args']['data']['startTime']
        if e['name'] != 'ProfileChunk':
            continue
        data = e['args']['data']
        for node in data['cpuProfile']['nodes']:
            above = nodes[node['parent']] if 'parent' in node else ()
            expect('the id of a node is new', node['id'] not in nodes, node['id'])
            nodes[node['id']] = above + (node['callFrame']['functionName'],)
        expect('a delta for each sample', len(data['timeDeltas']) == len(data['cpuProfile']['samples']))
        for sample, delta in zip(data['cpuProfile']['samples'], data['timeDeltas']):
            at[e['id']] += delta
            out[e['pid'], e['tid']].append((at[e['id']], nodes[sample][1:]))
    return out


def microseconds(time):
    return f'{time // 1000}.{time % 1000:03}'


def compare(bench, kind):
    _, names, samples = bench.recording(kind)
    text = bench.run(kind, '--to', 'chrome', '-e', 'cpu-clock').decode('utf-8')
    events = json.loads(text, parse_float=str)['traceEvents']
    known = collections.defaultdict(list)
    for s in samples:
        if s.event == 0:
            known[s.pid, s.tid].append(tuple(names[f] for f in reversed(s.functions)))
    ours = {thread: [stack for _, stack in stacks] for thread, stacks in stacks_of(events).items()}
    expect('stacks of threads:', ours == known, list(ours)[:3])
    for stacks in stacks_of(events).values():
        expect('times never decrease', all(a[0] <= b[0] for a, b in zip(stacks, stacks[1:])))
    comms = {(e['pid'], e['tid']): e['args']['name'] for e in events if e['name'] == 'thread_name'}
    for s in samples:
        if s.pid == s.tid:
            expect('name of a thread', comms[s.pid, s.tid] == escape(s.comm), comms[s.pid, s.tid])
    return events


def test_has_each_sample(bench):
    compare(bench, 'plain')


def test_has_hostile_names(bench):
    compare(bench, 'hostile')


def test_has_what_happened(bench):
    bench.recording('plain')
    times = dict(bench.timelines['plain'])
    events = json.loads(bench.run('plain', '--to', 'chrome'), parse_float=str)['traceEvents']
    slices = [e for e in events if e['ph'] == 'X']
    expect('one slice:', [(e['pid'], e['tid'], e['name'], e['ts'], e['dur'], e['args']['data']['cpu']) for e in slices] ==
           [(100, 100, 'running', microseconds(times['arrives']), microseconds(times['leaves'] - times['arrives']), 2)],
           slices)
    marks = {e['name']: e for e in events if e['ph'] == 'i'}
    expect('marks:', marks['lost records']['args']['data']['detail'] == '17 records' and
           marks['lost records']['ts'] == microseconds(times['lost']) and
           marks['throttled']['tid'] == 101 and marks['throttled']['args']['data']['detail'] == 'cpu-clock', marks)
    filtered = json.loads(bench.run('plain', '--to', 'chrome', '--tid', '101'))['traceEvents']
    names = {e['name'] for e in filtered}
    expect('filters hold for events, too:', 'throttled' in names and 'running' in names and 'lost records' not in names,
           names)
    expect('and for samples:', {e['tid'] for e in filtered if e['ph'] == 'P'} == {101})


def test_many_stacks_are_several_profiles(bench):
    """5500 stacks of 100 functions have more nodes than ringtail keeps."""
    chance, path = random.Random(3), bench.path('many.data')
    out, known = recording.Recording(path), collections.defaultdict(list)
    for pid in 100, 101:
        out.comm(pid, pid, b'many')
        out.map(pid, b'/program')
    bench.recording('plain')  # its program has the functions
    for i in range(5500):
        stack = [chance.randrange(len(PLAIN)) for _ in range(100)]
        out.sample(100 + i % 2, 100 + i % 2, stack)
        known[100 + i % 2].append(stack)
    out.close()
    text = subprocess.run([bench.ringtail, 'export', '--to', 'chrome', '-i', path, '--symfs', bench.path('root-plain')],
                          capture_output=True, timeout=120, check=True).stdout
    events = json.loads(text)['traceEvents']
    expect('profiles:', sum(e['name'] == 'Profile' for e in events) == 4)
    names = bench.recording('plain')[1]
    for (pid, _), stacks in stacks_of(events).items():
        expect('stacks:', [stack for _, stack in stacks] == [tuple(names[f] for f in reversed(s)) for s in known[pid]])


def ask_cli(bench, kind):
    _, names, samples = bench.recording(kind)
    path = bench.path(f'trace-{kind}.json')
    bench.run(kind, '--to', 'chrome', '-o', path, '--tid', '100')
    known = own_counts([s for s in samples if s.tid == 100 and s.event == 0], names)
    with ProfilerCli(bench, path) as cli:
        text = cli.ask('thread', 'functions')
    found = {name: int(number) for name, number in re.findall(r'f-\d+\. (.*?) - self: (\d+)', text) if int(number)}
    expect('functions:', found == known, found, known)


def test_profiler_cli_counts_the_same(bench):
    ask_cli(bench, 'plain')


def test_profiler_cli_takes_hostile_names(bench):
    ask_cli(bench, 'hostile')
