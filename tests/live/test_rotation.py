# SPDX-License-Identifier: Apache-2.0
"""Recordings whose output is rotated: no sample is lost or doubled at a rotation, and each file alone is whole."""
import glob
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time

from calls import Calls
from lab import (PATIENCE, Skip, calls_lost, ended, interrupt, need_root, need_tracefs, obeyed, running, scaled, table,
                 wait_for, work)

MODES = {
    'serial': [],
    'aio': ['--aio'],
    'compressed': ['-z'],
    'threads': ['--threads'],
    'threads, aio, compressed': ['--threads', '--aio', '-z'],
}
PYTHON = os.path.basename(sys.executable)[:15]
STAMP = re.compile(r'^p\.data\.20\d{14}$')


def files(lab):
    """The finished outputs, oldest first."""
    names = sorted(os.path.basename(p) for p in glob.glob(lab.path('p.data.*')))
    assert all(STAMP.match(name) for name in names), names
    return names


def storm_filter(lab):
    """Of the storm's own calls."""
    number = subprocess.run([lab.program('storm'), '--syscall'], check=True, text=True,
                            stdout=subprocess.PIPE).stdout.strip()
    return f'id == {number} && comm == "{os.path.basename(lab.own("storm"))}"'


def count_in_all(lab, *options, least=3):
    """Runs storms as fast as possible until they fill some files: every call is in one of them, or lost."""
    need_tracefs()
    recorder = lab.start('record', '-a', '-o', 'p.data', '-e', 'raw_syscalls:sys_enter', '--filter',
                         storm_filter(lab), '-c', '1', *options)
    running(lab, recorder)
    calls = 0
    while len(files(lab)) < least:
        # However little of one is recorded while nobody reads the rings.
        assert calls < 50 * 100000 and recorder.poll() is None, files(lab)
        subprocess.run([lab.own('storm'), '100000'], check=True)
        calls += 100000
    status, _, said = interrupt(recorder)
    assert status == 0 and 'Sanitizer' not in said, said
    samples = int(re.findall(r'([\d,]+) samples, [\d,]+ lost', said)[-1].replace(',', ''))
    assert samples + calls_lost(said) == calls, (calls, said)
    names = files(lab)
    assert not os.path.exists(lab.path('p.data')), 'the last file has its time, too'
    counted = [lab.samples(name) for name in names]
    assert counted == [lab.perf_samples(name) for name in names], counted
    assert sum(counted) == samples, (counted, samples)
    for name, n in zip(names, counted):
        if n:
            rows = table(lab.perf('report', '-i', name, '--stdio', '--sort', 'comm,sym').stdout)
            assert rows and rows[0][1].startswith('storm-') and ' [k] ' in rows[0][1], (name, rows)


def add_counting():
    for mode, options in MODES.items():
        size = '64K' if '-z' in options else '1M'
        more = ['--flush-interval', '20ms', f'--switch-output={size}', *options]
        globals()[f'test_every_call_is_in_one_file ({mode})'] = \
            lambda lab, more=more: count_in_all(lab, *more)


add_counting()


def test_small_rings_lose_what_is_counted(lab):
    count_in_all(lab, '-m', '64K', '--switch-output=1M')


def lose_in_all(lab, *options):
    """Many rotations while small rings overflow: one of the files reports each loss, not both files at a rotation."""
    need_tracefs()
    calls, lost = 40000, 0
    for attempt in range(20):
        ring = '16K' if attempt < 8 else '4K'  # a slow machine does not fill the larger one
        for name in files(lab):
            shutil.rmtree(lab.path(name)) if os.path.isdir(lab.path(name)) else os.unlink(lab.path(name))
        p = lab.run('record', '-o', 'p.data', '-e', 'raw_syscalls:sys_enter', '--filter', storm_filter(lab), '-c', '1',
                    '-m', ring, '--switch-output=64K', *options, '--', lab.own('storm'), '-n', 2, calls)
        samples, lost = (int(n.replace(',', '')) for n in re.findall(r'([\d,]+) samples, ([\d,]+) lost', p.stderr)[-1])
        assert samples + calls_lost(p.stderr) == calls, p.stderr
        told = [lab.lost(name) for name in files(lab)]
        assert sum(told) == lost, (told, p.stderr)
        # perf does not warn of the other file either.
        assert sum(lab.perf_samples(name) for name in files(lab)) == samples
        if lost > calls // 20:
            return
    assert lost, 'nothing was lost'


def test_a_loss_at_a_rotation_is_reported_once(lab):
    lose_in_all(lab)


def test_a_loss_at_a_rotation_is_reported_once_with_threads(lab):
    lose_in_all(lab, '--threads', '--aio')


def rotate(lab, child, nth):
    child.send_signal(signal.SIGUSR2)
    wait_for(lambda: len(files(lab)) >= nth and os.path.exists(lab.path('p.data')), what=f'file {nth}')
    # The recorder answers the next command when it has rotated.
    running(lab, child)


def children(pid):
    with open(f'/proc/{pid}/task/{pid}/children', encoding='ascii') as f:
        return [int(child) for child in f.read().split()]


def spawn_pair(lab):
    """Starts a process and a fork of it without an exec; they end with us. Returns their ids."""
    first = lab.spawn(sys.executable, '-c', 'import os\nme, up = os.getpid(), os.getppid()\nos.fork()\n'
                                       'while os.getppid() in (me, up): pass')
    wait_for(lambda: children(first.pid), what='fork')
    return first.pid, children(first.pid)[0]


def check_known(lab, data, pid):
    """The samples of a process have its name and lie in known files."""
    lines = [line for line in lab.perf('script', '-i', data, '--pid', pid, '-F', 'comm,ip,sym,dso')
             .stdout.splitlines() if line.strip()]
    assert len(lines) > 3, (data, pid, len(lines))  # of two hundred, but from where the host takes the CPU away
    assert sum(line.split()[0] == PYTHON for line in lines) > len(lines) * .9 - 1, (data, pid, lines[:5])
    assert sum('([unknown])' not in line for line in lines) > len(lines) * .9 - 1, (data, pid, lines[:5])


def each_file_stands_alone(lab, *options):
    """Tasks that began before the rotation have their names and symbols in the file after it."""
    need_root()
    before = spawn_pair(lab)
    recorder = lab.start('record', '-a', '-e', 'cpu-clock', '-F', '999', '-o', 'p.data',
                         '--switch-output', *options, '--', 'sleep', '600', release=True)
    running(lab, recorder)
    during = spawn_pair(lab)
    shells = lab.spawn('sh', '-c', 'while :; do /bin/true; done')
    for i in range(3):
        work(*before, *during)
        rotate(lab, recorder, i + 1)
        closed = files(lab)[i]
        # Whole while the recording goes on.
        assert lab.perf_samples(closed) == lab.samples(closed) > 0
    work(*before, *during)
    shells.kill()
    status, _, said = interrupt(recorder)
    assert status == 0, said
    for pid in before + during:  # else they take the CPUs from the readers
        os.kill(pid, signal.SIGKILL)
    names = files(lab)
    assert len(names) == 4, names
    for name in names:
        samples = lab.samples(name)
        assert lab.perf_samples(name) == samples > 0, name
        for pid in before + during:
            check_known(lab, name, pid)
        dead = lab.forgotten(name) | {':-1'}
        strange = [line for line in lab.perf('script', '-i', name, '-F', 'comm').stdout.splitlines()
                   if line.strip().startswith(':') and line.strip() not in dead]
        assert len(strange) <= samples * .01 + 1, (name, len(strange), samples)


def add_alone():
    for mode, options in MODES.items():
        globals()[f'test_each_file_stands_alone ({mode})'] = \
            lambda lab, options=options: each_file_stands_alone(lab, *options)


add_alone()


def test_rotated_at_the_size(lab):
    """However late the recorder rotates, records that arrive meanwhile go to the next file, which names all
    tasks."""
    need_tracefs()
    need_root()
    size, piece, number = 1 << 20, 1 << 20, scaled(200000, 80000)
    for options in [], ['--aio']:
        calls = Calls(lab, '-a', number, bursts=4, pause_us=100000)
        others = [lab.spawn('sh', '-c', 'while :; do /bin/true; done')]
        recorder = lab.start('record', '-o', 'p.data', '-m', '8M', '--switch-output=1M', *options, *calls.argv,
                             release=True)
        calls.begin(recorder)
        # The main thread alone, which rotates.
        os.setpriority(os.PRIO_PROCESS, recorder.pid, 19)
        others += [lab.spawn(sys.executable, '-c', 'while True: pass') for _ in range(2 * os.cpu_count())]
        calls.go()
        calls.end()
        status, _, said = ended(recorder)
        for child in others:
            child.kill()
        names = files(lab)
        assert status == 0 and len(names) > scaled(10, 2), (names, said)
        for name in names:
            data = os.path.getsize(lab.path(name)) - header_and_live(lab, name)
            assert data <= size + piece + 65536, (name, data)
            comms = set(lab.run('script', '-i', name, '-F', 'comm', release=True).stdout.split())
            assert comms <= {'storm'}, (name, comms)
        assert sum(map(lab.samples, names)) + calls_lost(said) == number, said
        for name in names:
            os.unlink(lab.path(name))


def header_and_live(lab, name):
    """Returns the number of bytes of a file before its first sample."""
    for line in lab.run('dump', '-i', name, release=True).stdout.splitlines():
        match = re.match(r'(0x[0-9a-f]+) SAMPLE ', line)
        if match:
            return int(match.group(1), 16)
    return os.path.getsize(lab.path(name))


def test_after_a_time(lab):
    need_root()
    begin = time.monotonic()
    recorder = lab.start('record', '-a', '-e', 'cpu-clock', '-o', 'p.data', '--switch-output=1s')
    wait_for(lambda: len(files(lab)) >= 3, what='three files')
    status, _, said = interrupt(recorder)
    took = time.monotonic() - begin
    assert status == 0, said
    names = files(lab)
    assert 4 <= len(names) <= took + 1, (names, took)
    for name in names:
        assert lab.perf_samples(name) == lab.samples(name), name


def newest_are_kept(lab, *options):
    need_root()
    recorder = lab.start('record', '-a', '-e', 'cpu-clock', '-o', 'p.data', '--switch-output',
                         '--switch-max-files', '2', *options, '--', 'sleep', '600', release=True)
    running(lab, recorder)
    seen = []
    for nth in range(5):
        recorder.send_signal(signal.SIGUSR2)
        wait_for(lambda: set(files(lab)) - set(seen), what='another file')
        running(lab, recorder)
        seen += [name for name in files(lab) if name not in seen]
        assert len(seen) == nth + 1 and files(lab) == seen[-2:], (seen, files(lab))
    status, _, said = interrupt(recorder)
    assert status == 0, said
    assert len(files(lab)) == 2 and files(lab)[0] == seen[-1], (seen, files(lab))
    for name in files(lab):
        assert lab.perf_samples(name) == lab.samples(name), name


def test_the_newest_are_kept(lab):
    newest_are_kept(lab)


def test_the_newest_directories_are_kept(lab):
    newest_are_kept(lab, '--threads')


def test_the_oldest_goes_before_the_next_is_made(lab):
    """The file system has room only for the kept files and the one being written."""
    need_root()
    os.mkdir(lab.path('small'))
    if subprocess.run(['mount', '-t', 'tmpfs', '-o', 'nr_inodes=4', 'none', lab.path('small')], check=False).returncode:
        raise Skip('cannot mount a tmpfs')
    try:
        recorder = lab.start('record', '-a', '-e', 'cpu-clock', '-o', 'small/p.data', '--switch-output',
                             '--switch-max-files', '2')
        running(lab, recorder)
        for _ in range(4):
            lab.run('ctl', '--pid', recorder.pid, 'rotate')
            assert len(os.listdir(lab.path('small'))) <= 3
        status, _, said = interrupt(recorder)
        assert status == 0 and len(os.listdir(lab.path('small'))) == 2, said
    finally:
        subprocess.run(['umount', '-l', lab.path('small')], check=False)


def test_no_blocks_are_asked_for_beyond_the_size(lab):
    """The test runs on ext4, where ringtail asks for 4 MB of blocks at a time."""
    need_tracefs()
    if subprocess.run(['stat', '-f', '-c', '%T', lab.dir], check=True, text=True,
                      stdout=subprocess.PIPE).stdout.strip() != 'ext2/ext3':
        raise Skip('not on ext4')
    for options in ['--switch-output=5M'], ['--max-size=5M'], ['--switch-output=5M', '--aio']:
        calls = Calls(lab, 'command', 36000)
        recorder = lab.start('record', '-m', '8M', '-o', 'p.data', '--flush-interval', '50ms', *options, *calls.argv)
        calls.begin(recorder)
        calls.go()
        calls.made()
        wait_for(lambda: os.path.getsize(lab.path('p.data')) > 4400000, what='4.4 MB')
        assert os.stat(lab.path('p.data')).st_blocks * 512 <= (5 << 20) + 131072, (options, os.stat(lab.path('p.data')))
        calls.end()
        status, _, said = ended(recorder)
        assert status == 0, said
        subprocess.run('rm p.data*', shell=True, cwd=lab.dir, check=True)


def earlier_count(lab, *options):
    """Deletes files of earlier recordings first, and keeps all other files, those of outputs with another name
    included."""
    need_root()
    link = 'p.data.2026010101010102'
    foreign = ['p.data.202601010101010', 'p.data.20260101010101011', 'q.data.2026010101010101', link]
    for name in foreign[:-1]:
        with open(lab.path(name), 'w', encoding='utf-8'):
            pass
    os.symlink(foreign[0], lab.path(link))

    def ours():
        return sorted(name for name in os.listdir(lab.dir) if STAMP.match(name) and name != link)

    ever = set()
    for number, there in ('2', 2), ('4', 4), ('4,all', 4), ('3,all', 3):
        recorder = lab.start('record', '-a', '-e', 'cpu-clock', '-o', lab.path('p.data'), '--switch-output',
                             '--switch-max-files', number, *options, '--', 'sleep', '600', release=True)
        running(lab, recorder)
        before = ours()
        recorder.send_signal(signal.SIGUSR2)
        wait_for(lambda known=before: set(ours()) - set(known), what='another file')
        ever |= set(ours())
        status, _, said = interrupt(recorder)
        ever |= set(ours())
        assert status == 0 and ours() == sorted(ever)[-there:], (said, ours(), ever)
    assert len(ever) == 8 and set(foreign) <= set(os.listdir(lab.dir)), (ever, os.listdir(lab.dir))


def test_those_of_earlier_recordings_count(lab):
    earlier_count(lab)


def test_directories_of_earlier_recordings_count(lab):
    earlier_count(lab, '--threads')


def test_a_command_rotates(lab):
    need_root()
    read, write = os.pipe()
    ack_read, ack_write = os.pipe()
    recorder = lab.start('record', '-a', '-e', 'cpu-clock', '-o', 'p.data', '--switch-output',
                         '--control', f'fd:{read},{ack_write}', '--', 'sleep', '600',
                         pass_fds=(read, ack_write))
    wait_for(lambda: os.path.exists(lab.path('p.data')), what='file')
    os.write(write, b'rotate\n')
    assert os.read(ack_read, 100).startswith(b'ack\n')
    assert len(files(lab)) == 1
    told = lab.run('ctl', '--pid', recorder.pid, 'rotate').stdout
    assert len(files(lab)) == 2 and told == f'file={lab.path(files(lab)[1])}\n', (told, files(lab))
    lab.perf('report', '-i', files(lab)[0], '--stats')
    status, _, said = interrupt(recorder)
    assert status == 0 and len(files(lab)) == 3, said
    for fd in read, write, ack_read, ack_write:
        os.close(fd)


def not_begun(path):
    """Returns whether the recorder was killed before its first flush to a file; the header has the size of the
    data."""
    path = path + '/data' if os.path.isdir(path) else path
    if not os.path.exists(path):
        return True
    with open(path, 'rb') as f:
        return not any(f.read(56)[48:])


def test_killed_between_rotations(lab):
    need_root()
    for i, options in enumerate(MODES.values()):
        recorder = lab.start('record', '-a', '-e', 'cpu-clock', '-F', '4000', '-o', 'p.data',
                             '--flush-interval', '20ms', '--switch-output=' + ('8K' if '-z' in options else '64K'),
                             *options, '--', 'sleep', '600', release=True)
        wait_for(lambda: len(files(lab)) > 1, what='a rotation')
        time.sleep(0.1 + 0.237 * i)
        recorder.kill()
        recorder.wait()
        names = [os.path.basename(p) for p in glob.glob(lab.path('p.data*'))]
        for name in names:
            if not_begun(lab.path(name)):  # nor may one be that is just being finished
                assert name in ('p.data', max(names)), (options, names)
            else:
                assert lab.perf_samples(name) == lab.samples(name), (options, name)
        subprocess.run(['rm', '-rf', *(lab.path(name) for name in names)], check=True)


def until_it_ends(lab, *options):
    """Records storms, each after the output of the last one is written, until the recorder ends. Returns (status,
    stderr).

    So the main thread rotates in time, however late it runs."""
    recorder = lab.start('record', '-a', '-e', 'raw_syscalls:sys_enter', '--filter', storm_filter(lab), '-c', '1', '-m',
                         '4M', '--flush-interval', '20ms', *options, release=True)
    running(lab, recorder)
    calls = 0

    def written():
        p = lab.run('ctl', '--pid', recorder.pid, 'stats', '-j', status=None, release=True)
        return recorder.poll() is not None or p.returncode == 0 and json.loads(p.stdout)['samples'] >= calls
    while recorder.poll() is None:
        subprocess.run([lab.own('storm'), '4000'], check=True)
        calls += 4000
        wait_for(written, what=f'{calls} calls that are written')
    status, _, said = ended(recorder)
    return status, said


def test_ends_at_a_size(lab):
    need_tracefs()
    for options in MODES.values():
        size = 64 << 10 if '-z' in options else 1 << 20
        status, said = until_it_ends(lab, '-o', 'p.data', f'--max-size={size >> 10}K', *options)
        assert status == 0 and '--max-size' in said, said
        path = lab.path('p.data')
        total = sum(os.path.getsize(f) for f in (glob.glob(path + '/*') if os.path.isdir(path) else [path]))
        assert size <= total, (options, total)
        # (The size may be met by what others add.) As many as it can hold, and two of the storms.
        samples = lab.samples('p.data')
        assert 0 < samples == lab.perf_samples('p.data'), options
        assert samples <= size // (1 if '-z' in options else 100) + 8000, (options, samples)
        subprocess.run(['rm', '-rf', path], check=True)


def test_a_name_with_the_time(lab):
    need_root()
    for options in [], ['--threads']:
        p = lab.run('record', '-e', 'cpu-clock', '-o', 'p.data', '--timestamp-filename', *options, '--',
                    lab.workload, scaled(100))
        names = files(lab)
        assert len(names) == 1 and names[0] in p.stderr and not os.path.exists(lab.path('p.data'))
        assert lab.perf_samples(names[0]) == lab.samples(names[0]) > 0
        subprocess.run(['rm', '-rf', lab.path(names[0])], check=True)


def test_a_full_disk(lab):
    need_tracefs()
    os.mkdir(lab.path('small'))
    if subprocess.run(['mount', '-t', 'tmpfs', '-o', 'size=16M', 'none', lab.path('small')],
                      check=False).returncode:
        raise Skip('cannot mount a tmpfs')
    try:
        status, said = until_it_ends(lab, '-o', 'small/p.data', '--switch-output=4M')
        assert status == 1 and 'No space left' in said, said
        names = [n for n in os.listdir(lab.path('small'))]
        assert len(names) >= 2, names
        for name in names:
            assert lab.perf_samples('small/' + name) == lab.samples('small/' + name), name
    finally:
        subprocess.run(['umount', '-l', lab.path('small')], check=False)


def test_no_room_for_one_more_file(lab):
    """Messages use the current names of the files."""
    need_tracefs()
    os.mkdir(lab.path('small'))
    if subprocess.run(['mount', '-t', 'tmpfs', '-o', 'size=64M,nr_inodes=4', 'none', lab.path('small')],
                      check=False).returncode:
        raise Skip('cannot mount a tmpfs')
    try:
        status, said = until_it_ends(lab, '-o', 'small/p.data', '--switch-output=2M')
        names = sorted(os.listdir(lab.path('small')))
        assert len(names) == 3 and 'p.data' not in names, names
        total = sum(lab.samples('small/' + name) for name in names)
        assert f'small/{names[-1]} and 2 before it: {total:,} samples readable' in said, said
        assert status == 1, said
    finally:
        subprocess.run(['umount', '-l', lab.path('small')], check=False)


def test_the_signal_without_rotation(lab):
    need_root()
    recorder = lab.start('record', '-a', '-e', 'cpu-clock', '-o', 'p.data', '--', 'sleep', '600')
    running(lab, recorder)
    recorder.send_signal(signal.SIGUSR2)
    obeyed(lab, recorder)
    status, _, said = interrupt(recorder)
    assert status == 0 and '--switch-output' in said, said


def test_what_cannot_be(lab):
    for args, word in ((['--switch-output', '-o', '-'], '--switch-output'),
                       (['--timestamp-filename', '-o', '-'], '--timestamp-filename'),
                       (['--switch-output=10'], '--switch-output'),
                       (['--switch-output=0s'], '--switch-output'),
                       (['--switch-output=weekly'], '--switch-output'),
                       (['--switch-max-files', '3'], '--switch-max-files'),
                       (['--switch-output', '--switch-max-files', '3,'], '--switch-max-files'),
                       (['--switch-output', '--switch-max-files', '3,every'], '--switch-max-files'),
                       (['--max-size', '0M'], '--max-size'),
                       (['--max-size', 'much'], '--max-size')):
        p = lab.run('record', *args, '--', 'true', status=2)
        assert word in p.stderr, p.stderr
        assert not os.listdir(lab.dir), os.listdir(lab.dir)


def record_and_say(lab, *args):
    """Records a command, which can read the recorder's messages meanwhile, in the file `said`. Returns them."""
    with open(lab.path('said'), 'w+', encoding='utf-8') as said:
        p = subprocess.run(lab.argv(['record', *args]), cwd=lab.dir, stdin=subprocess.DEVNULL, stderr=said,
                           timeout=5 * PATIENCE, check=False)
        said.seek(0)
        text = said.read()
    assert p.returncode == 0 and 'Sanitizer' not in text, text
    return text


# Three calls, each when the output that the one before rotated is complete.
CALLER = '''
import os, re, time
for nth in 1, 2, 3:
    os.getppid()
    while len(re.findall(': .* samples?, .* lost', open('said').read())) < nth:
        time.sleep(0.02)
'''


def storms(lab, times, calls):
    """Returns a command: storms, each followed by a program with a unique name, until the file is complete."""
    shutil.copy('/bin/true', lab.path('ringtail-cut'))
    once = (f'{lab.own("storm")} {calls}; {lab.dir}/ringtail-cut; i=$((i+1)); '
            f'until [ $(grep -c ": .* samples*, .* lost" {lab.dir}/said) = $i ]; do sleep 0.02; done; ')
    return ['sh', '-c', once * times]


def rotated_by_an_event(lab, *options):
    """Each file has one storm, because the rotating event happens between storms."""
    need_tracefs()
    said = record_and_say(lab, '-o', 'p.data', '-e', 'raw_syscalls:sys_enter', '--filter', storm_filter(lab), '-c', '1',
                          '--switch-output-event', 'sched:sched_process_exec', '--filter',
                          f'filename == "{lab.dir}/ringtail-cut"', *options, '--', *storms(lab, 3, 1000))
    names = files(lab)
    counts = [lab.samples(name) for name in names]
    assert counts == [lab.perf_samples(name) for name in names], counts
    assert f'{sum(counts):,} samples, ' in said and calls_lost(said) == 0, (counts, said)
    lines = [lab.perf('script', '-i', name, '-F', 'comm,event').stdout.splitlines() for name in names]
    assert not any('exec' in line for each in lines for line in each), 'what cuts is not recorded'
    assert counts == [1000, 1000, 1000, 0], counts


def add_events():
    for name, options in {'command': [], 'system-wide': ['-a'], 'threads, compressed': ['--threads', '-z'],
                          'unbuffered': ['--no-buffering', '-a']}.items():
        globals()[f'test_an_event_rotates ({name})'] = \
            lambda lab, options=options: rotated_by_an_event(lab, *options)


add_events()


def test_an_event_of_a_single_task_rotates(lab):
    """The rings belong to tasks; the events are the storm's own, and several wait at once."""
    need_tracefs()
    said = record_and_say(lab, '-v', '-i', '-e', 'cpu-clock', '-o', 'p.data', '--switch-output-event',
                          'syscalls:sys_enter_getppid', '--', sys.executable, '-c', CALLER)
    assert len(re.findall(r'sys_enter_getppid on CPU \d+: the output is rotated', said)) == 3, said
    assert len(files(lab)) == 4, files(lab)
    # A recorder that stands still finds as many as a ring of theirs holds.
    calls = Calls(lab, 'command', 100000)
    recorder = lab.start('record', '-q', '-i', '-o', 'p.data', '--switch-output-event', 'syscalls:sys_enter_getppid',
                         *calls.argv, release=True)
    calls.begin(recorder)
    recorder.send_signal(signal.SIGSTOP)
    calls.go()
    calls.made()
    recorder.send_signal(signal.SIGCONT)
    calls.end()
    status, _, said = ended(recorder)
    assert status == 0 and 4 + 2 <= len(files(lab)) < 4 + 20, (len(files(lab)), said)


def test_events_that_cannot_rotate_are_refused(lab):
    for options, says in ((['--switch-output-event', 'cycles'], 'period'),
                          (['--switch-output-event', 'page-faults', '-o', '-'], '-o -'),
                          (['--switch-output-event', 'page-faults', '--filter', 'a == 1'], 'only tracepoints and probes')):
        assert says in lab.run('record', *options, '--', 'true', status=2).stderr
    lab.run('record', '--switch-output-event', 'sched:sched_nothing', '--', 'true', status=1)
    assert not os.path.exists(lab.path('perf.data'))
