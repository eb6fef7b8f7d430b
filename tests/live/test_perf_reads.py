# SPDX-License-Identifier: Apache-2.0
"""perf opens files of ringtail without a message, and finds the same samples and symbols."""
import difflib
import os
import re
import subprocess
import sys

from lab import Skip, interrupt, need_root, need_tracefs, perf_programs, running, scaled, stat, table, wait_for, work

RATE = ['-F', '1999']
NAMES = {'parse', 'matrix', 'digest'}  # of the workload's children

# name: (options of record, with a command?, needs)
OPTION_SETS = {
    'default event': (['-c', '500000'], None),
    'cpu-clock': (['-e', 'cpu-clock', *RATE], None),
    'user space only': (['-e', 'cpu-clock:u', *RATE], None),
    'system-wide': (['-a', '-e', 'cpu-clock', *RATE], need_root),
    'callchains': (['-g', '-e', 'cpu-clock', *RATE], None),
    'system-wide callchains': (['-a', '-g', '-e', 'cpu-clock', *RATE], need_root),
    'dwarf stacks': (['--call-graph', 'dwarf,4096', '-e', 'cpu-clock', '-F', '299'], None),
    'every page fault': (['-e', 'page-faults', '-c', '1'], None),
    'two events': (['-e', 'cpu-clock,page-faults', *RATE], None),
    'two options -e': (['-e', 'cpu-clock', '-e', 'minor-faults', '-c', '10000'], None),
    'group': (['-e', '{task-clock,page-faults}', '-c', '1000000'], None),
    'tracepoint glob': (['-a', '-e', 'sched:sched_process_*', '-e', 'sched:sched_switch', '-c', '1'],
                        need_tracefs),
    'tracepoint filter': (['-a', '-e', 'sched:sched_switch', '--filter', 'prev_pid != 0', '-c', '1'],
                          need_tracefs),
    'raw samples': (['-R', '-e', 'cpu-clock', *RATE], None),
    'time period address cpu': (['-T', '-P', '-d', '--sample-cpu', '-e', 'page-faults', '-c', '1'],
                                None),
    'one CPU': (['-C', '0', '-e', 'cpu-clock', *RATE], need_root),
    'CPU list': (['-C', '0,1', '-e', 'cpu-clock', *RATE], need_root),
    'monotonic clock': (['-k', 'CLOCK_MONOTONIC', '-e', 'cpu-clock', *RATE], None),
    'boot clock': (['-k', 'boottime', '-e', 'cpu-clock', *RATE], None),
    'small ring': (['-m', '16K', '-e', 'cpu-clock', *RATE], None),
    'ring in pages': (['-m', '128', '-e', 'cpu-clock', *RATE], None),
    'highest frequency': (['-F', 'max', '-e', 'cpu-clock'], None),
    'no inheritance': (['-i', '-e', 'cpu-clock', *RATE], None),
    'compressed': (['-z', '-e', 'cpu-clock', *RATE], None),
    'compressed, level 9, callchains': (['-z9', '-g', '-e', 'cpu-clock', *RATE], None),
    'compressed, highest level': (['--compression-level=22', '-e', 'cpu-clock', *RATE], None),
    'compressed stacks': (['-z', '--call-graph', 'dwarf,8192', '-e', 'cpu-clock', *RATE], None),
    'compressed, system-wide, small ring': (['-z', '-a', '-m', '16K', '-e', 'cpu-clock', *RATE],
                                            need_root),
    'compressed tracepoints': (['-z', '-a', '-e', 'sched:sched_switch', '-c', '1'], need_tracefs),
}


def top_ten(text, samples=1000):
    """The ten heaviest symbols with their percentages; rows that tie with the tenth are left out.

    An address is no symbol: of a single sample caught within an exec, ringtail says where it was and
    perf takes a map of the program before. Entries of a PLT that perf does not know (.plt.sec, .plt.got) are to
    6.1 the function before them, _init, and to 6.12 the section. From a percent on, and from three samples, such rows
    count, too; but on arm64, where 6.1 knows no PLT of some programs and has a row for each address in it.
    """
    least = max(1, 250 / max(samples, 1)) if os.uname().machine != 'aarch64' else 101
    rows = [(p, s) for p, s in table(text) if p >= least or not re.search(r'\[.\] (0x|_init$|\.plt|.*@plt$)', s)]
    # perf 6.1 leaves the parameters of C++ functions out and adds overloads up.
    rows = [(p, re.sub(r'(?<=\w)\(.*', '', s)) for p, s in rows if '::' not in s]
    last = rows[10][0] if len(rows) > 10 else -1.0
    return sorted((p, s) for p, s in rows[:10] if p != last)


def agree(lab, data):
    """Checks that perf opens `data` without a message and finds the same as ringtail."""
    ours = lab.samples(data)
    assert ours > 0, 'no samples'
    assert lab.perf_samples(data) == ours, f'perf counts {lab.perf_samples(data)}, ringtail {ours}'
    lab.perf('script', '-i', data)
    lab.perf('report', '-i', data, '-D')
    # By file, too: without it perf makes two rows of a symbol of one file now and then, beside an emulator for instance.
    theirs = lab.perf('report', '-i', data, '--stdio', '--no-children', '-g', 'none', '--sort', 'dso,sym')
    mine = lab.run('report', '-i', data, '--stdio', '-g', 'none', '--sort', 'dso,sym')
    # Other people's programs may have no symbols.
    expected = 'user stacks|samples? w.* lost|in no known function|where nothing was mapped'
    notes = [n for n in mine.stderr.splitlines() if not re.search(expected, n)]
    assert not notes, notes
    both = [top_ten(text, ours) for text in (mine.stdout, theirs.stdout)]
    assert both[0] == both[1], f'of {ours} samples ringtail {both[0]}\nperf {both[1]}'


def make_test(options, need):
    def test(lab):
        if need:
            need()
        # The workload's first process only waits for the others.
        command = [lab.program('short'), 100] if '-i' in options else [lab.workload, scaled(60)]
        lab.run('record', '-o', 'p.data', *options, '--', *command)
        agree(lab, 'p.data')
    return test


for _name, (_options, _need) in OPTION_SETS.items():
    globals()['test_' + _name] = make_test(_options, _need)


def test_the_header_as_perf_shows_it(lab):
    """Compares each line, the long ones included."""
    lab.run('record', '-k', 'mono', '-z', '--threads', '-e', '{cpu-clock,page-faults}', '-o', 'p.data', '--', lab.workload,
            20)
    mine, theirs = (who('report', '-i', 'p.data', '--header-only', '-I').stdout.splitlines()
                    for who in (lab.run, lab.perf))
    theirs = [line.rstrip() for line in theirs if 'missing features' not in line]
    if lab.perf_version >= (6, 2):  # which names numbers, and prints a config of 0
        theirs = [re.sub(r' \(\w+\)|, config = 0(?= \(|,)', '', line) if line.startswith('# event') else line
                  for line in theirs]
    mine = [line.rstrip() for line in mine if 'missing features' not in line]
    assert mine == theirs and len(mine) > 20, '\n'.join(difflib.unified_diff(theirs, mine, lineterm=''))


def test_records_of_our_own_are_passed_over(lab):
    """Each flush of a file with tracepoints writes one such record, each snapshot two; perf 7 warns of those under
    80 bytes."""
    need_root()
    need_tracefs()
    event = ['-a', '-e', 'sched:sched_switch', '-c', '1', '--flush-interval', '20ms']
    memory = ['-M', '16M', '--snapshot-on-exit']
    for data, options in {'p.data': [], 'm.data': memory, 'z.data': ['-z', *memory], 'd.data': ['--threads']}.items():
        lab.run('record', '-o', data, *event, *options, '--', 'sleep', '0.5')
        agree(lab, data)
        own = re.findall(r'EVENT_TYPE size=(\d+)', lab.run('dump', '-i', data).stdout)
        assert own and min(map(int, own)) >= 80, f'{data}: {own}'


def test_process_that_only_waits(lab):
    """Its children existed before and are not recorded: the file has no samples, but the name and maps of the
    process."""
    child = lab.spawn(lab.workload, '40000')
    wait_for(lambda: comms_of(children_of(child.pid)) == NAMES, what='three children')
    lab.run('record', '-o', 'p.data', '-e', 'cpu-clock', '-p', child.pid, '--', 'sleep', '0.5')
    dump = lab.run('dump', '-i', 'p.data').stdout
    assert "COMM size=" in dump and f'pid={child.pid} ' in dump and '/demo/workload' in dump, dump[:1000]
    assert stat(lab.run('report', '-i', 'p.data', '--stats').stdout, 'SAMPLE') < 10


def children_of(pid):
    with open(f'/proc/{pid}/task/{pid}/children', encoding='ascii') as f:
        return f.read().split()


def comms_of(pids):
    found = set()
    for pid in pids:
        with open(f'/proc/{pid}/comm', encoding='ascii') as f:
            found.add(f.read().strip())
    return found


def attached(lab, option, pids):
    """Records processes or threads until each of them has used CPU time."""
    recorder = lab.start('record', '-o', 'p.data', '-e', 'cpu-clock', option, ','.join(pids))
    running(lab, recorder)
    work(*pids)
    status, _, said = interrupt(recorder)
    assert status == 0, said
    agree(lab, 'p.data')


def test_processes_that_run_already(lab):
    child = lab.spawn(lab.workload, '40000')
    wait_for(lambda: comms_of(children_of(child.pid)) == NAMES, what='three children')
    attached(lab, '-p', children_of(child.pid))
    comms = {row[1] for row in table(lab.run('report', '-i', 'p.data', '--sort', 'comm').stdout)}
    assert comms == NAMES, comms


def test_thread(lab):
    child = lab.spawn(lab.workload, '40000')
    wait_for(lambda: comms_of(children_of(child.pid)) == NAMES, what='three children')
    attached(lab, '-t', children_of(child.pid)[:1])


def test_delayed(lab):
    """The events start by themselves, if the command lasts until then."""
    recorder = lab.start('record', '-D', '100', '-o', 'p.data', '-e', 'cpu-clock', *RATE, '--',
                         lab.program('storm'), '2000000000')
    running(lab, recorder)
    wait_for(lambda: lab.samples('p.data'), what='samples')
    status, _, said = interrupt(recorder)
    assert status == 0, said
    agree(lab, 'p.data')


def record_stream(lab, *options):
    """Records to the file `stream` through a pipe."""
    with open(lab.path('stream'), 'wb') as out:
        p = subprocess.run(lab.argv(['record', '-o', '-', *options, '--', lab.workload, scaled(60)]),
                           stdout=out, stderr=subprocess.PIPE, stdin=subprocess.DEVNULL, check=False)
    assert p.returncode == 0, p.stderr


def test_pipe_stream(lab):
    record_stream(lab, '-e', 'cpu-clock')
    ours = lab.samples('stream')
    with open(lab.path('stream'), 'rb') as stream:
        p = subprocess.run(['perf', 'report', '-i', '-', '--stats'], stdin=stream, text=True,
                           stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
    assert p.returncode == 0 and not p.stderr.strip(), p.stderr
    assert stat(p.stdout, 'SAMPLE') == ours > 0


def test_compressed_pipe_stream(lab):
    """perf report --stats ignores features in a stream, so it cannot read perf's own compressed stream either."""
    record_stream(lab, '-z', '-e', 'cpu-clock', '-F', '1999')
    ours = lab.samples('stream')
    for reader in 'perf script -i -', 'perf inject | perf script -i -', 'perf inject -b | perf script -i -':
        with open(lab.path('stream'), 'rb') as stream:
            p = subprocess.run(reader, shell=True, stdin=stream, text=True, errors='replace',
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
        assert p.returncode == 0 and not p.stderr.strip(), (reader, p.stderr)
        assert len(p.stdout.splitlines()) == ours > 0, (reader, len(p.stdout.splitlines()), ours)


def test_perf_injects(lab):
    """perf dies of a feature in the header that it does not know, so ours has no bit there."""
    if not perf_programs():
        raise Skip('no perf (package linux-perf)')
    for options in [], ['-z'], ['-g'], ['--symbols=none']:
        lab.run('record', '-o', 'p.data', *options, '-e', 'cpu-clock:u', *RATE, '--', lab.workload, scaled(60))
        names_kept = b'RTSYMBOL' in read(lab, 'p.data')
        assert names_kept == (options != ['--symbols=none']), options
        injects(lab, 'p.data', options)
    lab.run('pack', 'p.data')
    assert b'RTSYMBOL' in read(lab, 'p.data')
    injects(lab, 'p.data', 'pack')


def read(lab, data):
    with open(lab.path(data), 'rb') as f:
        return f.read()


def injects(lab, data, what):
    """Expects that what each perf writes by `perf inject` has the same samples as `data`."""
    for perf in perf_programs():
        before = script_of(lab, perf, data)
        assert len(before.splitlines()) > 10, (what, perf)
        for way in [], ['-b'], ['-j'], ['--buildid-all']:
            p = subprocess.run([perf, 'inject', *way, '-i', data, '-o', 'injected'], cwd=lab.dir, text=True,
                               stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
            assert p.returncode == 0 and not p.stderr.strip(), (what, perf, way, p.returncode, p.stderr)
            assert script_of(lab, perf, 'injected') == before, (what, perf, way)
            assert lab.samples('injected') == lab.samples(data), (what, perf, way)


def script_of(lab, perf, data):
    return subprocess.run([perf, 'script', '-i', data], cwd=lab.dir, text=True, errors='replace',
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                          check=True).stdout


def test_compressed_file_is_smaller_and_says_so(lab):
    need_tracefs()
    sizes = {}
    for option in '-q', '-z':
        lab.run('record', option, '-m', '8M', '-o', 'p.data', '-e', 'raw_syscalls:sys_enter', '-c', '1', '--',
                lab.program('storm'), 20000)
        sizes[option] = os.path.getsize(lab.path('p.data')) / max(1, lab.samples('p.data'))
    assert sizes['-z'] * 2 < sizes['-q'], sizes
    for header in lab.perf('report', '-i', 'p.data', '--header-only').stdout, \
            lab.run('report', '-i', 'p.data', '--header-only').stdout:
        ratio = re.search(r'^# compressed : Zstd, level = 1, ratio = (\d+)$', header, re.M)
        assert ratio and int(ratio[1]) > 1, header


def rows(text):
    """Returns the rows of the table without the rare ones."""
    return sorted((p, s) for p, s in table(text) if p >= 1)


def test_options_of_perf(lab):
    """A command line typed for perf shows the same as in perf."""
    lab.run('record', '-e', 'cpu-clock', '--sample-cpu', *RATE, '-o', 'p.data', '--', lab.workload, scaled(400))
    parse = ['-c', 'parse,digest']
    for options in (parse, ['-d', 'workload,libc.so.6'], ['-S', 'scan_tokens,multiply_rows'], ['-U'],
                    ['--symbol-filter=_r'], [*parse, '--percentage', 'relative'], ['-s', '+cpu'],
                    ['-n', '--show-total-period'],
                    [*parse, '-s', '+cpu', '--no-inline', '-G', '--demangle', '--no-call-graph']):
        ours, theirs = (rows(who('report', '-i', 'p.data', '--stdio', '--no-children', *options).stdout)
                        for who in (lab.run, lab.perf))
        assert ours == theirs and ours, (options, ours, theirs)
    # Of a single thread: no two samples have the same time.
    for options in [], ['-S', 'scan_tokens'], ['--reltime'], ['--deltatime', '--no-inline']:
        ours, theirs = (who('script', '-i', 'p.data', '-c', 'parse', *options, '-F', 'comm,time,ip,sym').stdout
                        for who in (lab.run, lab.perf))
        ours, theirs = ([re.sub(r' (_init|\S*@plt)(\+\w+)?$', ' linkage', line) for line in text.splitlines()]
                        for text in (ours, theirs))  # of which perf does not know all (top_ten)
        differ = [pair for pair in zip(ours, theirs) if pair[0] != pair[1]]
        assert len(ours) == len(theirs) > 0 and not differ, (options, len(ours), len(theirs), differ[:3])


READS_INTO_A_FILE = """
import mmap, sys
with open(sys.argv[1], 'w+b') as file, open('/dev/zero', 'rb', buffering=0) as zero:
    file.truncate(1 << 20)
    zero.readinto(mmap.mmap(file.fileno(), 1 << 20))
"""


def test_what_the_kernel_reaches_for_in_a_task(lab):
    """The address of a page fault belongs to the task, although the kernel caused the fault."""
    need_root()
    lab.run('record', '-q', '-o', 'r.data', '-d', '-e', 'page-faults', '-c', '1', '-m', '1M', '--', sys.executable,
            '-c', READS_INTO_A_FILE, lab.path('mapped'))
    fields = ['-i', 'r.data', '-F', 'addr,ip,dso']
    # But for the name of what holds the code.
    mine, theirs = ([' '.join(line.split()).rpartition(' (')[0] for line in out.splitlines()]
                    for out in (lab.run('script', *fields).stdout, lab.perf('script', *fields).stdout))
    assert any(re.match(r'[0-9a-f]+ \(.*/mapped\) f[0-9a-f]{15}$', line) for line in mine), mine
    assert mine == theirs, '\n'.join(difflib.unified_diff(theirs, mine, lineterm=''))
