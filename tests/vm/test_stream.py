# SPDX-License-Identifier: GPL-2.0
"""Recordings by many threads on 16 CPUs, with two sockets, hardware threads and two nodes."""
import glob
import os
import re

from lab import (BIG, check_controlled, check_perf_counts, check_perf_reads, check_threads, cpus,
                 cpus_by_file, guest, header, lost, path_of, said, said_all)

# Masks as (CPUs whose rings a thread reads, CPUs that it runs on).
BY_CPU = [(str(n), str(n)) for n in range(16)]
BY_CORE = [(f'{n}-{n + 1}', f'{n}-{n + 1}') for n in range(0, 16, 2)]
BY_HALF = [('0-7', '0-7'), ('8-15', '8-15')]

# The end of each of the load's threads, by exit(), is a sample of its CPU, whether or not a clock has interrupted it.
EVENTS = "-e cpu-clock -e raw_syscalls:sys_enter --filter 'id == 60'"
# Options as they are typed, and the masks that they mean.
LINES = {
    'threads': ('--threads', BY_CPU),
    'threads-empty': ('--threads=', BY_CPU),
    'cpu': ('--threads=cpu', BY_CPU),
    'core': ('--threads=core', BY_CORE),
    'socket': ('--threads=socket', BY_HALF),
    'package': ('--threads=package', BY_HALF),
    'numa': ('--threads=numa', BY_HALF),
    'written': ('--threads=0-3/0:4-15/8', [('0-3', '0'), ('4-15', '8')]),
    'written-rest': ('--threads=0-3/3:4-7/4', [('0-3', '3'), ('4-7', '4'), ('8-15', '0-15')]),
    'written-2-5': ('-C 2,5 --threads=0-3/3:4-7/4', [('2', '3'), ('5', '4')]),
    'written-3-4': ('-C 3,4 --threads=0-3/3:4-7/4', [('3', '3'), ('4', '4')]),
    'core-of-4': ('-C 0,4,2,6 --threads=core', [(n, n) for n in ('0', '2', '4', '6')]),
    'numa-of-4': ('-C 0,4,2,6 --threads=numa', [('0,2,4,6', '0,2,4,6')]),
    'dwarf': ('--threads -g --call-graph dwarf,4096', BY_CPU),
    'dwarf-compressed': ('--threads -g --call-graph dwarf,4096 --compression-level=3', BY_CPU),
    'all-aio': ('-a --aio --threads=numa -z', BY_HALF),
}

REPORTS = {'plain': '', 'callee': '--call-graph=callee', 'header': '--stdio --header',
           'dump': '-D --header'}

SWITCHED = {'cut': '--threads=core --switch-output=signal',
            'cut-compressed': '--threads=cpu -z --switch-output=signal'}

# Masks that cannot be, and the word of the message that names the one that is wrong. Another machine may have the CPUs
# that this one lacks.
REFUSED = {
    '0-3/0:3-7/4': '3-7/4',
    '0-3/3:4-7/3': '4-7/3',
    '0-3/0-3:4-7/3-7': '4-7/3-7',
    '/3': '/3',
    '0-3/': '0-3/',
    '0-3/0::4-7/4': "''",
    '0-3': '0-3',
    '0-3/0:16-17/1': '16-17/1',
    '0-3/0:4-7/99': '4-7/99',
    '3-0/1': '3-0/1',
    'cores': 'cores',
    '-C 2,5 --threads=0-1/0:2-5/2': '0-1/0',
}


def stream_script():
    lines = []
    for name, (options, _) in LINES.items():
        lines += [f'timeout 600 ringtail record -o p.data {EVENTS} {options} -- watched {name} load 15000',
                  f'echo "{name}: $?"; rm -rf p.data.old; cp -r p.data {name}.data']
    for name, options in REPORTS.items():
        lines += ['timeout 600 ringtail report -i dwarf-compressed.data '
                  f'{options} >report-{name}.txt',
                  f'echo "report-{name}: $?"']
    lines += ['echo "dumped: $(grep -c " SAMPLE " report-dump.txt)"',
              'grep -m 50 " SAMPLE " report-dump.txt >report-dump.new',
              'mv report-dump.new report-dump.txt',
              'controlled control', 'controlled control-threads --threads',
              *(f'switched {name} {options}' for name, options in SWITCHED.items())]
    for spec in REFUSED:
        options = spec if spec.startswith('-C') else '--threads=' + spec
        lines += [f'text=$(timeout 300 ringtail record -o refused.data {options} -- true 2>&1)',
                  f'echo "{spec}: $? $text"', '[ ! -e refused.data ] || echo "made: refused.data"',
                  'rm -rf refused.data']
    lines += ['rm -rf p.data', 'tar cf recordings.tar *.data* *.txt', 'emit recordings.tar']
    return '\n'.join(lines) + '\n'


def stream_guest():
    return guest('stream', 'amd64', None, BIG, stream_script())


def make_test(name, options, masks):
    def test():
        g = stream_guest()
        assert said(g, name) == '0', g.log
        check_threads(g, name, masks)
        path = path_of(g, name + '.data')
        # The load was on all CPUs, so each file has samples of all that its thread reads.
        assert cpus_by_file(path) == {i: cpus(read) for i, (read, _) in enumerate(masks)}, name
        check_perf_counts(path)
    test.__doc__ = options
    return test


for _name, (_options, _masks) in LINES.items():
    globals()['test_record_' + _options] = make_test(_name, _options, _masks)


def test_cpus_without_a_mask_are_read_and_it_is_said():
    g = stream_guest()
    assert g.log.count('--threads leaves out some recorded CPUs') == 1, g.log


def test_perf_shows_what_threads_wrote():
    g = stream_guest()
    for name in 'core', 'written-rest', 'dwarf-compressed':
        check_perf_reads(path_of(g, name + '.data'))


def test_reports_in_the_guest():
    g = stream_guest()
    texts = {}
    for name in REPORTS:
        assert said(g, 'report-' + name) == '0', g.log
        with open(path_of(g, f'report-{name}.txt'), encoding='utf-8') as f:
            texts[name] = f.read()
    for name in 'plain', 'callee', 'header':
        assert re.search(r'% +load ', texts[name]), texts[name]
        assert re.search(r'^ +---\w+', texts[name], re.M), texts[name]
    assert header(texts['header'], 'nrcpus online') == ['16']
    # Where a sample is: in which file, in which frame of it, and how far into what that holds.
    lines = texts['dump'].splitlines()
    assert len(lines) == 50, texts['dump']
    for line in lines:
        assert re.match(r'data\.\d+:0x[0-9a-f]+(\+0x[0-9a-f]+)? SAMPLE ', line), line
    assert int(said(g, 'dumped')) == check_perf_counts(path_of(g, 'dwarf-compressed.data'))


def test_events_are_enabled_by_a_descriptor():
    g = stream_guest()
    for name in 'control', 'control-threads':
        check_controlled(g, name)
    assert os.path.isdir(path_of(g, 'control-threads.data'))


def test_no_call_is_lost_where_files_are_switched():
    g = stream_guest()
    for name in SWITCHED:
        assert said_all(g, name) == ['0'], g.log
        files = sorted(glob.glob(f'{g.files}/{name}.data.*'))
        counts = [(check_perf_counts(path), lost(path)) for path in files]
        # The first cut was amidst nothing, so that the first file has all of the first load.
        assert len(files) == 3 and sum(counts[0]) == 16 * 1000, counts
        assert sum(map(sum, counts)) == 16 * 4000, counts


def test_masks_that_cannot_be_are_refused():
    g = stream_guest()
    for spec, named in REFUSED.items():
        status, text = said(g, spec).split(' ', 1)
        assert status == ('1' if 'has only the CPUs' in text else '2') and named in text.replace('=' + spec, ''), f'{spec}: {status}: {text}'
    assert not said_all(g, 'made'), g.log
