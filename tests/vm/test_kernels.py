# SPDX-License-Identifier: GPL-2.0
"""Older and newer kernels, with and without hardware counters."""
import collections
import json
import re

from lab import (Skip, check_controlled, check_perf_counts, check_perf_reads, guest, header, path_of,
                 ringtail, said, script)

# Option sets that ask kernels for what not all have. No PMU: the first falls back to cpu-clock.
LADDER = {
    'default': '-- workload 4',
    'all': '-a -- workload 4',
    'graph': '-e cpu-clock -g -- workload 4',
    'dwarf': '-e task-clock --call-graph dwarf,1024 -F 500 -- workload 4',
    'fields': '-e cpu-clock -d -T -P --sample-cpu -k CLOCK_MONOTONIC -- workload 4',
    'tracepoint': '-e sched:sched_switch -R -a -- workload 4',
    'precise': '-e cpu-clock:pp,page-faults:u -- workload 4',
}
LADDER_SCRIPT = ''.join(
    f'ringtail record -o {name}.data {args}; echo "{name}: $?"\n' for name, args in LADDER.items()
) + r'''
ringtail record -e cycles -o cycles.data -- true; echo "cycles: $?"
ringtail record -e instructions -o instructions.data -- true; echo "instructions: $?"
emit ''' + ' '.join(name + '.data' for name in LADDER) + '\n'


def check_ladder(version):
    g = guest('ladder-' + version, 'amd64', version, (), LADDER_SCRIPT)
    for name in LADDER:
        assert said(g, name) == '0', f'{name}: {g.log}'
        assert check_perf_reads(path_of(g, name + '.data')) > 0, f'{name}: no samples'
    text = ringtail('report', '--header-only', '-i', path_of(g, 'default.data'))
    assert header(text, 'os release')[0].startswith(version + '.'), text
    # There is no PMU here: `cycles` by name is replaced as perf does, others cannot be had; both
    # is said.
    assert said(g, 'cycles') == '0', g.log
    assert re.search(r'^ringtail: recording cpu-clock in place of cycles', g.log, re.M), g.log
    assert said(g, 'instructions') == '1', g.log
    assert re.search(r"^ringtail: .*event 'instructions' .*cpu-clock", g.log, re.M), g.log


def test_kernel_6_1():
    check_ladder('6.1')


def test_kernel_6_12():
    check_ladder('6.12')


# ---- functions of the kernel: twelve CPUs, on each calls of getppid by a thread that the command
# starts

CALL = '__x64_sys_getppid'
PROBES = {
    'kprobe': (f'-e kprobe:{CALL} -- load 100', 1200),
    'kretprobe': (f'-e kretprobe:{CALL} -- load 100', 1200),
    'all': (f'-a -e kprobe:{CALL} -- load 100', 1200),
    'alone': (f'-i -e kprobe:{CALL} -- load 100', 0),
    'uprobe': ('-e uprobe:load:call -- load 5', 12),
    'uprobe-all': ('-a -e uprobe:load:call -- load 5', 12),
    'uprobe-some': ('-C 0-3 -e uprobe:load:call -- load 5', 4),
    'breakpoint': (f'-e mem:{CALL}:x -- load 50', 600),
}
# Its first instruction is endbr64 or a call: an offset of 2 is inside.
PROBES_SCRIPT = ''.join(
    f'ringtail record -o {name}.data {args}; echo "{name}: $?"\n' for name, (args, _) in PROBES.items()
) + f'''
ringtail record -e kprobe:{CALL}+2 -o no.data -- true; echo "inside: $?"
ringtail record -e kprobe:do_int3 -o no.data -- true; echo "forbidden: $?"
ringtail record -e kprobe:{CALL[:-1]} -o no.data -- true; echo "unknown: $?"
ringtail record -a -e mem:jiffies_64:w -o jiffies.data -- \
	sh -c 'for i in $(seq 20); do sleep 0.1; done'; echo "jiffies: $?"
emit jiffies.data ''' + ' '.join(name + '.data' for name in PROBES) + '\n'


def check_probes(version):
    g = guest('probes-' + version, 'amd64', version, ('-s', '12'), PROBES_SCRIPT)
    for name, (_, calls) in PROBES.items():
        assert said(g, name) == '0', f'{name}: {g.log}'
        assert check_perf_counts(path_of(g, name + '.data')) == calls, f'{name}: {g.log}'
    assert check_perf_counts(path_of(g, 'jiffies.data')) > 5, g.log
    assert said(g, 'inside') == said(g, 'forbidden') == said(g, 'unknown') == '1', g.log
    assert re.search(f"did you mean '{CALL}'", g.log), g.log
    assert len(re.findall("the kernel cannot set 'kprobe:", g.log)) == 2, g.log


def test_probes_of_kernel_6_1():
    check_probes('6.1')


def test_probes_of_kernel_6_12():
    check_probes('6.12')


# ---- hardware counters

# With -icount the emulated CPU counts instructions; without, only cycles.
def arm64_guest():
    g = guest('arm64', 'arm64', None, (), script('counters'), ('-icount', 'shift=0'))
    if said(g, 'pmutest') != '0':
        raise Skip('the emulated CPU has no counters that give samples')
    return g


def per_event(path):
    events = re.findall(r'^\s*(\S+?):\s*$', ringtail('script', '-i', path, '-F', 'event'), re.M)
    return collections.Counter(events)


def test_hardware_events_are_sampled():
    g = arm64_guest()
    assert said(g, 'both') == '0', g.log
    counts = per_event(path_of(g, 'both.data'))
    assert counts['cycles'] > 20 and counts['instructions'] > 20, counts
    check_perf_reads(path_of(g, 'both.data'))
    shown = ringtail('report', '--stdio', '-i', path_of(g, 'both.data'), '--sort', 'comm')
    assert re.search(r"of event 'instructions'", shown), shown
    assert {'parse', 'matrix', 'digest'} <= set(re.findall(r'% +(\w+)', shown)), shown


def test_hardware_events_in_a_group():
    g = arm64_guest()
    assert said(g, 'group') == '0', g.log
    counts = per_event(path_of(g, 'group.data'))
    assert counts['cycles:u'] > 20 and counts['instructions:u'] > 20, counts
    check_perf_reads(path_of(g, 'group.data'))


def test_cycles_are_the_default():
    g = arm64_guest()
    assert said(g, 'default') == '0', g.log
    assert set(per_event(path_of(g, 'default.data'))) == {'cycles'}
    check_perf_reads(path_of(g, 'default.data'))


def test_raw_events_and_events_of_a_pmu():
    g = arm64_guest()
    for name in ('raw', 'pmu'):
        assert said(g, name) == '0', f'{name}: {g.log}'
        assert check_perf_reads(path_of(g, name + '.data')) > 20, name


def test_cycles_are_enabled_by_a_descriptor():
    g = arm64_guest()
    for name in 'control', 'control-threads':
        check_controlled(g, name)
        assert set(per_event(path_of(g, name + '.data'))) == {'cpu-cycles'}


def counts_of(g, name):
    """Returns [(event, count, percent of the time that it ran, what its figure is)] of a guest's stat."""
    assert said(g, name) == '0', f'{name}: {g.log}'
    with open(path_of(g, name + '.json'), encoding='utf-8') as f:
        found = [json.loads(line) for line in f]
    return [(row['event'], float(row['counter-value']), row['pcnt-running'], row.get('metric-unit')) for row in found]


def test_hardware_events_are_counted():
    """Instructions of one program are the same alone, in a group, and where more are asked for than there are counters."""
    g = arm64_guest()
    (_, truth, running, _), = sorted(counts_of(g, f'alone-{i}') for i in (1, 2, 3))[1]
    assert truth > 1e6 and running == 100, (truth, running)
    found = sorted((counts_of(g, f'grouped-{i}') for i in (1, 2, 3)), key=lambda rows: rows[1][1])
    cycles, instructions, clock = found[1]
    assert abs(instructions[1] / truth - 1) < .02 and instructions[3] == 'insn per cycle', (found, truth)
    assert cycles[1] > 0 and cycles[3] == 'GHz' and clock[3] == 'CPUs utilized', (cycles, clock)
    turns = counts_of(g, 'turns')
    assert len(turns) == 12 and any(row[2] < 90 for row in turns), turns
    mean = sum(row[1] for row in turns) / len(turns)
    assert abs(mean / truth - 1) < .2, (turns, truth)


def test_arm64_without_a_pmu():
    g = guest('arm64-no-pmu', 'arm64', None, (), script('no-counters'),
              ('-cpu', 'cortex-a57,pmu=off'))
    assert said(g, 'default') == '0', g.log
    assert set(per_event(path_of(g, 'default.data'))) == {'cpu-clock'}
    assert said(g, 'instructions') == '1', g.log
    check_perf_reads(path_of(g, 'default.data'))


