# SPDX-License-Identifier: Apache-2.0
"""Recordings whose output is rotated: nothing lost or doubled at the cuts, each file alone is whole."""
import glob
import os
import re
import signal
import subprocess
import time

from lab import Skip, interrupt, need_root, need_tracefs, table, wait_for

MODES = {
    'serial': [],
    'aio': ['--aio'],
    'compressed': ['-z'],
    'threads': ['--threads'],
    'threads, aio, compressed': ['--threads', '--aio', '-z'],
}
STAMP = re.compile(r'^p\.data\.20\d{14}$')


def files(lab):
    """What was rotated away, oldest first."""
    names = sorted(os.path.basename(p) for p in glob.glob(lab.path('p.data.*')))
    assert all(STAMP.match(name) for name in names), names
    return names


def count_in_all(lab, *options, least=3, calls=300000):
    need_tracefs()
    number = subprocess.run([lab.program('storm'), '--syscall'], check=True, text=True,
                            stdout=subprocess.PIPE).stdout.strip()
    p = lab.run('record', '-o', 'p.data', '-e', 'raw_syscalls:sys_enter', '--filter', f'id == {number}',
                '-c', '1', *options, '--', lab.program('storm'), calls)
    samples, lost = (int(n.replace(',', '')) for n in
                     re.findall(r'([\d,]+) samples, ([\d,]+) lost', p.stderr)[-1])
    assert samples + lost == calls, (samples, lost)
    names = files(lab)
    assert len(names) >= least, names
    assert not os.path.exists(lab.path('p.data')), 'the last file has its time, too'
    counted = [lab.samples(name) for name in names]
    assert counted == [lab.perf_samples(name) for name in names], counted
    assert sum(counted) == samples, (counted, samples)
    for name, n in zip(names, counted):
        if n:
            rows = table(lab.perf('report', '-i', name, '--stdio', '--sort', 'comm,sym', quiet=not lost).stdout)
            assert rows and rows[0][1].startswith('storm [k] '), (name, rows)


def add_counting():
    for mode, options in MODES.items():
        size = '64K' if '-z' in options else '2M'
        more = ['--flush-interval', '20ms', f'--switch-output={size}', *options]
        globals()[f'test_every_call_is_in_one_file ({mode})'] = \
            lambda lab, more=more: count_in_all(lab, *more)


add_counting()


def test_small_rings_lose_what_is_counted(lab):
    count_in_all(lab, '-m', '64K', '--switch-output=1M')


def rotate(lab, child, nth):
    child.send_signal(signal.SIGUSR2)
    wait_for(lambda: len(files(lab)) >= nth and os.path.exists(lab.path('p.data')), what=f'file {nth}')
    time.sleep(0.4)


def children(pid):
    with open(f'/proc/{pid}/task/{pid}/children', encoding='ascii') as f:
        return [int(child) for child in f.read().split()]


def spawn_pair(lab):
    """Starts a process and a fork of it without an exec; they end with us. Returns their ids."""
    first = lab.spawn('python3', '-c', 'import os\nme, up = os.getpid(), os.getppid()\nos.fork()\n'
                                       'while os.getppid() in (me, up): pass')
    wait_for(lambda: children(first.pid), what='fork')
    return first.pid, children(first.pid)[0]


def check_known(lab, data, pid):
    """The samples of a process have its name, and lie in files that are known."""
    lines = [line for line in lab.perf('script', '-i', data, '--pid', pid, '-F', 'comm,ip,sym,dso')
             .stdout.splitlines() if line.strip()]
    assert len(lines) > 10, (data, pid, len(lines))
    assert sum(line.split()[0] == 'python3' for line in lines) > len(lines) * .9, (data, pid, lines[:5])
    assert sum('([unknown])' not in line for line in lines) > len(lines) * .9, (data, pid, lines[:5])


def each_file_stands_alone(lab, *options):
    """Who was started before the cut is known after it: by name, with its symbols."""
    need_root()
    before = spawn_pair(lab)
    recorder = lab.start('record', '-a', '-e', 'cpu-clock', '-F', '999', '-o', 'p.data',
                         '--switch-output', *options, '--', 'sleep', '60', release=True)
    wait_for(lambda: os.path.exists(lab.path('p.data')), what='file')
    time.sleep(1)
    during = spawn_pair(lab)
    shells = lab.spawn('sh', '-c', 'while :; do /bin/true; done')
    time.sleep(0.7)
    for i in range(3):
        rotate(lab, recorder, i + 1)
        closed = files(lab)[i]
        # Whole while the recording goes on.
        assert lab.perf_samples(closed) == lab.samples(closed) > 0
    shells.kill()
    time.sleep(0.3)
    status, _, said = interrupt(recorder)
    assert status == 0, said
    names = files(lab)
    assert len(names) == 4, names
    for name in names:
        samples = lab.samples(name)
        assert lab.perf_samples(name) == samples > 0, name
        for pid in before + during:
            check_known(lab, name, pid)
        strange = [line for line in lab.perf('script', '-i', name, '-F', 'comm').stdout.splitlines()
                   if line.strip().startswith(':')]
        assert len(strange) <= samples * .01 + 1, (name, len(strange), samples)


def add_alone():
    for mode, options in MODES.items():
        globals()[f'test_each_file_stands_alone ({mode})'] = \
            lambda lab, options=options: each_file_stands_alone(lab, *options)


add_alone()


def test_after_a_time(lab):
    need_root()
    begin = time.monotonic()
    lab.run('record', '-a', '-e', 'cpu-clock', '-o', 'p.data', '--switch-output=1s', '--', 'sleep', '3.5')
    took = time.monotonic() - begin
    names = files(lab)
    assert 4 <= len(names) <= took + 1, names
    for name in names:
        assert lab.perf_samples(name) == lab.samples(name), name


def newest_are_kept(lab, *options):
    need_root()
    recorder = lab.start('record', '-a', '-e', 'cpu-clock', '-o', 'p.data', '--switch-output',
                         '--switch-max-files', '2', *options, '--', 'sleep', '60', release=True)
    wait_for(lambda: os.path.exists(lab.path('p.data')), what='file')
    time.sleep(1)
    seen = []
    for _ in range(5):
        recorder.send_signal(signal.SIGUSR2)
        wait_for(lambda: set(files(lab)) - set(seen), what='another file')
        time.sleep(0.5)
        seen += [name for name in files(lab) if name not in seen]
        assert files(lab) == seen[-2:], (seen, files(lab))
    status, _, said = interrupt(recorder)
    assert status == 0, said
    assert len(files(lab)) == 2 and files(lab)[0] == seen[-1], (seen, files(lab))
    for name in files(lab):
        assert lab.perf_samples(name) == lab.samples(name), name


def test_the_newest_are_kept(lab):
    newest_are_kept(lab)


def test_the_newest_directories_are_kept(lab):
    newest_are_kept(lab, '--threads')


def test_a_command_rotates(lab):
    need_root()
    read, write = os.pipe()
    ack_read, ack_write = os.pipe()
    recorder = lab.start('record', '-a', '-e', 'cpu-clock', '-o', 'p.data', '--switch-output',
                         '--control', f'fd:{read},{ack_write}', '--', 'sleep', '60',
                         pass_fds=(read, ack_write))
    wait_for(lambda: os.path.exists(lab.path('p.data')), what='file')
    os.write(write, b'rotate\n')
    assert os.read(ack_read, 100).startswith(b'ack\n')
    assert len(files(lab)) == 1
    lab.perf('report', '-i', files(lab)[0], '--stats')
    status, _, said = interrupt(recorder)
    assert status == 0 and len(files(lab)) == 2, said
    for fd in read, write, ack_read, ack_write:
        os.close(fd)


def test_killed_between_cuts(lab):
    need_root()
    for i, options in enumerate(MODES.values()):
        recorder = lab.start('record', '-a', '-e', 'cpu-clock', '-F', '4000', '-o', 'p.data',
                             '--flush-interval', '20ms', '--switch-output=' + ('8K' if '-z' in options else '64K'),
                             *options, '--', 'sleep', '60', release=True)
        wait_for(lambda: os.path.exists(lab.path('p.data')), what='file')
        time.sleep(1 + 0.237 * i)
        recorder.kill()
        recorder.wait()
        names = [os.path.basename(p) for p in glob.glob(lab.path('p.data*'))]
        for name in names:
            if '.old' not in name:
                assert lab.perf_samples(name) == lab.samples(name), (options, name)
        subprocess.run(['rm', '-rf', *(lab.path(name) for name in names)], check=True)


def test_ends_at_a_size(lab):
    need_root()
    for options in MODES.values():
        size = 64 << 10 if '-z' in options else 1 << 20
        p = lab.run('record', '-a', '-e', 'cpu-clock', '-F', '10000', '-g', '-o', 'p.data',
                    f'--max-size={size >> 10}K', '--flush-interval', '50ms', *options, '--', 'sleep', '50')
        assert '--max-size' in p.stderr, p.stderr
        path = lab.path('p.data')
        total = sum(os.path.getsize(f) for f in (glob.glob(path + '/*') if os.path.isdir(path) else [path]))
        assert size <= total < 16 * size, (options, total)
        assert lab.perf_samples('p.data') == lab.samples('p.data') > 0
        subprocess.run(['rm', '-rf', path], check=True)


def test_a_name_with_the_time(lab):
    need_root()
    for options in [], ['--threads']:
        p = lab.run('record', '-e', 'cpu-clock', '-o', 'p.data', '--timestamp-filename', *options, '--',
                    lab.workload, '100')
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
        p = lab.run('record', '-a', '-o', 'small/p.data', '-e', 'raw_syscalls:sys_enter', '-c', '1',
                    '--switch-output=4M', '--flush-interval', '20ms', '--', lab.program('storm'), 20000000,
                    status=1)
        assert 'No space left' in p.stderr, p.stderr
        names = [n for n in os.listdir(lab.path('small'))]
        assert len(names) >= 2, names
        for name in names:
            assert lab.perf_samples('small/' + name) == lab.samples('small/' + name), name
    finally:
        subprocess.run(['umount', lab.path('small')], check=False)


def test_the_signal_without_rotation(lab):
    need_root()
    recorder = lab.start('record', '-a', '-e', 'cpu-clock', '-o', 'p.data', '--', 'sleep', '60')
    wait_for(lambda: os.path.exists(lab.path('p.data')), what='file')
    time.sleep(0.5)
    recorder.send_signal(signal.SIGUSR2)
    time.sleep(0.3)
    status, _, said = interrupt(recorder)
    assert status == 0 and '--switch-output' in said, said


def test_what_cannot_be(lab):
    for args, word in ((['--switch-output', '-o', '-'], '--switch-output'),
                       (['--timestamp-filename', '-o', '-'], '--timestamp-filename'),
                       (['--switch-output=10'], '--switch-output'),
                       (['--switch-output=0s'], '--switch-output'),
                       (['--switch-output=weekly'], '--switch-output'),
                       (['--switch-max-files', '3'], '--switch-max-files'),
                       (['--max-size', '0M'], '--max-size'),
                       (['--max-size', 'much'], '--max-size')):
        p = lab.run('record', *args, '--', 'true', status=2)
        assert word in p.stderr, p.stderr
        assert not os.listdir(lab.dir), os.listdir(lab.dir)
