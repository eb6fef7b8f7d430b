# SPDX-License-Identifier: Apache-2.0
"""Recordings with asynchronous writes: by io_uring, and by POSIX AIO where io_uring is forbidden."""
import os
import re
import signal
import subprocess
import time

from lab import PATIENCE, Skip, need_root, need_tracefs, scaled, wait_for

ENGINES = ('io_uring', 'POSIX AIO')


def barred(lab, argv, engine, how='setup'):
    """Returns the command line that makes ringtail write by `engine`."""
    return argv if engine == 'io_uring' else [lab.program('no-io-uring'), how, *argv]


def run(lab, engine, *args, status=0, how='setup', timeout=5 * PATIENCE):
    argv = barred(lab, lab.argv(['record', '-v', *args]), engine, how)
    p = subprocess.run(argv, cwd=lab.dir, text=True, errors='replace', stdin=subprocess.DEVNULL,
                       stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=timeout, check=False)
    assert 'Sanitizer' not in p.stderr and 'runtime error' not in p.stderr, p.stderr[-3000:]
    if 'seccomp' in p.stderr:
        raise Skip('no seccomp filters here: ' + p.stderr.strip())
    assert p.returncode == status, (p.returncode, p.stderr[-1500:])
    said = re.search(r'asynchronous output by (io_uring|POSIX AIO)', p.stderr)
    assert said, p.stderr
    if engine == 'io_uring' and said[1] != engine:
        raise Skip('no io_uring here: ' + re.search(r'\(io_uring: .*?\)', p.stderr)[0])
    assert said[1] == engine, p.stderr
    return p


def agreed(lab, data, least=1):
    samples = lab.samples(data)
    assert samples >= least, f'only {samples} samples'
    assert lab.perf_samples(data) == samples
    return samples


def counts_every_call(lab, engine, *options):
    """Each call is in the file, or counted as lost."""
    need_tracefs()
    calls = scaled(300000)
    number = subprocess.run([lab.program('storm'), '--syscall'], check=True, text=True,
                            stdout=subprocess.PIPE).stdout.strip()
    p = run(lab, engine, '-o', 'p.data', '-e', 'raw_syscalls:sys_enter', '--filter', f'id == {number}',
            '-c', '1', *options, '--', lab.program('storm'), calls)
    samples, lost = (int(n.replace(',', '')) for n in
                     re.search(r'([\d,]+) samples, ([\d,]+) lost', p.stderr).groups())
    assert samples + lost == calls, (samples, lost)
    assert agreed(lab, 'p.data') == samples


def full_disk(lab, engine, *options):
    need_tracefs()
    os.mkdir(lab.path('small'))
    if subprocess.run(['mount', '-t', 'tmpfs', '-o', f'size={scaled(16)}M', 'none', lab.path('small')],
                      check=False).returncode:
        raise Skip('cannot mount a tmpfs')
    try:
        p = run(lab, engine, '-a', '-o', 'small/p.data', '-e', 'raw_syscalls:sys_enter', '-c', '1',
                '--flush-interval', '20ms', *options, '--', lab.program('storm'), 2000000000, status=1)
        assert 'No space left' in p.stderr and 'small/p.data' in p.stderr, p.stderr
        agreed(lab, 'small/p.data', least=1000)
    finally:
        subprocess.run(['umount', '-l', lab.path('small')], check=False)


def killed(lab, engine, *options):
    need_root()
    for i in range(3):
        data = f'{i}.data'
        child = lab.spawn(*barred(lab, lab.argv(
            ['record', '-a', '-e', 'cpu-clock', '-F', '4000', '-o', data, '--flush-interval', '50ms',
             *options, '--', 'sleep', '600'], release=True), engine))
        wait_for(lambda data=data: lab.samples_so_far(data), what='first flush')
        time.sleep(0.1 + 0.137 * i)
        child.send_signal(signal.SIGKILL)
        child.wait()
        agreed(lab, data)


def pipe(lab, engine):
    need_root()
    recorder = subprocess.Popen(
        barred(lab, lab.argv(['record', '-q', '-a', '-e', 'cpu-clock', '-F', '4000', '--aio', '-o', '-',
                              '--', lab.workload, scaled(200)]), engine),
        cwd=lab.dir, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    lab.children.append(recorder)
    with open(lab.path('p.data'), 'wb') as f:
        f.write(recorder.stdout.read())
    assert recorder.wait(timeout=PATIENCE) == 0, recorder.stderr.read()
    agreed(lab, 'p.data', least=100)


def gone_reader(lab, engine):
    need_root()
    recorder = subprocess.Popen(
        barred(lab, lab.argv(['record', '-a', '-e', 'cpu-clock', '-F', '4000', '--flush-interval', '50ms',
                              '--aio', '-o', '-', '--', 'sleep', '600']), engine),
        cwd=lab.dir, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    lab.children.append(recorder)
    recorder.stdout.read(20000)
    recorder.stdout.close()
    assert recorder.wait(timeout=PATIENCE) == 1, recorder.returncode
    text = recorder.stderr.read().decode()
    assert 'has closed it' in text, text


def add(name, function, *args):
    for engine in ENGINES:
        globals()[f'test_{name} ({engine})'] = lambda lab, engine=engine: function(lab, engine, *args)


add('counts_every_call', counts_every_call, '--aio')
add('counts_every_call_one_in_flight', counts_every_call, '--aio=1', '-m', '64K')
add('full_disk', full_disk, '--aio')
add('full_disk_with_threads', full_disk, '--aio=2', '--threads')
add('killed_at_random_moments', killed, '--aio')
add('pipe', pipe)
add('pipe_without_reader', gone_reader)


def test_io_uring_that_may_be_set_up_and_not_used(lab):
    run(lab, 'POSIX AIO', '-o', 'p.data', '--aio=3', '-e', 'cpu-clock', '--', lab.workload, '20',
        how='enter')
    agreed(lab, 'p.data')


def test_the_reason_is_said(lab):
    p = run(lab, 'POSIX AIO', '-o', 'p.data', '--aio=3', '-e', 'cpu-clock', '--', 'true')
    assert '(io_uring: Operation not permitted)' in p.stderr, p.stderr
    assert 'up to 3 writes' in p.stderr, p.stderr


def test_numbers_of_writes_that_cannot_be(lab):
    for number in '0', '4097', '-1', 'many':
        p = lab.run('record', f'--aio={number}', '-o', 'p.data', '--', 'true', status=2)
        assert '--aio' in p.stderr, p.stderr
        assert not os.path.exists(lab.path('p.data'))
