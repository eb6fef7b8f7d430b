# SPDX-License-Identifier: Apache-2.0
"""Traces of Perfetto: protoc reads each field, every sample and event is there, and sums are those of report."""
import collections
import re

from lab import EVENTS, escape, expect, own_counts
from protoc import decode
from recording import BUILD_ID, CODE, FUNCTION

KINDS = 'function_names', 'frames', 'callstacks', 'build_ids', 'mapping_paths', 'source_paths', 'mappings'


class Trace:
    """A trace as a reader sees it: each packet with what its sequence has received before."""

    def __init__(self, data):
        self.packets = decode('perfetto.proto', 'perfetto_test.Trace', data)['packet']
        self.samples, self.threads, self.mappings, self.frames = [], {}, {}, []
        known, timebases, counted = collections.defaultdict(dict), {}, collections.Counter()
        for packet in self.packets:
            sequence = packet.first('sequence')
            if packet.first('sequence_flags') == 1:
                expect('a sequence begins once', sequence not in timebases, sequence)
                defaults = packet['defaults'][0]['perf_sample'][0]['timebase'][0] if packet['defaults'] else None
                timebases[sequence] = defaults and defaults.text('name')
            for interned in packet['interned_data']:
                for kind in KINDS:
                    for entry in interned[kind]:
                        expect('an id is new', (kind, entry.first('iid')) not in known[sequence], kind)
                        known[sequence][kind, entry.first('iid')] = entry
            for tree in packet['process_tree']:
                for thread in tree['threads']:
                    self.threads[thread.first('tgid'), thread.first('tid')] = thread.text('name')
            for sample in packet['perf_sample']:
                expect('a sample needs its sequence', packet.first('sequence_flags') == 2)
                key = sequence, sample.first('cpu')
                period = sample.first('count') - counted[key]
                counted[key] = sample.first('count')
                stack = self.stack(known[sequence], sample.first('callstack'))
                self.samples.append((packet.first('timestamp'), timebases[sequence], sample, period, stack))

    def stack(self, known, number):
        """Names of functions, the innermost first."""
        if not number:
            return ()
        names = []
        for frame in known['callstacks', number]['frames']:
            frame = known['frames', frame]
            name = known['function_names', frame.first('function')].text('str')
            mapping = known['mappings', frame.first('mapping')]
            path = known['mapping_paths', mapping.first('paths')].text('str')
            build_id = known['build_ids', mapping.first('build_id')].first('str') if mapping.first('build_id') else b''
            expect('the mapping covers the frame', mapping.first('start') <= frame['pc'][0] < mapping.first('end'))
            self.mappings[path] = build_id
            self.frames.append((frame['pc'][0], name))
            names.append(name)
        return tuple(reversed(names))


def compare(bench, kind):
    _, names, samples = bench.recording(kind)
    trace = Trace(bench.run(kind, '--to', 'perfetto'))
    known = [(EVENTS[s.event], s.pid, s.tid, s.cpu, s.period, 2, tuple(names[f] for f in s.functions)) for s in samples]
    ours = [(event, s.first('pid'), s.first('tid'), s.first('cpu'), period, s.first('mode'), stack)
            for _, event, s, period, stack in trace.samples]
    expect('samples differ:', ours == known, len(ours), ours[:1], known[:1])
    for s in samples:
        if s.pid == s.tid:
            expect('name of a thread', trace.threads[s.pid, s.tid] == escape(s.comm), trace.threads[s.pid, s.tid])
    times = [time for time, *_ in trace.samples]
    expect('times never decrease', times == sorted(times))
    return trace


def test_has_each_sample(bench):
    trace = compare(bench, 'plain')
    expect('mappings:', trace.mappings == {'/program': BUILD_ID}, trace.mappings)
    _, names, _ = bench.recording('plain')
    for address, name in trace.frames[:500]:
        expect('address:', (address - CODE) // FUNCTION == names.index(name), address, name)


def test_has_hostile_names(bench):
    compare(bench, 'hostile')


def test_top_is_that_of_report(bench):
    trace = Trace(bench.run('plain', '--to', 'perfetto'))
    text = bench.report('plain', '--no-children', '-g', 'none', '-F', 'period,sym')
    for event in EVENTS:
        table = text.split(f"of event '{event}'")[1].split('# Samples')[0]
        rows = [(int(n), name) for n, name in re.findall(r'^ +(\d+) +\[.\] (.*?) *$', table, re.M)]
        periods = collections.Counter()
        for _, name, _, period, stack in trace.samples:
            if name == event:
                periods[stack[0]] += period
        expect(f'top of {event}:', sorted(periods.items(), key=lambda i: -i[1])[:10] == [(name, n) for n, name in rows[:10]],
               rows[:3])
        expect('total:', sum(periods.values()) == sum(n for n, _ in rows))


def test_has_what_happened(bench):
    bench.recording('plain')
    times = dict(bench.timelines['plain'])
    trace = Trace(bench.run('plain', '--to', 'perfetto'))
    switches = []
    for bundle in (b for p in trace.packets for b in p['ftrace_events']):
        for event in bundle['event']:
            s = event['sched_switch'][0]
            switches.append((bundle.first('cpu'), event.first('timestamp'), s.first('prev_pid', None),
                             s.first('next_pid', None), s.first('prev_state', None)))
    expect('switches:', switches == [(2, times['arrives'], 101, 100, 0), (2, times['leaves'], 100, 101, 1)], switches)
    tracks = {t.first('uuid'): t for p in trace.packets for t in p['track_descriptor']}
    marks = {}
    for packet in trace.packets:
        for event in packet['track_event']:
            thread = tracks[event.first('track')]['thread']
            marks[event.text('name')] = (packet.first('timestamp'), thread and thread[0].first('tid'),
                                         event['annotations'][0].text('string_value'))
    expect('marks:', marks == {'lost records': (times['lost'], [], '17 records'),
                               'throttled': (times['throttled'], 101, 'cpu-clock')}, marks)


def test_filters_hold(bench):
    _, names, samples = bench.recording('plain')
    trace = Trace(bench.run('plain', '--to', 'perfetto', '--tid', '100', '-e', 'cpu-clock'))
    known = own_counts([s for s in samples if s.tid == 100 and s.event == 0], names)
    expect('functions:', collections.Counter(stack[0] for *_, stack in trace.samples) == known, known)


def test_begins_with_its_clock(bench):
    packets = Trace(bench.run('plain', '--to', 'perfetto')).packets
    snapshot = packets[0]['clock_snapshot'][0]
    clocks = {c.first('id'): c.first('timestamp') for c in snapshot['clocks']}
    first = next(p for p in packets if p['perf_sample']).first('timestamp')
    expect('clocks:', clocks == {6: first, 10: first} and snapshot.first('primary') == 6, clocks, first)
