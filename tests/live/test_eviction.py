# SPDX-License-Identifier: Apache-2.0
"""Thousands of short processes, each of a program of its own, pass through a small memory (-M)."""
import collections
import os
import re
import signal
import stat

from lab import PATIENCE, interrupt, need_root, obeyed, of_kernel, scaled, wait_for
from memory import MODES, held, memory_counts, moments, ready, snapshot
from test_snapshot import log

PROGRAMS = scaled(2000, 300)
NOTE = re.compile(rb'\x04\0\0\0\x14\0\0\0\x03\0\0\0GNU\0(.{4})', re.DOTALL)


def make_programs(lab, number=PROGRAMS):
    """Copies `short`: each copy has its own function name and build-id. A recording of all CPUs has those of other
    tests, too."""
    lab.have_alone('programs')
    with open(lab.program('short'), 'rb') as f:
        short = f.read()
    assert short.count(b'work_0000') == 1
    note = NOTE.search(short)
    os.mkdir(lab.path('bin'))
    for i in range(number):
        path = lab.path(f'bin/prog{i:04}')
        copy = bytearray(short.replace(b'work_0000', b'work_%04d' % i))
        if note:
            copy[note.start(1):note.end(1)] = b'%04d' % i
        with open(path, 'wb') as f:
            f.write(copy)
        os.chmod(path, stat.S_IRWXU)


def lives(lab):
    return os.path.getsize(lab.path('ended')) if os.path.exists(lab.path('ended')) else 0


def lines_of(who, data, dead=frozenset()):
    """Returns (comm, symbol, base name of the file) of each sample, without those in unnamed code of the kernel
    and of tasks that perf has forgotten."""
    text = who('script', '-i', data, '-G', '-F', 'comm,ip,sym,dso').stdout
    for words in (line.split() for line in text.splitlines() if line.strip()):
        if words[0] in dead:
            continue
        # -1 is what the kernel says of a task that has given its number back.
        assert words[0] == ':-1' or not words[0].startswith(':'), (data, words)
        if words[-1] != '([unknown])' or not of_kernel(words[1]):
            yield words[0], words[2], os.path.basename(words[-1].strip('()'))


def function(symbol):
    """Returns None for linkage: perf 6.1 does not know the entries of .plt.got, nor the head of .plt, and shows the
    symbol before them."""
    return None if symbol in ('_init', '.plt') or symbol.endswith('@plt') else symbol


def check_programs(lab, data):
    """Each sample of one of them is in its own file and function, in a library or in the kernel."""
    seen, dead = [], lab.forgotten(data)
    for who in lab.run, lab.perf:
        mine = collections.Counter()
        for comm, symbol, dso in lines_of(who, data, dead if who == lab.perf else ()):
            # What a task does after its EXIT record it does in the kernel.
            if not comm.startswith('prog') or dead and dso.startswith('[kernel'):
                continue
            assert dso == comm or dso.startswith(('ld-linux', 'libc.', '[')) and dso != '[unknown]', \
                (data, comm, symbol, dso)
            assert not symbol.startswith('work_') or (symbol, dso) == ('work_' + comm[4:], comm), \
                (data, comm, symbol, dso)
            mine[comm, function(symbol) if dso == comm else None, dso] += 1
        seen.append(mine)
    assert seen[0] == seen[1], (data, seen[0] - seen[1], seen[1] - seen[0])
    at_work = {comm for comm, symbol, _ in seen[0] if symbol and symbol.startswith('work_')}
    # However few a busy machine runs while a snapshot's memory fills: all that was said of them is of so many.
    assert len(at_work) > 4, f'{len(at_work)} programs are seen at work'


def passed_so_far(lab, recorder):
    """Returns a lower bound of the samples evicted without a snapshot: some of the newest are not counted yet."""
    stats = held(lab, recorder)
    return stats['samples'] - stats['held_samples'] - sum(s['samples'] for s in log(lab).values())


def each_is_known(lab, *options):
    """Takes two snapshots while the programs run, and one after eviction has replaced all of the memory."""
    need_root()
    make_programs(lab)
    # For each ring the same: so many programs run in the time that memory holds.
    memory = f'{max(1, os.cpu_count() // 2)}M'
    recorder = lab.start('record', '-a', '-e', 'cpu-clock', '-F', '4999', '-g', '-M', memory, '-o', 'p.data',
                         *options, release=True)
    ready(lab, recorder)
    load = lab.spawn('sh', '-c', 'until [ -e enough ]; do for program in bin/prog*; do $program; printf x >>ended; done; '
                                 'done')
    wait_for(lambda: lives(lab) >= PROGRAMS // 3, seconds=5 * PATIENCE, what='processes')
    snapshot(lab, recorder)
    wait_for(lambda: lives(lab) >= 2 * PROGRAMS // 3, seconds=5 * PATIENCE, what='processes')
    recorder.send_signal(signal.SIGUSR2)
    obeyed(lab, recorder)
    if '-z' not in options:  # compressed, much more is held
        wait_for(lambda: passed_so_far(lab, recorder) > 1000, seconds=5 * PATIENCE, what='evictions')
    with open(lab.path('enough'), 'wb'):
        pass
    load.wait(timeout=5 * PATIENCE)
    assert lives(lab) >= PROGRAMS and lives(lab) % PROGRAMS == 0, lives(lab)
    snapshot(lab, recorder)
    status, _, said = interrupt(recorder)
    assert status == 0, said
    _, written, snapshots, passed, _ = memory_counts(said)
    assert snapshots == 3, said
    assert passed > 1000 or '-z' in options, said
    assert len(moments(lab, 'p.data')) == written == lab.samples('p.data') == lab.perf_samples('p.data')
    check_programs(lab, 'p.data')


def add_modes():
    for mode, options in MODES.items():
        globals()[f'test_each_of_{PROGRAMS}_programs_is_known ({mode})'] = \
            lambda lab, options=options: each_is_known(lab, *options)


add_modes()
