# SPDX-License-Identifier: Apache-2.0
"""Recordings in memory (-M): a snapshot has all samples of its window, each once."""
import glob
import os
import re
import signal
import subprocess
import sys
import time

from calls import Calls
from lab import PATIENCE, Skip, calls_lost, interrupt, need_root, need_tracefs, scaled, stands_still, wait_for
from memory import MODES, finish, held, memory_counts, moments, number, ready, said_so_far, snapshot, start
from test_perf_reads import top_ten


def every_call_is_counted(lab, *options):
    """Takes snapshots as fast as the recorder answers, while more samples arrive than the memory holds."""
    need_tracefs()
    size = scaled(4 << 20, 1 << 20)
    calls = Calls(lab, 'command', scaled(600000), bursts=50, pause_us=50000)
    recorder = start(lab, calls, '-M', str(size), *options)
    calls.go()
    while recorder.poll() is None and not (calls.came('end0') and said_so_far(lab).count(': snapshot ') > 50):
        recorder.send_signal(signal.SIGUSR2)
        time.sleep(0.01)
    (_, written, snapshots, _, _), said = finish(lab, calls, recorder, 'p.data')
    # The last one has at least what memory had room for: half of that at 256 bytes a sample.
    assert snapshots > 50 and written * 256 > size, said


def add_counting():
    for mode, options in MODES.items():
        globals()[f'test_a_signal_every_10_ms ({mode})'] = \
            lambda lab, options=options: every_call_is_counted(lab, *options)


add_counting()


def test_without_a_snapshot_there_are_no_samples(lab):
    p = lab.run('record', '-e', 'cpu-clock', '-M', '64M', '-o', 'p.data', '--', lab.workload, scaled(100))
    taken, written, snapshots, _, held = memory_counts(p.stderr)
    assert taken == held > 0 == written == snapshots
    assert 'ringtail took no snapshot' in p.stderr, p.stderr
    assert lab.samples('p.data') == 0
    for command in 'report', 'script':
        p = lab.run(command, '-i', 'p.data')
        assert 'p.data: the recording kept its samples in memory (-M) and took no snapshot' in p.stderr, p.stderr
    lab.perf('report', '-i', 'p.data', '--stats', quiet=False)


def test_truncated_stacks_are_a_share_of_what_was_taken(lab):
    """Without a snapshot the output has no sample to compare with."""
    said = lab.run('record', '-M', '4M', '-m', '64K', '-e', 'page-faults', '-c', '1', '--call-graph', 'dwarf,65528', '-o',
                   'p.data', '--', sys.executable, '-c', 'bytearray(100 << 20)', release=True).stderr
    shares = re.findall(r'lost [\d,]+ of \S+ on CPU \d+ \((\S+) %\): its user stack', said)
    assert shares and all(0 < float(share) <= 100 for share in shares), said


def test_a_snapshot_at_the_end(lab):
    for data, options in ('p.data', []), ('d.data', ['--threads', '-z']), ('g.data', ['-g', '--aio']):
        p = lab.run('record', '-e', 'cpu-clock', '-M', '64M', '--snapshot-on-exit', '-o', data, *options, '--',
                    lab.workload, scaled(400))
        taken, written, snapshots, passed, held = memory_counts(p.stderr)
        assert taken == written > 0 == passed == held and snapshots == 1
        assert lab.samples(data) == lab.perf_samples(data) == written
        both = [top_ten(who('report', '-i', data, '--stdio', '-g', 'none', '--no-children', '--sort', 'sym').stdout)
                for who in (lab.run, lab.perf)]
        assert both[0] == both[1] and max(both[0])[0] > 20, both


def test_a_snapshot_at_the_end_as_for_traces(lab):
    """The e of -S, without --snapshot-on-exit."""
    p = lab.run('record', '-e', 'cpu-clock', '-M', '16M', '-Se', '-o', 'p.data', '--', lab.workload, scaled(200))
    taken, written, snapshots, _, held = memory_counts(p.stderr)
    assert taken == written > 0 == held and snapshots == 1, p.stderr


def test_into_a_pipe(lab):
    for options in [], ['--threads', '-z']:
        record = subprocess.Popen(lab.argv(['record', '-e', 'cpu-clock', '-M', '16M', '--snapshot-on-exit',
                                            '-o', '-', *options, '--', lab.workload, scaled(400)]),
                                  cwd=lab.dir, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        lab.children.append(record)
        data, said = record.communicate(timeout=5 * PATIENCE)
        assert record.returncode == 0, said
        with open(lab.path('pipe.data'), 'wb') as f:
            f.write(data)
        assert lab.samples('pipe.data') == memory_counts(said.decode())[1] > 0


def test_each_snapshot_has_a_file(lab):
    """Each file has the whole window, and the newest two stay; the file open at the end is no snapshot."""
    need_root()
    recorder = lab.start('record', '-a', '-e', 'cpu-clock', '-F', '999', '-M', '64M', '-o', 'p.data',
                         '--switch-output', '--switch-max-files', '2')
    ready(lab, recorder)
    for _ in range(3):
        time.sleep(0.5)
        snapshot(lab, recorder)
    status, _, said = interrupt(recorder)
    assert status == 0, said
    names = sorted(os.path.basename(path) for path in glob.glob(lab.path('p.data.2*')))
    assert len(names) == 2, names
    first, second = (set(moments(lab, name)) for name in names)
    assert first < second
    assert len(second) == lab.perf_samples(names[1]) == memory_counts(said)[1]
    assert lab.samples('p.data') == 0
    # The report mentions a sample in several files once, and nothing of the file without a snapshot.
    assert f'{names[1]} and 2 before it, 1 of which is deleted: {len(second):,} samples, 0 lost, ' in said, said


def test_each_empty_snapshot_has_a_file(lab):
    """The answer names the file of an empty snapshot, and the snapshot counts."""
    need_root()
    need_tracefs()
    recorder = lab.start('record', '-a', '-e', 'raw_syscalls:sys_enter', '--filter', 'id == 100000', '-M', '1M',
                         '-o', 'p.data', '--switch-output', '--switch-max-files', '2')
    ready(lab, recorder)
    for _ in range(4):
        snapshot(lab, recorder)
    status, _, said = interrupt(recorder)
    assert status == 0, said
    names = sorted(os.path.basename(path) for path in glob.glob(lab.path('p.data.2*')))
    assert len(names) == 2, names
    assert said.count(': 0 samples, 0 lost, ') == 5, said
    assert f'{names[1]} and 3 before it, 2 of which are deleted: 0 samples, 0 lost, ' in said, said


def test_losses_are_a_part_of_all_that_was_taken(lab):
    """The share is of all samples taken, not of the snapshot's samples, which are fewer."""
    need_tracefs()
    for options in ['--last', '64K'], ['--last', '64K', '--threads', '-z']:
        calls = Calls(lab, 'command', 100000, bursts=3)
        recorder = start(lab, calls, '-M', '64M', '-m', '64K', '--snapshot-on-exit', *options)
        recorder.send_signal(signal.SIGSTOP)
        wait_for(lambda recorder=recorder: stands_still(recorder.pid), what='stop')
        calls.go()
        time.sleep(0.03)
        recorder.send_signal(signal.SIGCONT)
        (taken, written, _, _, _), said = finish(lab, calls, recorder, 'p.data')
        lost = lab.lost('p.data')
        assert 0 < lost < 100000 and written < taken // 2, said
        share = f'{100 * lost / (lost + taken):.2f}% of all samples'
        p = lab.run('report', '-i', 'p.data')
        assert share in p.stdout and share in p.stderr, (share, p.stdout[:500], p.stderr)
        subprocess.run(['rm', '-r', lab.path('p.data')], check=True)


def test_a_loss_is_told_by_one_of_the_files(lab):
    """The kernel writes the record of a loss with the next call, after the snapshot that has counted the loss."""
    need_tracefs()
    for options in [], ['--threads']:
        calls = Calls(lab, 'command', 60000, bursts=3, pause_us=400000)
        recorder = start(lab, calls, '-M', '64M', '-m', '64K', '--since-last', '--switch-output', *options)
        recorder.send_signal(signal.SIGSTOP)
        wait_for(lambda recorder=recorder: stands_still(recorder.pid), what='stop')
        calls.go()
        time.sleep(0.1)
        recorder.send_signal(signal.SIGCONT)
        snapshot(lab, recorder)
        calls.made()
        snapshot(lab, recorder)
        calls.end()
        recorder.wait(timeout=PATIENCE)
        said, names = said_so_far(lab), glob.glob(lab.path('p.data*'))
        lost = calls_lost(said) + sum(map(number, re.findall(r'lost ([\d,]+) of maps, names', said)))
        told = [lab.lost(name) for name in names]
        assert lost > 0 and sum(told) == lost and len(told) == 3, (told, said)
        for name in names:
            subprocess.run(['rm', '-r', name], check=True)


def test_the_account_of_an_output_that_fails(lab):
    """Each sample taken is readable in the snapshot, lost, or still in memory."""
    need_tracefs()
    for options in [], ['-z'], ['--threads'], ['--aio']:
        calls = Calls(lab, 'command', 100000)
        frame = lab.frame(*calls.argv[:calls.argv.index('--')])
        recorder = lab.start('record', '-M', '64M', '-m', '8M', '--snapshot-on-exit', '-o', '-', *options, *calls.argv)
        calls.begin(recorder)
        calls.go()
        calls.end()
        recorder.stdout.buffer.read(frame + 20000)
        recorder.stdout.close()
        said = recorder.stderr.read()
        assert recorder.wait(timeout=PATIENCE) == 1 and 'has closed it' in said, said
        taken, written, snapshots, passed, left = memory_counts(said)
        assert taken == 100000 and not passed and snapshots == 1 and (left or '-z' in options), (options, said)
        readable, lost = re.search(r'at least ([\d,]+) samples? readable, ([\d,]+) lost', said).groups()
        assert number(readable) + number(lost) == written > 0, (options, said)


def last_by_its_size(lab, *options):
    """--max-size ends the recording after the snapshot that reaches it, and not after a smaller one."""
    busy = lab.spawn(sys.executable, '-c', 'while True: pass')
    recorder = lab.start('record', '-p', busy.pid, '-e', 'cpu-clock', '-F', '4999', '-M', '64M', '--max-size', '200K',
                         '-o', 'p.data', *options)
    ready(lab, recorder)
    wait_for(lambda: held(lab, recorder)['held_samples'] > 10, what='samples')
    lab.run('ctl', '--pid', recorder.pid, 'snapshot', '--last', '2K')
    wait_for(lambda: held(lab, recorder)['held_bytes'] > 400000, what='a snapshot of that size')
    snapshot(lab, recorder)
    said = recorder.communicate(timeout=PATIENCE)[1]
    assert recorder.returncode == 0 and said.count('the output has reached its size (--max-size)') == 1, said
    assert memory_counts(said)[2] == 2, said
    files = [os.path.basename(path) for path in glob.glob(lab.path('p.data.2*'))] or ['p.data']
    assert len(files) == (2 if '--switch-output' in options else 1), files


def test_the_last_by_its_size(lab):
    last_by_its_size(lab)


def test_the_last_by_its_size_of_several_files(lab):
    last_by_its_size(lab, '--switch-output')


def test_the_last_by_its_size_of_several_directories(lab):
    last_by_its_size(lab, '--switch-output', '--threads')


def holds_many_times_as_much(lab, megabytes, *options):
    """Records a storm, whose samples are much alike, with a memory that is full.

    While samples come faster than they are compressed, the memory holds them uncompressed for a while.
    """
    # Each CPU has a ring, for each of which memory has 64 KB at least.
    size = (megabytes << 20) * max(1, os.cpu_count() // 8)
    need_tracefs()
    need_root()
    recorder = lab.start('record', '-a', '-e', 'raw_syscalls:sys_enter', '-c', '1', '-M', str(size), '-z',
                         *options, '-o', 'p.data', release=True)
    ready(lab, recorder)
    # A thousand calls each hundredth of a second.
    load = lab.spawn(lab.program('storm'), '-b', '3000000', '-u', '10000', '3000000000')
    before = {}

    def full():
        load.send_signal(signal.SIGSTOP)
        before.update(held(lab, recorder))
        if before['samples'] > before['held_samples'] and before['held_bytes'] > 4 * before['held_memory'] > 2 * size:
            return True
        load.send_signal(signal.SIGCONT)
        time.sleep(0.5)
        return False
    wait_for(full, seconds=3 * PATIENCE, what='memory that holds four times as much')
    snapshot(lab, recorder)
    load.kill()
    status, _, said = interrupt(recorder)
    assert status == 0, said
    _, written, _, passed, _ = memory_counts(said)
    assert passed > 0, said
    assert before['held_memory'] <= size, before
    assert written > before['held_samples'] / 2, (before, said)
    assert len(moments(lab, 'p.data')) == written == lab.samples('p.data') == lab.perf_samples('p.data')
    rows = [top_ten(who('report', '-i', 'p.data', '--stdio', '--no-children', '--sort', 'comm,sym').stdout)
            for who in (lab.run, lab.perf)]
    assert rows[0] == rows[1] and rows[0], rows


def test_compressed_memory_holds_many_times_as_much(lab):
    holds_many_times_as_much(lab, 2)
    os.unlink(lab.path('p.data'))
    holds_many_times_as_much(lab, 2, '--threads')


def test_compressed_memory_smaller_than_what_comes_at_once(lab):
    holds_many_times_as_much(lab, 1)


def test_a_process_that_is_attached_to(lab):
    load = lab.spawn(sys.executable, '-c', 'while True: pass')
    recorder = lab.start('record', '-p', str(load.pid), '-e', 'cpu-clock', '-F', '999', '-M', '16M', '-o', 'p.data')
    ready(lab, recorder)
    wait_for(lambda: held(lab, recorder)['held_seconds'] > 0.3, what='samples')
    snapshot(lab, recorder)
    now = held(lab, recorder)
    assert now['held_samples'] >= lab.samples('p.data') > 0 < now['held_bytes'] < now['held_memory'], now
    assert now['held_seconds'] > 0, now
    assert interrupt(recorder)[0] == 0
    load.kill()


def test_a_cgroup_bounds_memory(lab):
    need_root()
    for top, file in (('/sys/fs/cgroup', 'memory.max'), ('/sys/fs/cgroup/memory', 'memory.limit_in_bytes')):
        group = f'{top}/{os.path.basename(lab.dir)}'
        try:
            os.mkdir(group)
        except OSError:
            continue
        try:
            if os.path.exists(f'{group}/{file}'):
                break
        finally:
            if not os.path.exists(f'{group}/{file}'):
                os.rmdir(group)
    else:
        raise Skip('no cgroup with a limit of memory can be made')

    def inside():
        with open(group + '/cgroup.procs', 'w', encoding='ascii') as f:
            f.write('0')
    try:
        with open(f'{group}/{file}', 'w', encoding='ascii') as f:
            f.write(str(512 << 20))
        p = lab.run('record', '-M', '1G', '-o', 'p.data', '--', 'true', status=2, preexec_fn=inside)
        assert 'only 512.0 MB of memory' in p.stderr, p.stderr
        p = lab.run('record', '-v', '-e', 'cpu-clock', '-o', 'p.data', '--', 'true', preexec_fn=inside)
        assert f'buffer memory of {32 << 10} KB' in p.stderr, p.stderr
        p = lab.run('record', '-v', '-e', 'cpu-clock', '-o', 'p.data', '--', 'true')
        assert f'buffer memory of {32 << 10} KB' not in p.stderr, p.stderr
    finally:
        os.rmdir(group)


def test_what_cannot_be_meant(lab):
    for args, word in ((['-M', '1M', '--overwrite'], '--overwrite'),
                       (['-M', '1M', '-e', 'cpu-clock/overwrite/'], "the term 'overwrite'"),
                       (['--snapshot-on-exit'], '-M'), (['-M', 'much'], 'much'), (['-M', '0'], '-M'),
                       (['-M', '1T'], 'of memory')):
        if '1T' in args and os.sysconf('SC_PHYS_PAGES') * os.sysconf('SC_PAGE_SIZE') >= 1 << 40:
            continue
        p = lab.run('record', '-o', 'p.data', *args, '--', 'true', status=2)
        assert word in p.stderr, (args, p.stderr)
        assert not os.path.exists(lab.path('p.data')), args
    p = lab.run('record', '-e', 'cpu-clock', '-M', '4K', '-o', 'p.data', '--', 'true')
    assert re.search(r'-M is raised to \d+ KB', p.stderr), p.stderr
