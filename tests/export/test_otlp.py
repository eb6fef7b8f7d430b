# SPDX-License-Identifier: Apache-2.0
"""OTLP profiles: protoc reads each field, index 0 of each table is empty, and sums are those of report."""
import collections
import re

from lab import EVENTS, escape, expect
from protoc import decode
from recording import BUILD_ID, CODE, FUNCTION

BUILD_ID_KEY = 'process.executable.build_id.gnu'


class Profiles:
    def __init__(self, data):
        top = decode('otlp.proto', 'otlp_test.Data', data)
        self.tables = top['dictionary'][0]
        self.strings = [s.decode('utf-8') for s in self.tables['string_table']]
        self.functions = [self.strings[f.first('name')] for f in self.tables['function_table']]
        self.locations, self.mappings = self.tables['location_table'], self.tables['mapping_table']
        self.pairs = [self.pair(a) for a in self.tables['attribute_table']]
        self.resource = {a.text('key'): a['value'][0].text('string_value')
                         for a in top['resource_profiles'][0]['resource'][0]['attributes']}
        self.list = top['resource_profiles'][0]['scope_profiles'][0]['profiles']

    def pair(self, attribute):
        value = attribute.first('value', {})
        if 'string_value' in value:
            value = value.text('string_value')
        elif 'int_value' in value:
            value = value.first('int_value')
        return self.strings[attribute.first('key')], value

    def attributes(self, message):
        pairs = [self.pairs[i] for i in message['attributes']]
        expect('keys are different', len({key for key, _ in pairs}) == len(pairs), pairs)
        return dict(pairs)

    def type_of(self, profile):
        return tuple(self.strings[profile['sample_type'][0].first(f)] for f in ('type', 'unit'))

    def stack(self, number):
        """Names, the innermost first."""
        return tuple(self.functions[line.first('function')] for i in self.tables['stack_table'][number]['locations']
                     for line in self.locations[i]['lines'])

    def samples(self, profile):
        """{(stack, attributes): value}"""
        out = collections.Counter()
        for s in profile['samples']:
            expect('one value', len(s['values']) == 1)
            out[self.stack(s.first('stack')), tuple(sorted(self.attributes(s).items()))] += s['values'][0]
        return out


def check_tables(profiles):
    for name in 'mapping', 'location', 'function', 'attribute', 'stack':
        table = profiles.tables[name + '_table']
        expect(f'{name} 0 is empty, others not', [i for i, entry in enumerate(table) if not entry] == [0])
    link = profiles.tables['link_table']
    expect('one link', len(link) == 1 and link[0].first('trace') == bytes(16) and link[0].first('span') == bytes(8))
    expect('string 0 is empty', profiles.strings[0] == '' and len(set(profiles.strings)) == len(profiles.strings))
    used = {0} | {v for name in ('function', 'mapping', 'attribute') for entry in profiles.tables[name + '_table']
                  for field in ('name', 'system_name', 'file', 'key') for v in entry.get(field, []) if isinstance(v, int)}
    used |= {v for p in profiles.list for field in ('sample_type', 'period_type') for t in p[field] for n in t.values()
             for v in n}
    expect('each string is used', used == set(range(len(profiles.strings))), set(range(len(profiles.strings))) - used)


def compare(bench, kind):
    _, names, samples = bench.recording(kind)
    profiles = Profiles(bench.run(kind, '--to', 'otlp'))
    check_tables(profiles)
    expect('types:', [profiles.type_of(p) for p in profiles.list] ==
           [t for e in EVENTS for t in ((e, 'nanoseconds'), ('samples', 'count'))])
    for number, event in enumerate(EVENTS):
        periods, counts = collections.Counter(), collections.Counter()
        for s in samples:
            if s.event != number:
                continue
            attributes = {'thread.name': escape(s.comm), 'process.pid': s.pid, 'thread.id': s.tid,
                          'cpu.logical_number': s.cpu,
                          'process.linux.cgroup': '/unit' if kind == 'plain' else '/"\\xff\\x0a'}
            key = tuple(names[f] for f in s.functions), tuple(sorted(attributes.items()))
            periods[key] += s.period
            counts[key] += 1
        expect(f'periods of {event} differ', profiles.samples(profiles.list[2 * number]) == periods)
        expect(f'counts of {event} differ', profiles.samples(profiles.list[2 * number + 1]) == counts)
        for profile in profiles.list[2 * number:2 * number + 2]:
            expect('event:', profiles.attributes(profile) == {'perf.event': event})
    return profiles


def test_has_each_sample(bench):
    profiles = compare(bench, 'plain')
    _, names, _ = bench.recording('plain')
    expect('one mapping', len(profiles.mappings) == 2)
    mapping = profiles.mappings[1]
    expect('mapping:', profiles.strings[mapping.first('file')] == '/program' and
           profiles.attributes(mapping) == {BUILD_ID_KEY: BUILD_ID.hex()}, mapping)
    for location in profiles.locations[1:]:
        address, name = location.first('address'), profiles.functions[location['lines'][0].first('function')]
        expect('address:', (address - CODE) // FUNCTION == names.index(name), address, name)
        expect('mapping covers it', mapping.first('start') <= address < mapping.first('limit'))
        expect('type of frame', profiles.attributes(location) == {'profile.frame.type': 'native'})
    expect('resource:', profiles.resource == {'os.type': 'linux'}, profiles.resource)


def test_has_hostile_names(bench):
    compare(bench, 'hostile')


def test_top_is_that_of_report(bench):
    profiles = Profiles(bench.run('plain', '--to', 'otlp'))
    text = bench.report('plain', '--no-children', '-g', 'none', '-F', 'period,sym')
    for number, event in enumerate(EVENTS):
        table = text.split(f"of event '{event}'")[1].split('# Samples')[0]
        rows = [(name, int(n)) for n, name in re.findall(r'^ +(\d+) +\[.\] (.*?) *$', table, re.M)]
        periods = collections.Counter()
        for (stack, _), value in profiles.samples(profiles.list[2 * number]).items():
            periods[stack[0]] += value
        expect(f'top of {event}:', sorted(periods.items(), key=lambda i: -i[1])[:10] == rows[:10], rows[:3])
        expect('total:', sum(periods.values()) == sum(n for _, n in rows))


def test_filters_hold(bench):
    _, _, samples = bench.recording('plain')
    profiles = Profiles(bench.run('plain', '--to', 'otlp', '--tid', '100', '-e', 'cpu-clock'))
    check_tables(profiles)
    counts = profiles.samples(profiles.list[1])
    expect('samples:', len(profiles.list) == 2 and
           sum(counts.values()) == sum(s.tid == 100 and s.event == 0 for s in samples))
