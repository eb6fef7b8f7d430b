# SPDX-License-Identifier: Apache-2.0
"""pprof: the fields are those of profile.proto, and `go tool pprof` counts as report does."""
import collections
import gzip
import os
import re
import shutil
import subprocess

from lab import EVENTS, Skipped, escape, expect, own_counts
from recording import BUILD_ID, CODE, FUNCTION


def varint(data, at):
    value = shift = 0
    while True:
        byte = data[at]
        value |= (byte & 0x7f) << shift
        shift, at = shift + 7, at + 1
        if byte < 0x80:
            return value, at


def fields(data):
    """Yields (field, number or bytes) of a message of Protocol Buffers."""
    at = 0
    while at < len(data):
        tag, at = varint(data, at)
        value, at = varint(data, at)
        expect('kind of field', tag & 7 in (0, 2), tag)
        if tag & 7 == 2:
            expect('a field ends in its message', at + value <= len(data))
            data_of, at = data[at:at + value], at + value
            yield tag >> 3, data_of
        else:
            yield tag >> 3, value


def packed(data):
    values, at = [], 0
    while at < len(data):
        value, at = varint(data, at)
        values.append(value)
    return values


def message(data):
    """{field: values} of a message."""
    out = collections.defaultdict(list)
    for field, value in fields(data):
        out[field].append(value)
    return out


def first(found, field):
    return found[field][0] if found[field] else 0


class Profile:
    def __init__(self, data):
        top = message(gzip.decompress(data))
        self.strings = [s.decode('utf-8') for s in top[6]]
        expect('string 0 is empty', self.strings[0] == '')
        self.types = [tuple(self.strings[first(message(t), f)] for f in (1, 2)) for t in top[1]]
        self.default = self.strings[first(top, 14)]
        self.mappings = {first(m, 1): m for m in map(message, top[3])}
        self.functions = {first(m, 1): self.strings[first(m, 2)] for m in map(message, top[5])}
        self.locations = {first(m, 1): m for m in map(message, top[4])}
        expect('ids are different', len(self.functions) == len(top[5]) and len(self.locations) == len(top[4]))
        self.samples = collections.defaultdict(lambda: [0] * len(self.types))
        for sample in map(message, top[2]):
            labels = [message(label) for label in sample[3]]
            key = tuple(packed(sample[1][0])), tuple(sorted((self.strings[first(l, 1)], self.strings[first(l, 2)])
                                                           for l in labels))
            self.samples[key] = [a + b for a, b in zip(self.samples[key], packed(sample[2][0]))]

    def stack(self, ids):
        return tuple(self.functions[first(message(line), 1)] for i in ids for line in self.locations[i][4])


def compare(bench, kind):
    _, names, samples = bench.recording(kind)
    profile = Profile(bench.run(kind, '--to', 'pprof'))
    expect('types:', profile.types == [('samples', 'count')] + [(e, 'nanoseconds') for e in EVENTS], profile.types)
    expect('default type', profile.default == EVENTS[0])
    known = collections.defaultdict(lambda: [0] * 3)
    for s in samples:
        labels = {'comm': escape(s.comm), 'pid': str(s.pid), 'tid': str(s.tid), 'cpu': str(s.cpu),
                  'cgroup': '/unit' if kind == 'plain' else '/"\\xff\\x0a'}
        values = known[tuple(names[f] for f in s.functions), tuple(sorted((k, v) for k, v in labels.items() if v))]
        values[0] += 1
        values[1 + s.event] += s.period
    ours = collections.defaultdict(lambda: [0] * 3)
    for (ids, labels), values in profile.samples.items():
        labels = tuple(label for label in labels if label[1])
        ours[profile.stack(ids), labels] = [a + b for a, b in zip(ours[profile.stack(ids), labels], values)]
    expect('samples differ:', ours == known, list(ours)[:1], list(known)[:1])
    return profile


def test_has_each_sample(bench):
    profile = compare(bench, 'plain')
    expect('one mapping', len(profile.mappings) == 1)
    mapping = profile.mappings[1]
    expect('mapping:', profile.strings[first(mapping, 5)] == '/program' and first(mapping, 7) == 1 and
           profile.strings[first(mapping, 6)] == BUILD_ID.hex(), mapping)
    for location in profile.locations.values():
        address = first(location, 3)
        name = profile.functions[first(message(location[4][0]), 1)]
        _, names, _ = bench.recording('plain')
        expect('address:', (address - CODE) // FUNCTION == names.index(name), address, name)
        expect('mapping covers it:', first(mapping, 2) <= address < first(mapping, 3))


def test_has_hostile_names(bench):
    compare(bench, 'hostile')


def pprof(bench, kind, *options, export=()):
    """What Go's pprof says of an export."""
    if not shutil.which('go'):
        raise Skipped('go is not installed (Debian package golang-go)')
    path = bench.path('profile.pb.gz')
    bench.run(kind, '--to', 'pprof', '-o', path, *export)
    env = dict(os.environ, HOME=bench.folder, PPROF_TMPDIR=bench.folder, GOCACHE=bench.path('go'))
    p = subprocess.run(['go', 'tool', 'pprof', '-symbolize=none', *options, path], capture_output=True, timeout=120,
                       env=env, check=False)
    expect(f'pprof {options}:', p.returncode == 0, p.stderr[-300:])
    return p.stdout.decode()


def rows_of_report(bench, event):
    """[(period, symbol)] of the table of an event."""
    text = bench.report('plain', '--no-children', '-g', 'none', '-F', 'period,sym')
    table = text.split(f"of event '{event}'")[1].split('# Samples')[0]
    return [(int(number), name) for number, name in re.findall(r'^ +(\d+) +\[.\] (.*?) *$', table, re.M)]


def test_top_is_that_of_report(bench):
    for event in EVENTS:
        text = pprof(bench, 'plain', '-top', '-unit=nanoseconds', '-nodecount=10', f'-sample_index={event}')
        rows = re.findall(r'^ *(\d+)(?:ns)? +[\d.]+% +[\d.]+% +\d+(?:ns)? +[\d.]+% +(.*)$', text, re.M)
        ours = rows_of_report(bench, event)
        expect('ten rows at most, some at least', 5 < len(rows) <= 10, text)
        expect(f'top of {event}:', [(int(n), name) for n, name in rows] == ours[:10], rows, ours[:10])
        total = re.search(r'of (\d+)(?:ns)? total', text)
        expect('total:', int(total[1]) == sum(n for n, _ in ours), total[1])


def test_raw_and_peek(bench):
    _, _, samples = bench.recording('plain')
    text = pprof(bench, 'plain', '-raw')
    counts = re.findall(r'^ +(\d+) +\d+ +\d+: [\d ]*$', text, re.M)
    expect('samples:', sum(map(int, counts)) == len(samples), len(counts))
    expect('labels', 'comm:[two words] cpu:[0]' in text and 'tid:[1102]' in text)
    peek = pprof(bench, 'plain', '-peek=parse', '-sample_index=samples')
    expect('callers', re.search(r'\| +main', peek), peek[:300])


def test_raw_of_hostile_names(bench):
    _, _, samples = bench.recording('hostile')
    counts = re.findall(r'^ +(\d+) +\d+ +\d+: [\d ]*$', pprof(bench, 'hostile', '-raw'), re.M)
    expect('samples:', sum(map(int, counts)) == len(samples), len(counts))


def test_top_and_peek_of_hostile_names(bench):
    _, names, samples = bench.recording('hostile')
    text = pprof(bench, 'hostile', '-top', '-nodecount=100', '-nodefraction=0', '-sample_index=samples')
    rows = re.findall(r'^ *(\d+) +[\d.]+% +[\d.]+% +\d+ +[\d.]+%  (.*)$', text, re.M)
    found = {name: int(number) for number, name in rows if int(number)}
    known = own_counts(samples, names)
    expect('top:', found == known, [row for row in found.items() if row not in known.items()],
           [row for row in known.items() if row not in found.items()])
    peek = pprof(bench, 'hostile', '-peek=semi;colon', '-sample_index=samples')
    expect('callers', re.search(r'\| +back\\slash', peek), peek[:300])


def test_focuses_on_labels(bench):
    _, _, samples = bench.recording('plain')
    text = pprof(bench, 'plain', '-top', '-sample_index=samples', '-tagfocus=tid=^1101$')
    total = re.search(r'accounting for (\d+),', text)
    expect('samples of a thread:', int(total[1]) == sum(1 for s in samples if s.tid == 1101), text[:300])
