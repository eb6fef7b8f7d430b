# SPDX-License-Identifier: Apache-2.0
"""Processed profiles: each sample and marker is there, and the Firefox Profiler's own command counts as we do."""
import collections
import gzip
import json
import re

from lab import ProfilerCli, escape, expect
from recording import BUILD_ID, CODE, FUNCTION


def column(table, name):
    expect(f'length of {name}', len(table[name]) == table['length'], len(table[name]), table['length'])
    return table[name]


def stacks_of(shared):
    """The names of each stack from the innermost, after a check of the tables."""
    strings, frames, functions = shared['stringArray'], shared['frameTable'], shared['funcTable']
    for table in 'stackTable', 'frameTable', 'funcTable', 'resourceTable', 'nativeSymbols', 'sources':
        for name in shared[table]:
            if name != 'length':
                column(shared[table], name)
    names, out = [strings[functions['name'][f]] for f in frames['func']], []
    for number, (frame, offset) in enumerate(zip(shared['stackTable']['frame'], shared['stackTable']['prefixOffset'])):
        expect('the caller is before', 0 <= offset <= number, number, offset)
        out.append((names[frame],) + (out[number - offset] if offset else ()))
    return out


def load(bench, kind, *args):
    return json.loads(gzip.decompress(bench.run(kind, '--to', 'firefox', *args)), parse_float=str)


def compare(bench, kind):
    _, names, samples = bench.recording(kind)
    profile = load(bench, kind, '-e', 'cpu-clock')
    stacks, known, ours = stacks_of(profile['shared']), collections.defaultdict(list), {}
    for s in samples:
        if s.event == 0:
            known[s.pid, s.tid].append((tuple(names[f] for f in s.functions), s.period))
    for thread in profile['threads']:
        data = thread['samples']
        column(data, 'timeDeltas')
        weights = [round(float(w) * 1e6) for w in column(data, 'weight')]
        ours[int(thread['pid']), thread['tid']] = list(zip((stacks[i] for i in column(data, 'stack')), weights))
    ours = {thread: found for thread, found in ours.items() if found}
    expect('stacks of threads:', ours == known, list(ours)[:3])
    comms = {(int(t['pid']), t['tid']): t['name'] for t in profile['threads']}
    for s in samples:
        if s.pid == s.tid:
            expect('name of a thread', comms[s.pid, s.tid] == escape(s.comm), comms[s.pid, s.tid])
    return profile


def test_has_each_sample(bench):
    profile = compare(bench, 'plain')
    _, names, _ = bench.recording('plain')
    shared, lib = profile['shared'], profile['libs'][0]
    expect('library', lib['path'] == '/program' and lib['codeId'] == BUILD_ID.hex() and
           lib['breakpadId'] == '0403020106050807090A0B0C0D0E0F100', lib)
    for address, function, native, flags in zip(*(shared['frameTable'][name] for name in (
            'address', 'func', 'nativeSymbol', 'flags'))):
        name = shared['stringArray'][shared['funcTable']['name'][function]]
        start = CODE + names.index(name) * FUNCTION
        expect('address', start <= address < start + FUNCTION and flags & 15 == 14, address, flags)
        expect('native symbol', shared['nativeSymbols']['address'][native] == start and
               shared['nativeSymbols']['functionSize'][native] == FUNCTION)


def test_has_hostile_names(bench):
    compare(bench, 'hostile')


def test_has_what_happened(bench):
    bench.recording('plain')
    times, found = dict(bench.timelines['plain']), {}
    profile = load(bench, 'plain')
    strings = profile['shared']['stringArray']
    for thread in profile['threads']:
        marks = thread['markers']
        for name, data, start, end in zip(*(column(marks, key) for key in ('name', 'data', 'startTime', 'endTime'))):
            found[strings[name], thread['tid']] = (strings[data['detail']], start, end)
    lost = found['lost records', 0]
    expect('losses', lost[0] == '17 records' and lost[2] is None, found)
    slices = found['running', 100]
    expect('a slice', slices[0].startswith('two words follows; CPU 2, state '), slices)
    expect('its length', round((float(slices[2]) - float(slices[1])) * 1e6) == times['leaves'] - times['arrives'], slices)
    expect('times count from the first', round((float(lost[1]) - float(slices[1])) * 1e6) ==
           times['lost'] - times['arrives'], lost)
    expect('throttling', found['throttled', 101][0] == 'cpu-clock', found)


def ask_cli(bench, kind):
    _, names, samples = bench.recording(kind)
    path, known = bench.path(f'profile-{kind}.json.gz'), collections.Counter()
    bench.run(kind, '--to', 'firefox', '-o', path, '--tid', '100')
    for s in samples:
        if s.tid == 100 and s.event == 0:
            known[names[s.functions[0]]] += s.period
    with ProfilerCli(bench, path) as cli:
        text = cli.ask('thread', 'functions')
    found = {name: float(number) * {'ns': 1, 'μs': 1e3, 'ms': 1e6}[unit]
             for name, number, unit in re.findall(r'f-\d+\. program!(.*?) - self: ([\d.]+)(\w+) ', text)}
    expect('functions:', found.keys() == known.keys(), found, known)
    for name, total in known.items():
        expect('it prints five digits', abs(found[name] - total) <= total / 10000, name, found[name], total)


def test_profiler_cli_counts_the_same(bench):
    ask_cli(bench, 'plain')


def test_profiler_cli_takes_hostile_names(bench):
    ask_cli(bench, 'hostile')
