# SPDX-License-Identifier: Apache-2.0
"""Faults during a recording, in every mode: flushed records stay readable, each call is a sample or a counted loss,
the exit status reports the fault, and nothing hangs.

calls.py makes the calls. The tests wait long for the end of a recording, so that only one that hangs fails;
FAULT_TIMES=1 prints the times.
"""
import collections
import os
import random
import re
import resource
import shutil
import signal
import subprocess
import sys
import time

from calls import PATIENCE, Calls, number
from lab import Skip, calls_lost, ended, few_files, need_tracefs, scaled, stat, wait_for

HERE = os.path.dirname(os.path.abspath(__file__))
CALLS = scaled(40000, 16000)
# name: (options, POSIX AIO instead of io_uring?)
READERS = {
    'serial': ([], False),
    'aio': (['--aio'], False),
    'POSIX aio': (['--aio'], True),
    'threads': (['--threads'], False),
    'threads aio': (['--threads', '--aio'], False),
}
MODES = {name + more: (options + added, posix) for name, (options, posix) in READERS.items()
         for more, added in (('', []), (' compressed', ['-z']))}


def argv(lab, mode, *options, release=False):
    options, posix = MODES[mode] if not options else (MODES[mode][0] + list(options), MODES[mode][1])
    line = lab.argv(['record', '--flush-interval', '20ms', *options], release=release)
    return [lab.program('no-io-uring'), *line] if posix else line


def launch(lab, mode, *options, release=False, **kw):
    """Starts a recording in a mode, with its messages in the file `said`."""
    with open(lab.path('said'), 'wb') as said:
        child = subprocess.Popen(argv(lab, mode, *options, release=release), cwd=lab.dir, stderr=said,
                                 stdin=subprocess.DEVNULL, **{'stdout': subprocess.DEVNULL, **kw})
    lab.children.append(child)
    return child


def finished(lab, child, status=0, patience=PATIENCE):
    """Returns the messages of a recording that ends now, and checks its status."""
    begin = time.monotonic()
    try:
        child.wait(timeout=patience)
    except subprocess.TimeoutExpired:
        raise AssertionError(f'it hangs: {said(lab)}') from None
    if os.environ.get('FAULT_TIMES'):
        print(f'# ended {time.monotonic() - begin:.2f} s later')
    text = said(lab)
    assert 'Sanitizer' not in text and 'runtime error' not in text, text[-3000:]
    assert child.returncode == status, f'exit {child.returncode}, not {status}: {text[-1500:]}'
    return text


def said(lab):
    with open(lab.path('said'), encoding='utf-8', errors='replace') as f:
        return f.read()


def agreed(lab, data, quiet=True):
    """Counts the samples of an output with ringtail and perf, which must agree."""
    samples = lab.samples(data)
    perf = stat(lab.perf('report', '-i', data, '--stats', quiet=quiet).stdout, 'SAMPLE')
    assert perf == samples, f'{data}: perf reads {perf} samples, ringtail {samples}'
    return samples


def total(text):
    """Returns samples and losses from a recording's last lines."""
    return number(r'([\d,]+) samples?, [\d,]+ lost', text), calls_lost(text)


def saved(lab, mode, text, data, least=1000, in_place=True):
    """Checks a recording that failed: the samples it reports as saved are readable and enough. The file also
    reports the losses, if it can be written in place."""
    told = number(r'([\d,]+) samples? readable, .* all later ones', text)
    assert told is not None, f'it does not say what is readable: {text}'
    samples = agreed(lab, data, quiet=False)
    assert 'at least' not in text, text
    assert samples == told, f'{told} samples are said to be readable, {samples} are'
    lost = number(r'samples? readable, ([\d,]+) lost', text)
    assert not in_place or lab.lost(data) == lost, f'{lost} are said to be lost, and in the file {lab.lost(data)}'
    assert told >= least, f'only {told} samples are readable'


# --- killed ----------------------------------------------------------------------------------------

def killed(lab, mode):
    """Kills the recorder at three moments while calls are made, and once when the file has all that was flushed.

    The rings have room for all calls, however long the recorder does not drain them."""
    for i in range(4):
        data, calls = f'{i}.data', Calls(lab, '-a', CALLS, bursts=8)
        child = launch(lab, mode, '-m', '8M', '-o', data, *calls.argv, release=i > 0)
        calls.begin(child)
        calls.go()
        if i:
            time.sleep(random.uniform(0, 0.2))
        else:
            calls.made()
            wait_for(lambda data=data: lab.samples(data) == CALLS, PATIENCE, 'all calls in the file')
        child.kill()
        child.wait()
        samples = agreed(lab, data)
        assert samples <= CALLS and (i or samples == CALLS), samples
        calls.end()


# --- the file system -------------------------------------------------------------------------------

def too_many(lab, mode, data, bursts=1, readable=None, random=False, release=False, **kw):
    """Records more calls to `data` than there is room for: with `readable`, the path by which to read it, more than the
    first burst not before that has been flushed. Returns the recorder's messages."""
    calls = Calls(lab, '-a', 50000000, bursts, first=bool(readable), random=random)
    begin = time.monotonic()
    child = launch(lab, mode, '-o', data, *calls.argv, release=release, **kw)
    calls.begin(child)
    calls.go()
    if readable:
        wait_for(lambda: child.poll() is not None or lab.samples_so_far(readable) >= 1000, what='a flush')
        calls.more()
    # Calls that are lost fill no disk.
    text = finished(lab, child, status=1, patience=5 * PATIENCE)
    if os.environ.get('FAULT_TIMES'):
        print(f'# ended {time.monotonic() - begin:.2f} s after its start')
    assert data in text, text
    return text


def full_disk(lab, mode):
    os.mkdir(lab.path('small'))
    # Compressed, a sample with random arguments has 52 bytes instead of 128. Others have four, and half a million
    # of them, for 2 MB, took minutes on emulated CPUs.
    size = '8M' if 'compressed' in mode else '16M'
    if subprocess.run(['mount', '-t', 'tmpfs', '-o', 'size=' + size, 'none', lab.path('small')],
                      check=False).returncode:
        raise Skip('cannot mount a tmpfs')
    try:
        text = too_many(lab, mode, 'small/p.data', random=True, release=True)
        assert 'No space left' in text and 'free disk space' in text, text
        # All but a few pieces that were on their way.
        saved(lab, mode, text, 'small/p.data', least=70000)
    finally:
        subprocess.run(['umount', '-l', lab.path('small')], check=False)


def failing_disk(lab, mode):
    with FailingFs(lab, 150000 if '-z' in MODES[mode][0] else 2000000, 'EIO'):
        text = too_many(lab, mode, 'disk/p.data', bursts=10000, readable='behind/p.data')
    assert 'Input/output error' in text, text
    saved(lab, mode, text, 'behind/p.data', in_place=False)


def file_size_limit(lab, mode):
    limit = 150000 if '-z' in MODES[mode][0] else 2000000
    text = too_many(lab, mode, 'p.data', bursts=10000, readable='p.data',
                    preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit)))
    assert 'File too large' in text, text
    saved(lab, mode, text, 'p.data')


def disk_that_stands_still(lab, mode):
    calls = Calls(lab, 'command', CALLS, bursts=8)
    with FailingFs(lab, 50000, '1'):
        child = launch(lab, mode, '-m', '256K', '-o', 'disk/p.data', *calls.argv)
        calls.begin(child)
        calls.go()
        calls.end()
        samples, lost = total(finished(lab, child))
    assert samples + lost == CALLS, (samples, lost)
    assert agreed(lab, 'behind/p.data', quiet=not lost) == samples


class FailingFs:
    """Writes to disk/ go to behind/ until the disk fails (failing_fs.py)."""

    def __init__(self, lab, size, failure):
        self.where = lab.path('disk')
        for name in 'disk', 'behind':
            os.mkdir(lab.path(name))
        self.server = subprocess.Popen([sys.executable, HERE + '/failing_fs.py', lab.path('behind'), self.where,
                                        str(size), failure], stdout=subprocess.PIPE, text=True)
        lab.children.append(self.server)

    def __enter__(self):
        line = self.server.stdout.readline().strip()
        if line != 'mounted':
            raise Skip('no file system of our own: ' + line)

    def __exit__(self, *_):
        subprocess.run(['umount', '-l', self.where], check=False)
        self.server.wait(timeout=PATIENCE)
        self.server.stdout.close()


# --- limits ----------------------------------------------------------------------------------------

def few_descriptors(lab, mode):
    """With any number of descriptors the recorder records, or names the limit and leaves nothing behind."""
    recorded, more = 0, 6 * max(0, os.cpu_count() - 2)  # a CPU takes some by itself
    for limit in [*range(5, 24), *range(25, 60 + more, 4 + more // 9)]:
        os.mkdir(lab.path('out'))
        child = launch(lab, mode, '-o', 'out/p.data', '-a', '-e', 'cpu-clock', '--', 'true', release=limit % 3 > 0,
                       preexec_fn=few_files(limit))
        child.wait(timeout=PATIENCE)
        text = finished(lab, child, 0 if child.returncode == 0 else 1)
        if child.returncode == 0:
            agreed(lab, 'out/p.data')
            recorded += 1
        else:
            assert re.search(r'open files|RLIMIT_NOFILE|ulimit -n', text), f'{limit} descriptors: {text}'
            assert not os.listdir(lab.path('out')), f'{limit} descriptors: {os.listdir(lab.path("out"))}'
        shutil.rmtree(lab.path('out'))
    assert recorded, f'even {limit} descriptors are too few'


def rings_beyond_the_address_space(lab, mode):
    size = 1 << 30  # of addresses, with two rings of half of it, or one of all
    ring = '512M' if os.cpu_count() > 1 else '1G'
    child = launch(lab, mode, '-o', 'p.data', '-a', '-m', ring, '-e', 'cpu-clock', '--', 'true', release=True,
                   preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (size, size)))
    text = finished(lab, child, status=1)
    assert '-m' in text, text
    assert not os.path.exists(lab.path('p.data')), text


# --- held ------------------------------------------------------------------------------------------

def held(lab, mode):
    """Stops the recorder for a second, in which most calls are made."""
    calls = Calls(lab, '-a', CALLS, bursts=8)
    child = launch(lab, mode, '-o', 'p.data', '-m', '256K', *calls.argv)
    calls.begin(child)
    calls.go()
    time.sleep(0.03)
    child.send_signal(signal.SIGSTOP)
    calls.made()
    time.sleep(1)
    child.send_signal(signal.SIGCONT)
    calls.end()
    samples, lost = total(finished(lab, child))
    assert samples + lost == CALLS, (samples, lost)
    assert agreed(lab, 'p.data', quiet=not lost) == samples


def held_at_a_rotation(lab, mode):
    calls = Calls(lab, '-a', CALLS, bursts=40)
    child = launch(lab, mode, '-o', 'p.data', '--switch-output', *calls.argv)
    calls.begin(child)
    calls.go()

    def outputs():
        return [name for name in os.listdir(lab.dir) if name.startswith('p.data')]
    for nth in range(4):
        child.send_signal(signal.SIGUSR2)
        time.sleep(random.uniform(0, 0.02))
        child.send_signal(signal.SIGSTOP)
        time.sleep(0.2)
        child.send_signal(signal.SIGCONT)
        # Signals that wait together are one.
        wait_for(lambda nth=nth: len(outputs()) > nth + 1, what=f'cut {nth + 1}')
    calls.end()
    samples, lost = total(finished(lab, child))
    assert samples + lost == CALLS, (samples, lost)
    names = outputs()
    assert len(names) == 5 and 'p.data' not in names, names
    assert sum(agreed(lab, name, quiet=not lost) for name in names) == samples, names


# --- pipes -----------------------------------------------------------------------------------------

def reader_that_goes_away(lab, mode):
    calls = Calls(lab, '-a', 50000000)
    child = launch(lab, mode, '-o', '-', *calls.argv, stdout=subprocess.PIPE)
    with child.stdout:
        lab.children.append(subprocess.Popen(['head', '-c', '300000'], stdin=child.stdout, stdout=subprocess.DEVNULL))
    calls.begin(child)
    calls.go()
    text = finished(lab, child, status=1)
    assert 'has closed it' in text and 'e+' not in text, text  # of 100 % not "1e+02 %"


def reader_that_stands_still(lab, mode):
    calls = Calls(lab, 'command', CALLS, bursts=8)
    child = launch(lab, mode, '-o', '-', '-m', '256K', *calls.argv, stdout=subprocess.PIPE)
    calls.begin(child)
    calls.go()
    time.sleep(1)
    with open(lab.path('stream'), 'wb') as stream:
        cat = subprocess.Popen(['cat'], stdin=child.stdout, stdout=stream)
        lab.children.append(cat)
        child.stdout.close()
    calls.end()
    samples, lost = total(finished(lab, child))
    cat.wait(timeout=PATIENCE)
    assert samples + lost == CALLS, (samples, lost)
    assert lab.samples('stream') == samples


def add(faults):
    for fault in faults:
        for mode in MODES:
            def test(lab, fault=fault, mode=mode):
                need_tracefs()
                fault(lab, mode)
            globals()[f'test_{fault.__name__} ({mode})'] = test


add((killed, full_disk, failing_disk, file_size_limit, disk_that_stands_still, few_descriptors,
     rings_beyond_the_address_space, held, held_at_a_rotation, reader_that_goes_away, reader_that_stands_still))


def test_a_command_is_told_to_end_with_its_recording(lab):
    command = 'trap "echo TERM >got; exit" TERM; while :; do :; done'
    p = lab.run('record', '-e', 'cpu-clock', '--flush-interval', '20ms', '-o', 'p.data', '--', 'sh', '-c', command,
                status=1, preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (300000, 300000)))
    assert 'File too large' in p.stderr and 'ringtail sent SIGTERM to the command' in p.stderr, p.stderr

    def got():
        if os.path.exists(lab.path('got')):
            with open(lab.path('got'), encoding='ascii') as f:
                return f.read()
        return ''
    # It is not waited for any longer than a second.
    assert wait_for(got, what='the signal') == 'TERM\n'
    p = lab.run('record', '-e', 'cpu-clock', '--max-size', '100K', '-o', 'q.data', '--', 'sh', '-c', command)
    assert 'SIGTERM' not in p.stderr, p.stderr


def test_what_does_not_fit_at_the_end_is_counted_once(lab):
    """Limits the size of the files to less than they would need, by more and more bytes."""
    need_tracefs()

    def record(options, limit, status):
        calls = Calls(lab, 'command', 20000)
        # All is written at the end: earlier flushes write more, and end the command with an error.
        child = lab.start('record', *options, '-m', '8M', '--flush-interval', '60s', '-o', 'p.data', *calls.argv,
                          release=True,
                          preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit)))
        calls.begin(child)
        calls.go()
        calls.end()
        found, _, text = ended(child)
        assert found == status, text
        return text

    with open('/sys/devices/system/cpu/online', encoding='ascii') as f:
        cpus = f.read().strip()
    # One thread for all CPUs, and so one file: which of several is the largest differs with where the load runs.
    threads = [f'--threads={cpus}/{cpus}']
    for options in [], ['--aio'], ['-z'], threads:
        record(options, 1 << 30, 0)
        data = lab.path('p.data/data' if options == threads else 'p.data')
        size, failures = os.path.getsize(data), set()
        # Compressed they are not as large each time.
        for less in [size // 2] if '-z' in options else [16, 100, 200, 300, 1000, 10000]:
            text = record(options, size - less, 1)
            failures.add(re.search(r'cannot write (the features|at offset|)', text)[1])
            samples, lost = number(r'([\d,]+) samples? readable', text), number(r'readable, ([\d,]+) lost', text)
            assert samples + lost == 20000, (options, less, text)
            assert (lab.samples('p.data'), lab.lost('p.data')) == (samples, lost), (options, less, text)
        assert options in (['-z'], threads) or failures == {'the features', 'at offset'}, (options, failures)
        shutil.rmtree(lab.path('p.data'), ignore_errors=True)


def test_names_are_written_before_samples(lab):
    """All data comes at once, at the end, and the room is too small: the samples that fit have names."""
    need_tracefs()
    for options in [], ['--threads'], ['-z']:
        calls = Calls(lab, 'command', 50000)
        frame = lab.frame(*(word for word in options if word != '--threads'), *calls.argv[:calls.argv.index('--')])
        limit = frame + (30000 if '-z' in options else 1000000)
        child = lab.start('record', *options, '-m', '8M', '--flush-interval', '60s', '-o', 'p.data', *calls.argv,
                          preexec_fn=lambda limit=limit: resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit)))
        calls.begin(child)
        calls.go()
        calls.end()
        status, _, said = ended(child)
        assert status == 1 and 'File too large' in said, said
        found = collections.Counter(lab.run('script', '-i', 'p.data', '-F', 'comm', release=True).stdout.split())
        assert set(found) == {'storm'}, (options, found)
        shutil.rmtree(lab.path('p.data'), ignore_errors=True)
