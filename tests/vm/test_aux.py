# SPDX-License-Identifier: GPL-2.0
"""AUX areas, on a PMU that stands for Intel PT and CoreSight: each way to record, in guests of four CPUs."""
import re

from lab import BIG, TOP, aux_guest, path_of, perf, said, said_all, script, trace

CPUS = ('-s', '4')
PARANOID = 'echo 0 >/proc/sys/kernel/perf_event_paranoid\n'
WARNINGS = "\necho \"warnings: $(dmesg | grep -c -E 'WARNING|BUG:')\"\n"


def calm(g):
    """The guest's script has ended, and its kernel did not complain."""
    assert g.status == 0, g.log[-2000:]
    assert said(g, 'warnings') == '0', g.log[-2000:]


def numbers(g, word):
    return [int(number) for number in said(g, word).split()]


# ---- perf beside ringtail, on a PMU that it takes for Intel PT

def perf_guest():
    return aux_guest('aux-perf', 'amd64', '6.1', CPUS, script('aux-perf'))


def test_perf_records_the_simulated_pmu():
    g = perf_guest()
    for name in 'perf-full', 'perf-snapshot', 'perf-sample':
        assert said(g, name) == '0', g.log
        found = trace(g, name)
        assert found['records'] > 50 and not found['backward'], (name, found)
    assert trace(g, 'perf-full')['breaks'] == 0, g.log
    assert said(g, 'warnings') == '0', g.log


def kinds(text):
    """The kinds of AUX records in a file, as perf dumps it."""
    return set(re.findall(r'PERF_RECORD_(AUX\w*|ITRACE_START)', text))


def info(text):
    """The AUXTRACE_INFO record, without what differs from a recording to the next."""
    lines = re.search(r'PERF_RECORD_AUXTRACE_INFO.*\n((?:  .*\n)+)', text).group(1).splitlines()
    return [line.split() for line in lines if not re.search('Time (Shift|Mult|Zero)|Time Mult', line)]


def queues(text):
    """The queues of samples' trace, from ID_INDEX before AUXTRACE_INFO: (idx, cpu), each once."""
    before = text[:text.index('PERF_RECORD_AUXTRACE_INFO')]
    return sorted(set(re.findall(r'idx: (\d+)  cpu: (-?\d+)', before)))


def test_perf_reads_the_same_kinds_of_records():
    """perf() fails where perf warns."""
    g = perf_guest()
    for name in 'full', 'snapshot', 'sample':
        assert said(g, name) == '0', g.log
        ours, theirs = (perf('report', '-D', '-i', path_of(g, path)) for path in (name + '.data', f'perf-{name}.data'))
        assert kinds(ours) == kinds(theirs), f'{name}: {kinds(ours)}, by perf {kinds(theirs)}'
        assert info(ours) == info(theirs), f'{name}: {info(ours)}, by perf {info(theirs)}'
        if name == 'sample':
            assert queues(ours) and queues(ours) == queues(theirs), f'{queues(ours)}, by perf {queues(theirs)}'
        found = trace(g, name)
        assert found['records'] > 50 and not found['backward'] and not found['torn'], (name, found)


# Recordings whose samples perf reads in the guest: of threads, streams, directories, groups that are read.
BY_PERF = {name: ['cpu-clock:u'] for name in
           ('task', 'task-snapshot', 'task-sample', 'task-spe', 'pipe', 'kcore')} | \
          {name: ['cpu-clock:u', 'intel_pt/bytes=256/u', 'task-clock:u'] for name in ('group', 'task-group')}


def test_perf_reads_samples_beside_traces():
    """Dumps would not do: what perf knows of tasks and queues, it only uses to make samples."""
    g = perf_guest()
    for name, events in BY_PERF.items():
        assert said(g, name) == said(g, name + '.script') == '0', f'{name}: {said_all(g, name + ".said")}'
        assert not said_all(g, name + '.said'), f'{name}: {said_all(g, name + ".said")}'
        counts = said(g, name + '.ringtail')
        assert said(g, name + '.perf') == counts, f'{name}: {counts}, by perf {said(g, name + ".perf")}'
        assert sorted(re.findall(r'\d+ (\S+):(?: |$)', counts)) == events, f'{name}: {counts}'


# ---- the matrix: every mode of recording with every way to trace

MODES = {
    'one output': '', 'all CPUs': '-a', '--threads': '--threads', '--threads=SPEC': '--threads=0-1/0-1:2-3/2-3',
    '--aio': '--aio', '-z': '-z', '--threads -z': '--threads -z', '-M': '-M 1M', '--switch-output=SIZE':
    '--switch-output=20K', '--switch-output=signal': '--switch-output=signal', '--overwrite': '--overwrite', 'pipe': '',
}
# Of these a few runs are enough, besides one of each in the long tests.
MORE_MODES = {
    '--threads --aio': '--threads --aio', '--aio -z': '--aio -z', '-i': '-i', '--max-size': '--max-size=100M',
    '--threads=numa': '--threads=numa', '--threads --switch-output=SIZE': '--threads --switch-output=20K',
}
KINDS = ['full', 'snapshot', 'offset', 'sample']
# Milliseconds of a recording that is one of many.
SHORT = {'full': 200, 'sample': 800}
# Cells that are refused, before anything is opened.
REFUSED = {('-M', 'sample'): '-S and -M read the trace at a snapshot, --aux-sample at each sample: choose one'}
# -M is a mode of snapshots.
ABSENT = [('-M', 'full')]


def cell(mode, kind, run, options, short=False):
    """The line that records a cell, under the name KIND-MODE-RUN."""
    event = 'auxsim/bytes=256' + (',offhead' if kind == 'offset' else '') + '/u'
    words = ['EVENT=' + event]
    how = 'snapshot' if kind == 'offset' else kind
    if mode == 'pipe':
        words.append('PIPE=1')
    if mode == '--switch-output=signal':
        words.append('ROTATE=1')
    if mode == '--switch-output=signal' and how != 'snapshot':
        words.append("LOAD='roam 60000 20 2'")  # ended by a signal, when the output was rotated
    elif short and how != 'snapshot' and 'SIZE' not in mode:  # which is to be reached
        words.append(f"LOAD='roam {SHORT[how]} 10 2'")
    if short and how == 'snapshot':
        words.append('GAP=0.05')
    if how == 'snapshot' and mode != '-M':
        options = '-S ' + options
    # A full trace has room, the others overwrite.
    area = '256K' if kind == 'full' else '64K'
    return ' '.join([*words, f'traced {label(mode, kind, run)} {how} -m 64K,{area}', options])


def label(mode, kind, run):
    return f'{kind}{re.sub("[^a-zA-Z]+", "-", "-" + mode)}-{run}'


def cells(modes, some=KINDS):
    return [(mode, kind) for mode in modes for kind in some if (mode, kind) not in ABSENT]


def matrix_script(wanted, runs, short=False):
    modes = MODES | MORE_MODES
    return 'insmod /usr/lib/auxsim.ko || exit 1\n' + PARANOID + '\n'.join(
        cell(mode, kind, run, modes[mode], short) for mode, kind in wanted for run in range(runs)) + WARNINGS


def check_clean(g, name, least=51):
    """A recording that ended well: nothing in it is torn or comes out of order."""
    assert said(g, name) == '0', f'{name}: {said_all(g, name + ".err")}'
    found = trace(g, name)
    assert found['records'] >= least, (name, found)
    for word in 'torn', 'cut', 'backward':
        assert not found[word], (name, word, found)
    return found


def check_full(g, name):
    """All that the PMU gave out is there, once."""
    found = check_clean(g, name)
    for word in 'gaps', 'twice', 'breaks':
        assert not found[word], (name, word, found)
    length, published = numbers(g, name + '.bytes')
    assert length == published, f'{name}: {length} of {published} bytes'
    assert numbers(g, name + '.counted') == [0, 0, 0], (name, said(g, name + '.counted'))


def takes(g, name):
    """The lines about snapshots in the log: (number, ring, active, new, written)."""
    return [(int(f[0]), f[1], f[4] == 'yes', int(f[5]), int(f[7]))
            for f in (line.split() for line in said_all(g, name + '.take'))]


def check_snapshots(g, name, number=3, offset=False, contiguous=True):
    """
    Inside the windows nothing is missing, between them as much as their positions say, and the log has the figures.
    With heads that are offsets the positions may be wrong by whole turns, never by less.
    """
    found = check_clean(g, name)
    assert found['snapshots'] == number and not found['bad'], (name, found)
    for word in 'twice', 'jumps', 'again':
        assert not found[word], (name, word, found)
    assert not (contiguous and found['holes']), (name, found)
    wrong = found['over'] - found['skipped']
    assert (wrong % (65536 // 32) if offset else wrong) == 0, f'{name}: positions skip {found["over"]}, the trace {found}'
    rows = takes(g, name)
    written = sum(row[4] for row in rows)
    assert written == numbers(g, name + '.bytes')[0], f'{name}: the log has {written} bytes: {rows}'
    assert all(row[4] <= row[3] for row in rows), (name, rows)
    for which in range(1, number + 1):
        assert sum(row[4] for row in rows if row[0] == which) > 0, f'{name}: snapshot {which} is empty: {rows}'
    return rows


def check_samples(g, name, short=False):
    """
    The trace of each sample is whole, and no sample has older trace than the one before it.
    """
    found = check_clean(g, name, least=1 if short else 51)
    assert found['windows'] >= (1 if short else 5) and not found['bad'], (name, found)
    for word in 'jumps', 'again':
        assert not found[word], (name, word, found)


def check_refused(g, name, message):
    assert said(g, name) == '2', f'{name}: {said(g, name)}'
    assert said_all(g, name + '.err') == [f'ringtail record: {message}'], said_all(g, name + '.err')
    assert said(g, name + '.files') == '0', name


def check_cell(g, mode, kind, run, short=False):
    name = label(mode, kind, run)
    if (mode, kind) in REFUSED:
        check_refused(g, name, REFUSED[mode, kind])
    elif kind == 'full':
        check_full(g, name)
    elif kind == 'sample':
        check_samples(g, name, short)
    else:
        check_snapshots(g, name, offset=kind == 'offset')
    if 'switch-output' in mode and (mode, kind) not in REFUSED:
        assert int(said(g, name + '.files')) > 1, f'{name}: one file'


def check_cells(g, wanted, runs=1, short=False):
    """All that is wrong, cell by cell."""
    calm(g)
    wrong = []
    for mode, kind in wanted:
        for run in range(runs):
            try:
                check_cell(g, mode, kind, run, short)
            except AssertionError as reason:
                wrong.append(f'{mode} x {kind}, run {run}: {reason}')
    assert not wrong, '\n'.join([f'{len(wrong)} of {len(wanted) * runs}:', *wrong])


# Heads that are offsets differ only in how a position is found.
MATRIX = cells(MODES, ['full', 'snapshot', 'sample']) + cells(['one output', 'all CPUs', '-M'], ['offset'])


def matrix_guest():
    return aux_guest('aux-matrix', 'amd64', '6.1', CPUS, matrix_script(MATRIX, 1))


def test_full_trace_in_every_mode():
    check_cells(matrix_guest(), [c for c in MATRIX if c[1] == 'full'])


def test_aux_snapshots_in_every_mode():
    check_cells(matrix_guest(), [c for c in MATRIX if c[1] in ('snapshot', 'offset')])


def test_aux_samples_in_every_mode():
    check_cells(matrix_guest(), [c for c in MATRIX if c[1] == 'sample'])


def matrix_table():
    """The section of docs/MATRIX.md about AUX areas, as the tests above hold."""
    columns = {'full': 'full trace', 'snapshot': 'snapshot (`-S`)', 'sample': 'sample (`--aux-sample`)'}
    notes = sorted(set(REFUSED.values()))
    lines = ['| | ' + ' | '.join(columns.values()) + ' |', '| --- |' + ' :-: |' * len(columns)]
    for mode in MODES:
        marks = ['as snapshot' if (mode, kind) in ABSENT else
                 f'[A{notes.index(REFUSED[mode, kind]) + 1}]' if (mode, kind) in REFUSED else '✓' for kind in columns]
        name = {'all CPUs': '`-a`', 'one output': 'one output', 'pipe': '`-o -`'}.get(mode, f'`{mode}`')
        lines.append(f'| {name} | ' + ' | '.join(marks) + ' |')
    return '\n'.join(lines + [''] + [f'- A{i + 1}: `{note}`' for i, note in enumerate(notes)]) + '\n'


def test_aux_table_of_the_matrix():
    with open(TOP + '/docs/MATRIX.md', encoding='utf-8') as page:
        text = page.read()
    assert matrix_table() in text, f'docs/MATRIX.md should have:\n{matrix_table()}'


def many_runs(name, options, wanted):
    """Twenty short recordings of each cell, two of each in a guest."""
    records = 0
    for part in range(10):
        g = aux_guest(f'{name}-{part}', 'amd64', '6.1', options, matrix_script(wanted, 2, short=True) + f'# {part}\n')
        records += sum(int(n) for n in re.findall(r'axscheck: records=(\d+)', g.log))
        # Not a sign that it hangs, since a guest takes long.
        print(f'    {name}: {2 * (part + 1)} runs of {len(wanted)} cells, {records} records', flush=True)
        check_cells(g, wanted, 2, short=True)


def long_aux_matrix_in_many_runs():
    many_runs('aux-runs', CPUS, cells(MODES))


def long_aux_matrix_in_many_runs_on_16_cpus_and_two_nodes():
    many_runs('aux-runs-big', (*BIG, '-M', '3072'), MATRIX)


def long_aux_in_more_modes():
    wanted = cells(MORE_MODES)
    check_cells(aux_guest('aux-more', 'amd64', '6.1', CPUS, matrix_script(wanted, 1)), wanted)


def long_aux_of_16_cpus_and_two_nodes():
    wanted = cells(MODES | MORE_MODES)
    check_cells(aux_guest('aux-big', 'amd64', '6.1', (*BIG, '-M', '3072'), matrix_script(wanted, 1)), wanted)


ACTION_SCRIPT = '''
EVENT=auxsim/bytes=256,aux-action=start-paused/u traced silent full -m 64K,256K
EVENT='{auxsim/bytes=256,aux-action=start-paused/u,cpu-clock/aux-action=resume/u}' traced resumed full -c 10000000 -m 64K,256K
'''


def guest_6_12():
    return aux_guest('aux-6.12', 'amd64', '6.12', CPUS, matrix_script(cells(MODES), 1) + ACTION_SCRIPT)


def long_aux_of_kernel_6_12():
    check_cells(guest_6_12(), cells(MODES))


def long_aux_of_kernel_6_12_starts_paused():
    """Debian's 6.12 has aux-action: an event that starts paused traces when another one resumes it."""
    g = guest_6_12()
    assert said(g, 'silent') == '0' and numbers(g, 'silent.bytes') == [0, 0], g.log
    assert check_clean(g, 'resumed')['records'] > 50
    length, published = numbers(g, 'resumed.bytes')
    assert length == published, (length, published)


def long_aux_of_arm64():
    wanted = cells(MODES)
    check_cells(aux_guest('aux-arm64', 'arm64', None, CPUS, matrix_script(wanted, 1)), wanted)


# ---- what the kernel drops, sinks of several CPUs, filters

PMU_SCRIPT = '''insmod /usr/lib/auxsim.ko || exit 1
# A reader that stands still for a while is too late.
EVENT=auxsim/bytes=4096/u traced truncated full -m 64K,8K
EVENT=auxsim/bytes=256,odd,flush/u traced odd full -m 64K,48
EVENT=auxsim/bytes=256,trunc=7,flush/u traced stopped full -m 64K,256K
# So late that not even the records of the stops have room.
KEEP=1 STOPPED=30 EVENT=auxsim/bytes=64/u LOAD='roam 40000 1 8 4' \\
	traced unreported full --fail-on-loss -m 64K,16K
ringtail report --stats -i unreported.data 2>&1 >/dev/null | sed 's/^/unreported.report: /'
rm -rf unreported.*
PAUSE=2 traced paused snapshot -S -m 64K,64K
for filter in 'filter calculate @ /usr/bin/roam' 'filter never_called @ /usr/bin/roam' \\
	'tracestop never_called @ /usr/bin/roam' 'filter 0x1010/0x20 @ /usr/bin/roam'; do
	FILTER=$filter LOAD='roam 300' traced filter full -m 64K,256K
	echo "filters: $(cat /sys/module/auxsim/parameters/filters)"
done
rmmod auxsim
for options in "sink=4" "sink=4 busy=1" "sink=1 lazy=1" "sink=4 lazy=1"; do
	insmod /usr/lib/auxsim.ko $options || exit 1
	name=$(echo "$options" | tr -d ' =')
	traced "$name-all" snapshot -a -S -m 64K,64K
	LOAD='roam 60000 50' traced "$name-task" snapshot -S -m 64K,64K
	traced "$name-full" full -m 64K,256K
	rmmod auxsim
done
'''


def pmu_guest():
    return aux_guest('aux-pmu', 'amd64', '6.1', CPUS, PARANOID + PMU_SCRIPT + WARNINGS)


def test_truncated_trace_is_counted_and_goes_on():
    g = pmu_guest()
    calm(g)
    found = check_clean(g, 'truncated')
    truncated, lost, restarts = numbers(g, 'truncated.counted')
    # One record does not fit, each time; again and again, where the event restarts before there is room. What an event
    # lost at its end no number shows.
    assert found['twice'] == 0 and found['missing'] >= found['gaps'] > 0, found
    assert found['missing'] <= truncated <= found['missing'] + found['sessions'], (found, truncated)
    assert lost == 0, lost
    assert restarts >= found['gaps'] / 2, f'{restarts} restarts, {truncated} times truncated'
    assert 'truncated' in ' '.join(said_all(g, 'truncated.err')), said_all(g, 'truncated.err')
    length, published = numbers(g, 'truncated.bytes')
    assert length == published, (length, published)


def test_lost_records_of_stops_are_a_loss_of_unknown_size():
    g = pmu_guest()
    found, err = trace(g, 'unreported'), '\n'.join(said_all(g, 'unreported.err'))
    stops, records = numbers(g, 'unreported.unknown')
    assert found['gaps'] > 0 and not found['twice'], found
    assert stops > 0 and records > 0, (stops, records)
    assert said(g, 'unreported') == '3', said(g, 'unreported')
    assert 'areas, an unknown amount lost' in err and ' B lost' not in err, err
    # No samples: the ring has none.
    report = ' '.join(said_all(g, 'unreported.report'))
    assert 'records of stops and switches' in report and 'sample' not in report, report
    assert re.search(r'lost [\d,]+ records of auxsim.* on CPU \d: no room in the ring', err), err
    assert re.search(r'data: 0 samples, 0 lost, [\d,]+ other records lost', err), err
    assert 'larger rings beside the AUX areas lose fewer records: try -m 1M' in err, err


def test_aux_events_that_the_kernel_stops_run_again():
    g = pmu_guest()
    found = check_clean(g, 'stopped')
    truncated, _, restarts = numbers(g, 'stopped.counted')
    assert not found['gaps'] and not found['twice'], found
    assert truncated > 10 and restarts > 5, (truncated, restarts)
    length, published = numbers(g, 'stopped.bytes')
    assert length == published, (length, published)


def test_aux_snapshots_do_not_reach_back_over_a_pause():
    g = pmu_guest()
    check_snapshots(g, 'paused')
    for number in '1', '2', '3':
        times = [[float(time) for time in line.split()[8:10]] for line in said_all(g, 'paused.take')
                 if line.split()[0] == number and line.split()[7] != '0' and '-' not in line.split()[8:10]]
        assert times and max(time[1] for time in times) - min(time[0] for time in times) < 2, (number, times)


def test_trace_of_odd_length_is_whole():
    g = pmu_guest()
    found = check_clean(g, 'odd')
    assert 'ringtail: -m ,48 is rounded up to 256.0 KB, a power of two of pages' in said_all(g, 'odd.err'), said_all(g, 'odd.err')
    assert not found['gaps'] and not found['twice'], found
    length, published = numbers(g, 'odd.bytes')
    # The last record of a ring is padded.
    assert published <= length <= published + 8 * int(CPUS[1]), (length, published)


def test_address_filters():
    g = pmu_guest()
    assert said_all(g, 'filter') == ['0'] * 4, said_all(g, 'filter.err')
    kept = [int(re.search(r'records=(\d+)|$', line).group(1) or 0) for line in said_all(g, 'filter.trace')]
    assert kept[0] > 50 and kept[1] == 0 and kept[2] > 50 and kept[3] == 0, kept
    ranges = [line.split() for line in said_all(g, 'filters')]
    assert [words[0] for words in ranges] == ['filter', 'filter', 'stop', 'filter'], ranges
    for address in ranges[0][1], ranges[1][1], ranges[2][1]:
        assert int(address, 16) > 4096, ranges
    assert ranges[3][2] == '0x20' and int(ranges[3][1], 16) % 4096 == 0x10, ranges


def test_sinks_of_several_cpus():
    """A sink keeps its newest trace, and forgets it when it starts again: numbers are missing."""
    g = pmu_guest()
    calm(g)
    for sink in 'sink4', 'sink4busy1', 'sink1lazy1', 'sink4lazy1':
        for kind in 'all', 'task':
            if kind == 'task' and 'lazy' in sink and trace(g, sink + '-task')['records'] <= 50:
                continue  # of the thread's last stay on a CPU alone
            found = check_clean(g, f'{sink}-{kind}')
            assert not found['bad'] and (found['snapshots'] == 3 or 'lazy' in sink), (sink, kind, found)
            for word in 'twice', 'again':
                assert not found[word], (sink, kind, word, found)
            if kind == 'task':
                assert not found['jumps'], (sink, kind, found)
        if 'busy' in sink:
            continue
        found = check_clean(g, sink + '-full')
        assert not found['twice'], (sink, found)
        length, published = numbers(g, sink + '-full.bytes')
        assert length == published, (sink, length, published)


# ---- snapshots of a thread that migrates

AREA = 16 << 10
# The recorder has a CPU of its own: on that of the thread it would take its place at each snapshot.
# With lazy=1 there is trace of one stay on a CPU alone.
ROAM_SCRIPT = '''export EVENT=auxsim/bytes=256/u PREFIX='taskset 10' GAP=0.4 SNAPSHOTS=20
insmod /usr/lib/auxsim.ko || exit 1
export LOAD='roam 120000 30 1 4'
traced lazy0-area snapshot -S -m 64K,16K
traced lazy0-all snapshot -S --snapshot-scope=all -m 64K,16K
SNAPSHOTS=6 traced lazy0-active snapshot -S --snapshot-scope=active -m 64K,16K
SNAPSHOTS=6 traced lazy0-window snapshot -S --snapshot-scope=window:200ms -m 64K,16K
rmmod auxsim
insmod /usr/lib/auxsim.ko lazy=1 || exit 1
export LOAD='roam 120000 150 1 4'
traced lazy1-area snapshot -S -m 64K,16K
traced lazy1-all snapshot -S --snapshot-scope=all -m 64K,16K
'''


def roam_guest():
    return aux_guest('aux-roam', 'amd64', '6.1', ('-s', '5'), PARANOID + ROAM_SCRIPT + WARNINGS)


def sizes(g, name):
    """Bytes of each snapshot, in order. One without trace has no AUXTRACE record."""
    rows = takes(g, name)
    return [sum(row[4] for row in rows if row[0] == number) for number in range(1, rows[-1][0] + 1)]


def test_snapshots_of_a_migrating_thread():
    g = roam_guest()
    calm(g)
    names = ['lazy0-area', 'lazy0-all', 'lazy0-active', 'lazy0-window', 'lazy1-area', 'lazy1-all']
    table = {name: sizes(g, name) for name in names}
    for name, each in table.items():
        print(f'    {name:13}', *(f'{size / 1024:5.1f}' for size in each), 'KB', flush=True)
    for name in names:
        found = check_clean(g, name)
        for word in 'twice', 'jumps', 'again', 'bad':
            assert not found[word], (name, word, found)
        # The other scopes write what there is of each ring, of which some was overwritten.
        if name.endswith('-area'):
            assert not found['holes'], (name, found)
        if name.startswith('lazy0'):
            assert found['over'] == found['skipped'], (name, found)
    # Enough trace was made for a whole window each time.
    assert min(table['lazy0-area']) >= AREA * 3 / 4 and max(table['lazy0-area']) <= AREA, table['lazy0-area']
    assert max(table['lazy0-all']) > 2 * AREA, table['lazy0-all']
    assert max(table['lazy1-area']) <= AREA, table['lazy1-area']
    # A thread that has just come to a CPU has no trace there.
    assert sum(size > 0 for size in table['lazy1-area']) >= 12, table['lazy1-area']
    check_log_of_snapshots(g)


def check_log_of_snapshots(g):
    for name in 'lazy0-area', 'lazy0-all', 'lazy1-area':
        rows = takes(g, name)
        running = [sum(row[2] for row in rows if row[0] == number) for number in range(1, 21)]
        assert max(running) == 1 and sum(running) >= 10, f'{name}: rings of running events: {running}'


# ---- what goes wrong

STORM_HEAD = '''insmod /usr/lib/auxsim.ko || exit 1
up() {
	for try in $(seq 300); do
		ringtail ctl --pid $1 ping >/dev/null 2>&1 && return
		sleep 0.2
	done
}
# finished NAME: the recording is readable, and its trace whole.
finished() {
	ringtail report --stats -i $1.data >/dev/null 2>$1.said; echo "$1.report: $?"
	sed "s/^/$1.said: /" $1.said
	rm -rf raw
	ringtail aux extract -i $1.data -o raw 2>&1 | sed "s/^/$1.extract: /"
	ringtail dump -i $1.data 2>/dev/null | sed -n 's/.* AUXTRACE .* size=\\(0x[0-9a-f]*\\) offset=\\(0x[0-9a-f]*\\) reference=\\(0x[0-9a-f]*\\) .* cpu=\\([0-9]*\\) .*/cpu\\4 \\1 \\2 \\3/p' >list
	case ${2:-} in
	full) echo "$1.trace: $(axscheck raw/* | tail -n 1)" ;;
	*) echo "$1.trace: $(axscheck -w list raw | tail -n 1)" ;;
	esac
	ls -l $1.data | awk -v name=$1 '{ print name ".size: " $5 }'
	cat raw/* 2>/dev/null | wc -c | sed "s/^/$1.raw: /"
	rm -rf $1.data raw list
}
'''

STORM_SCRIPT = '''mkfifo commands answers
exec 10<>commands 11<>answers
ringtail record -S --control fd:10,11 -e auxsim/bytes=64/u -m 64K,4K -o many.data -- roam 600000 2>many.err & pid=$!
up $pid
begun=$(cut -d' ' -f1 /proc/uptime)
for number in $(seq $MANY); do
	echo snapshot >&10
	answer='none in 60 s'
	read -r -t 60 answer <&11
	[ "$answer" = ack ] || echo "many.odd: $number: $answer"
done
echo "many.seconds: $begun $(cut -d' ' -f1 /proc/uptime)"
echo "many.taken: $number"
kill -TERM $pid; wait $pid; echo "many: $?"; tail -n 2 many.err; exec 10>&- 11>&-; finished many

ringtail record -S -e auxsim/bytes=64/u -m 64K,4K -o storm.data -- roam 600000 2>storm.err & pid=$!
up $pid
for number in $(seq $SIGNALS); do
	kill -USR2 $pid
done
kill -TERM $pid; wait $pid; echo "storm: $?"; echo "storm.taken: $(grep -c 'snapshot [0-9]*:' storm.err)"; tail -n 1 storm.err; finished storm

ringtail record -S -a -e auxsim/bytes=64/ -m 64K,16K -o offline.data -- roam 200000 2>offline.err & pid=$!
up $pid
for round in $(seq $ROUNDS); do
	kill -USR2 $pid
	echo 0 >/sys/devices/system/cpu/cpu3/online
	ringtail ctl --pid $pid snapshot
	echo 1 >/sys/devices/system/cpu/cpu3/online
	sleep 0.3
	ringtail ctl --pid $pid snapshot
done
kill -TERM $pid; wait $pid; echo "offline: $?"; sed 's/^/offline.err: /' offline.err; finished offline

ringtail record -a -e auxsim/bytes=64/ -m 64K,64K -o hotplug.data -- roam 3000 2>hotplug.err & pid=$!
up $pid
for round in 1 2; do
	echo 0 >/sys/devices/system/cpu/cpu3/online
	sleep 0.1
	echo 1 >/sys/devices/system/cpu/cpu3/online
	sleep 0.3
done
kill -TERM $pid; wait $pid; echo "hotplug: $?"; sed 's/^/hotplug.err: /' hotplug.err; finished hotplug full

for end in $(seq $ENDS); do
	ringtail record -S -e auxsim/bytes=64/u -m 64K,16K -o exit.data -- roam 300 10 3 2>exit.err & pid=$!
	up $pid
	while kill -USR2 $pid 2>/dev/null; do :; done
	wait $pid; echo "exit: $?"
	finished exit
done
'''

ENDS_SCRIPT = '''EVENT=auxsim/bytes=64/u traced page full -m 64K,4K
EVENT=auxsim/bytes=64/u traced page-snapshot snapshot -S -m 64K,4K
EVENT=auxsim/bytes=256/u LOAD='roam 500' traced large full -m 64K,1G -C 0
EVENT=auxsim/bytes=256/u LOAD='roam 60000' traced large-snapshot snapshot -m 64K,1G -S -C 0
# Four of them are more than there is memory for.
EVENT=auxsim/bytes=256/u LOAD='roam 300' traced huge full -m 64K,1G

before=$(cat /sys/module/auxsim/parameters/published)
ringtail record -e auxsim/bytes=256/u -m 64K,64K -o killed.data -- roam 3000 2>/dev/null & pid=$!
up $pid; sleep 1; kill -KILL $pid; wait $pid; finished killed full
ringtail record -S -e auxsim/bytes=256/u -m 64K,64K -o killed-snapshot.data -- roam 30000 2>/dev/null & pid=$!
up $pid; sleep 0.5; ringtail ctl --pid $pid snapshot; sleep 0.3; kill -USR2 $pid; kill -KILL $pid; wait $pid; finished killed-snapshot

mkdir small; mount -t tmpfs -o size=256K t small
before=$(cat /sys/module/auxsim/parameters/published)
ringtail record -e auxsim/bytes=4096/u -m 64K,256K -o small/full.data -- roam 3000 2>full.err; echo "full-disk: $?"
echo "full-disk.published: $(($(cat /sys/module/auxsim/parameters/published) - before))"
sed 's/^/full-disk.err: /' full.err
cp small/full.data full-disk.data; rm small/full.data; finished full-disk full
ringtail record -S -e auxsim/bytes=4096/u -m 64K,256K -o small/full.data -- roam 30000 2>full.err & pid=$!
up $pid; sleep 0.5
for number in 1 2 3 4; do
	ringtail ctl --pid $pid snapshot; sleep 0.3
done
kill -TERM $pid; wait $pid; echo "full-disk-snapshot: $?"
sed 's/^/full-disk-snapshot.err: /' full.err
cp small/full.data full-disk-snapshot.data; finished full-disk-snapshot
'''


OUTPUTS_SCRIPT = '''ringtail record -S -e auxsim/bytes=256/u -m 64K,64K -o moved.data -- roam 60000 10 2>moved.err & pid=$!
up $pid; ringtail ctl --pid $pid snapshot >/dev/null
mv moved.data elsewhere.data
for number in 1 2 3; do
	ringtail ctl --pid $pid snapshot >/dev/null
done
echo "moved.alive: $(kill -0 $pid && echo yes)"
kill -TERM $pid; wait $pid; echo "moved: $?"; sed 's/^/moved.err: /' moved.err
[ -e moved.data ] || mv elsewhere.data moved.data
finished moved

ringtail record -S -e auxsim/bytes=256/u -m 64K,64K -o gone.data -- roam 60000 10 2>gone.err & pid=$!
up $pid; rm gone.data
for number in 1 2 3; do
	ringtail ctl --pid $pid snapshot >/dev/null
done
kill -TERM $pid; wait $pid; echo "gone: $?"; sed 's/^/gone.err: /' gone.err

ringtail record -Se --switch-output=30K -e auxsim/bytes=256/u -e context-switches -c 1 -m 64K,64K -o rotated.data -- roam 600000 5 2>rotated.err & pid=$!
up $pid
for number in $(seq 40); do
	ringtail ctl --pid $pid snapshot >/dev/null || break
done
echo "rotated.taken: $number"
mv rotated.data elsewhere.data
kill -TERM $pid; wait $pid; echo "rotated: $?"

# Waits for trace, since a snapshot of less than 64 KB fits into a pipe that nobody reads.
more_than_a_pipe() {
	begun=$(cat /sys/module/auxsim/parameters/published)
	for try in $(seq 100); do
		[ $(($(cat /sys/module/auxsim/parameters/published) - begun)) -lt 400000 ] || break
		sleep 0.2
	done
}

# stalled NAME OPTION REQUEST...: nobody reads the pipe.
stalled() {
	(ringtail record $2 -e auxsim/bytes=1024/u -m 64K,256K -o - -- roam 60000 10 2>$1.err & echo $! >pid; wait) |
		sleep 120 & sleep 0.5
	name=$1 options=$2; shift 2
	pid=$(cat pid); up $pid
	more_than_a_pipe
	for number in $*; do
		kill -USR2 $pid; sleep 0.7
	done
	echo "$name.answers: $(ringtail ctl --pid $pid --timeout 60 ping >/dev/null && echo yes)"
	case $options in
	*--duration*) ;;
	*) kill -TERM $pid ;;
	esac
	for try in $(seq 200); do
		grep -q 'the output is slow' $name.err && break
		sleep 0.2
	done
	kill -TERM $pid
	for try in $(seq 100); do
		[ -e /proc/$pid ] || break
		sleep 0.2
	done
	echo "$name.gone: $([ -e /proc/$pid ] || echo yes)"; sed "s/^/$name.err: /" $name.err
	killall -KILL ringtail 2>/dev/null
	killall sleep
}
stalled stalled -S 1 2 3
stalled stalled-end -Se
stalled stalled-duration '-S --duration=20s' 1 2

# Nobody reads the pipe until the second snapshot is asked for and the end, too.
(ringtail record -S -e auxsim/bytes=1024/u -m 64K,256K -o - -- roam 60000 10 2>late.err & echo $! >pid; wait) |
	(while [ ! -e read ]; do sleep 0.2; done; cat >late.data) & sleep 0.5
pid=$(cat pid); up $pid
more_than_a_pipe
kill -USR2 $pid; sleep 1; kill -USR2 $pid; sleep 1; kill -TERM $pid; sleep 2
touch read; wait
sed 's/^/late.err: /' late.err; finished late

ringtail record -S --max-size=150K -e auxsim/bytes=256/u -m 64K,64K -o most.data -- roam 60000 5 2>most.err & pid=$!
up $pid
for number in $(seq 40); do
	ringtail ctl --pid $pid snapshot >/dev/null || break
done
kill -TERM $pid 2>/dev/null; wait $pid; echo "most: $?"; sed 's/^/most.err: /' most.err; finished most

ringtail record -e auxsim/bytes=4096/u -m 64K,16K -o switched.data -- roam 600000 10 2>switched.err & pid=$!
up $pid
for number in $(seq 10); do
	ringtail ctl --pid $pid disable >/dev/null
	before=$(cat /sys/module/auxsim/parameters/published)
	sleep 0.2
	echo "switched.off: $(($(cat /sys/module/auxsim/parameters/published) - before))"
	ringtail ctl --pid $pid enable >/dev/null
	sleep 0.2
	echo "switched.on: $(($(cat /sys/module/auxsim/parameters/published) - before))"
done
kill -TERM $pid; wait $pid; echo "switched: $?"; finished switched full
'''


def storm_script(many, signals, rounds, ends):
    return PARANOID + f'MANY={many} SIGNALS={signals} ROUNDS={rounds} ENDS={ends}\n' + STORM_HEAD + STORM_SCRIPT + WARNINGS


def check_readable(g, name):
    for status in said_all(g, name + '.report'):
        assert status == '0', f'{name}: report: {status}: {said_all(g, name + ".said")}'
    assert not said_all(g, name + '.extract'), said_all(g, name + '.extract')
    for line in said_all(g, name + '.trace'):
        found = {key: int(value) for key, value in re.findall(r'(\w+)=(\d+)', line)}
        for word in 'torn', 'backward', 'twice', 'cut', 'jumps', 'bad':
            assert not found.get(word), (name, word, line)


def check_storm(g, many):
    calm(g)
    for name in 'many', 'storm', 'offline', 'hotplug', 'exit':
        assert set(said_all(g, name)) == {'0'}, (name, said_all(g, name), said_all(g, name + '.err'))
        check_readable(g, name)
    assert not said_all(g, 'many.odd'), said_all(g, 'many.odd')[:5]
    assert said(g, 'many.taken') == str(many), g.log
    for name in 'many', 'storm':
        found = trace(g, name)
        assert found['over'] == found['skipped'], (name, found)
        assert found['snapshots'] > 1, (name, found)
    # A window of 4 KB may be empty.
    assert trace(g, 'many')['snapshots'] > many * 0.9, trace(g, 'many')
    found = trace(g, 'hotplug')
    assert found['gaps'] == 0, found


def test_storms_of_aux_snapshots():
    check_storm(aux_guest('aux-storm', 'amd64', '6.1', CPUS, storm_script(500, 6000, 2, 3)), 500)


def long_storms_of_aux_snapshots():
    check_storm(aux_guest('aux-storm-6.1', 'amd64', '6.1', CPUS, storm_script(2000, 200000, 20, 20)), 2000)


def long_storms_of_aux_snapshots_on_6_12():
    check_storm(aux_guest('aux-storm-6.12', 'amd64', '6.12', CPUS, storm_script(2000, 200000, 20, 20)), 2000)


def ends_guest():
    return aux_guest('aux-ends', 'amd64', '6.1', (*CPUS, '-M', '3072'), PARANOID + STORM_HEAD + ENDS_SCRIPT + WARNINGS)


def test_aux_areas_of_a_page_and_of_a_gigabyte():
    g = ends_guest()
    calm(g)
    found = check_clean(g, 'page')
    assert not found['twice'], found
    check_full(g, 'large')
    check_snapshots(g, 'page-snapshot')
    check_snapshots(g, 'large-snapshot')
    assert said(g, 'huge') in '012' and said_all(g, 'huge.err'), g.log
    if said(g, 'huge') == '0':
        check_full(g, 'huge')


def test_killed_recorders_of_aux_areas():
    g = ends_guest()
    for name in 'killed', 'killed-snapshot':
        check_readable(g, name)
        assert trace(g, name)['records'] > 50, name
    assert trace(g, 'killed')['gaps'] == 0, trace(g, 'killed')


def test_aux_areas_on_a_full_disk():
    g = ends_guest()
    for name in 'full-disk', 'full-disk-snapshot':
        assert said(g, name) not in ('0', '139', '134'), (name, said(g, name))
        assert said_all(g, name + '.err'), name
        check_readable(g, name)
        assert int(said(g, name + '.size')) <= 256 << 10, name
        assert trace(g, name)['records'] > 50, name
    # The trace that was read and not written is counted. The message rounds it to a tenth of a KB.
    # If an area was full meanwhile, what the hardware did not write comes in addition.
    size, lost = re.search(r'trace: ([\d.]+) KB of 4 AUX areas, (?:at least )?([\d.]+) KB lost',
                           '\n'.join(said_all(g, 'full-disk.err'))).groups()
    raw, published = int(said(g, 'full-disk.raw')), int(said(g, 'full-disk.published'))
    assert abs(float(size) * 1024 - raw) <= 103, f'{raw} bytes are there, it says {size} KB'
    assert abs(raw + float(lost) * 1024 - published) <= 103, f'{raw} bytes and {lost} KB of {published}'
    # Of the snapshot that did not fit, too.
    lost = re.search(r'AUX areas, (.*) lost', '\n'.join(said_all(g, 'full-disk-snapshot.err'))).group(1)
    assert lost != '0 B', said_all(g, 'full-disk-snapshot.err')


def test_outputs_of_aux_snapshots_that_move_fill_or_stall():
    g = aux_guest('aux-outputs', 'amd64', '6.1', CPUS, PARANOID + STORM_HEAD + OUTPUTS_SCRIPT + WARNINGS)
    calm(g)
    assert said(g, 'moved.alive') == 'yes' and said(g, 'moved') == '0', g.log
    check_readable(g, 'moved')
    assert trace(g, 'moved')['snapshots'] == 4, trace(g, 'moved')
    assert said(g, 'gone') == '1' and 'deleted' in '\n'.join(said_all(g, 'gone.err')), g.log
    assert said(g, 'rotated.taken') == '40' and said(g, 'rotated') == '0', g.log
    for name in 'stalled', 'stalled-end', 'stalled-duration':
        found = said_all(g, name + '.err')
        assert said(g, name + '.gone') == said(g, name + '.answers') == 'yes', found
        left = re.search(r'is slow: ([\d.]+) (KB|MB) are still to be written', '\n'.join(found))
        assert left and float(left.group(1)) > 0, found
    check_readable(g, 'late')
    assert trace(g, 'late')['snapshots'] == 2, (trace(g, 'late'), said_all(g, 'late.err'))
    # It ends with the snapshot that reaches the size.
    assert said(g, 'most') == '0' and '--max-size' in '\n'.join(said_all(g, 'most.err')), said_all(g, 'most.err')
    size, number = int(said(g, 'most.size')), trace(g, 'most')['snapshots']
    assert 150 << 10 <= size < (150 << 10) + 2 * size // number, (size, trace(g, 'most'))
    assert said(g, 'switched') == '0', g.log
    assert said_all(g, 'switched.off') == 10 * ['0'], said_all(g, 'switched.off')
    assert all(int(more) > 0 for more in said_all(g, 'switched.on')), said_all(g, 'switched.on')
    check_readable(g, 'switched')


TRIGGER_SCRIPT = '''ringtail record -S --trigger every:200ms -e auxsim/bytes=256/u -m 64K,64K -o asked.data -- roam 3000 2>asked.err; echo "asked: $?"
sed 's/^/asked.err: /' asked.err
ringtail script --header -i asked.data | sed -n 's/^# snapshot.*, \\(.*\\)/asked.by: \\1/p; s/^#   trace .* in /asked.took: /p'
finished asked

faults() {
	awk '{ print $10 }' /proc/$pid/task/$pid/stat
}
ringtail record -S --snapshot-scope=all -a -e auxsim/bytes=16384/ -m 64K,1M -o first.data 2>first.err & pid=$!
up $pid; sleep 2
before=$(faults); ringtail ctl --pid $pid snapshot >/dev/null; echo "first.faults: $(($(faults) - before))"
kill -TERM $pid; wait $pid; finished first
'''


def trigger_guest():
    return aux_guest('aux-triggers', 'amd64', '6.1', CPUS, PARANOID + STORM_HEAD + TRIGGER_SCRIPT + WARNINGS)


def test_first_aux_snapshot_waits_for_no_pages():
    g = trigger_guest()
    check_readable(g, 'first')
    assert trace(g, 'first')['records'] > 10000, trace(g, 'first')
    # 256 pages of each area that is read, and as many of its copy.
    assert int(said(g, 'first.faults')) < 200, said(g, 'first.faults')


def test_triggers_of_aux_snapshots():
    g = trigger_guest()
    calm(g)
    assert said(g, 'asked') == '0', g.log
    check_readable(g, 'asked')
    assert trace(g, 'asked')['snapshots'] > 2, (trace(g, 'asked'), said_all(g, 'asked.err'))
    assert len(said_all(g, 'asked.by')) > 2, g.log
    assert all(took != '0.0 ms' for took in said_all(g, 'asked.took')), said_all(g, 'asked.took')


def long_aux_memory():
    """Guests with little memory: what cannot be had is said."""
    text = PARANOID + 'insmod /usr/lib/auxsim.ko || exit 1\n' + '\n'.join(
        f"LOAD='roam 300' traced size-{size} full -m 64K,{size}" for size in ('64M', '256M', '1G')) + WARNINGS
    g = aux_guest('aux-memory', 'amd64', '6.1', (*CPUS, '-M', '512'), text)
    calm(g)
    for size in '64M', '256M', '1G':
        if said(g, 'size-' + size) == '0':
            check_full(g, 'size-' + size)
        else:
            assert said(g, 'size-' + size) in '12' and said_all(g, f'size-{size}.err'), g.log
