# SPDX-License-Identifier: Apache-2.0
"""Files that ringtail wrote are opened by perf without a word, with the same samples and symbols."""
import os
import re
import subprocess
import time

from lab import Skip, need_root, need_tracefs, stat, table

RATE = ['-F', '1999']

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
    'delayed': (['-D', '100', '-e', 'cpu-clock', *RATE], None),
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


def top_ten(text):
    """The ten heaviest symbols with their percentages; rows that tie with the tenth are left out.

    An address is no symbol: of a single sample caught within an exec, ringtail says where it was and
    perf takes a map of the program before. From a percent on such rows count, too.
    """
    rows = [(p, s) for p, s in table(text) if p >= 1 or not re.match(r'\[.\] 0x', s)]
    last = rows[10][0] if len(rows) > 10 else -1.0
    return sorted((p, s) for p, s in rows[:10] if p != last)


def agree(lab, data):
    """perf opens `data` in silence and finds what ringtail finds."""
    ours = lab.samples(data)
    assert ours > 0, 'no samples'
    assert lab.perf_samples(data) == ours, f'perf counts {lab.perf_samples(data)}, ringtail {ours}'
    lab.perf('script', '-i', data)
    lab.perf('report', '-i', data, '-D')
    theirs = lab.perf('report', '-i', data, '--stdio', '--no-children', '-g', 'none', '--sort', 'sym')
    mine = lab.run('report', '-i', data, '--stdio', '-g', 'none', '--sort', 'sym')
    notes = [n for n in mine.stderr.splitlines() if 'user stacks' not in n]
    assert not notes, notes
    assert top_ten(mine.stdout) == top_ten(theirs.stdout), \
        f'ringtail {top_ten(mine.stdout)}\nperf {top_ten(theirs.stdout)}'


def make_test(options, need):
    def test(lab):
        if need:
            need()
        lab.run('record', '-o', 'p.data', *options, '--', lab.workload, 60)
        agree(lab, 'p.data')
    return test


for _name, (_options, _need) in OPTION_SETS.items():
    globals()['test_' + _name] = make_test(_options, _need)


def test_process_that_only_waits(lab):
    """The children were there before and are not of the process: no samples, but its name and maps."""
    child = lab.spawn(lab.workload, '4000')
    time.sleep(0.2)
    lab.run('record', '-o', 'p.data', '-e', 'cpu-clock', '-p', child.pid, '--', 'sleep', '0.5')
    dump = lab.run('dump', '-i', 'p.data').stdout
    assert "COMM size=" in dump and f'pid={child.pid} ' in dump and '/demo/workload' in dump, dump[:1000]
    assert stat(lab.run('report', '-i', 'p.data', '--stats').stdout, 'SAMPLE') < 10


def children_of(pid):
    with open(f'/proc/{pid}/task/{pid}/children', encoding='ascii') as f:
        return f.read().split()


def test_processes_that_run_already(lab):
    child = lab.spawn(lab.workload, '4000')
    time.sleep(0.2)
    pids = children_of(child.pid)
    if len(pids) != 3:
        raise Skip('the workload did not come up')
    lab.run('record', '-o', 'p.data', '-e', 'cpu-clock', '-p', ','.join(pids), '--', 'sleep', '1')
    agree(lab, 'p.data')
    comms = {row[1] for row in table(lab.run('report', '-i', 'p.data', '--sort', 'comm').stdout)}
    assert comms == {'parse', 'matrix', 'digest'}, comms


def test_thread(lab):
    child = lab.spawn(lab.workload, '4000')
    time.sleep(0.2)
    pid = children_of(child.pid)[0]
    lab.run('record', '-o', 'p.data', '-e', 'cpu-clock', '-t', pid, '--', 'sleep', '1')
    agree(lab, 'p.data')


def record_stream(lab, *options):
    """Records to the file `stream` through a pipe's form."""
    with open(lab.path('stream'), 'wb') as out:
        p = subprocess.run(lab.argv(['record', '-o', '-', *options, '--', lab.workload, 60]),
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
    """perf report --stats takes no notice of features in a stream, so it cannot read perf's either."""
    record_stream(lab, '-z', '-e', 'cpu-clock', '-F', '1999')
    ours = lab.samples('stream')
    for reader in 'perf script -i -', 'perf inject | perf script -i -', 'perf inject -b | perf script -i -':
        with open(lab.path('stream'), 'rb') as stream:
            p = subprocess.run(reader, shell=True, stdin=stream, text=True, errors='replace',
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
        assert p.returncode == 0 and not p.stderr.strip(), (reader, p.stderr)
        assert len(p.stdout.splitlines()) == ours > 0, (reader, len(p.stdout.splitlines()), ours)


def test_compressed_file_is_smaller_and_says_so(lab):
    sizes = {}
    for option in '-q', '-z':
        lab.run('record', option, '-a', '-o', 'p.data', '-e', 'page-faults', '-c', '1', '--', lab.workload, 20)
        sizes[option] = os.path.getsize(lab.path('p.data')) / max(1, lab.samples('p.data'))
    assert sizes['-z'] * 2 < sizes['-q'], sizes
    for header in lab.perf('report', '-i', 'p.data', '--header-only').stdout, \
            lab.run('report', '-i', 'p.data', '--header-only').stdout:
        ratio = re.search(r'^# compressed : Zstd, level = 1, ratio = (\d+)$', header, re.M)
        assert ratio and int(ratio[1]) > 1, header
