# SPDX-License-Identifier: Apache-2.0
"""An output that is too slow: ringtail drops stacks and samples in a fixed order, and counts all of them."""
import fcntl
import mmap
import os
import re
import signal
import struct
import subprocess
import termios
import time

from calls import Calls
from lab import LONGER, PATIENCE, lost as lost_in, need_tracefs, scaled, stat, wait_for
from test_service import Manager

CALLS = scaled(600000, 200000)


def calls_event(lab):
    number = subprocess.run([lab.program('storm'), '--syscall'], check=True, text=True,
                            stdout=subprocess.PIPE).stdout.strip()
    return ['-e', 'raw_syscalls:sys_enter', '--filter', f'id == {number}', '-c', '1']


def readers_rest(pid):
    """Returns whether all threads that read rings wait."""
    states = set()
    for task in os.listdir(f'/proc/{pid}/task'):
        with open(f'/proc/{pid}/task/{task}/stat', encoding='ascii') as f:
            name, fields = f.read().rsplit(')', 1)
        if 'reader' in name:
            states.add(fields.split()[0])
    return states == {'S'}


def slowly(lab, calls, *options):
    """Records calls into a pipe, and reads the pipe when all calls were made. Returns (status, stderr)."""
    load = Calls(lab, 'command', calls)
    with open(lab.path('said'), 'w+', encoding='utf-8') as err, open(lab.path('p.data'), 'wb') as out:
        child = subprocess.Popen(lab.argv(['record', '-o', '-', *options, *load.argv], release=True),
                                 cwd=lab.dir, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=err)
        lab.children.append(child)
        load.begin(child)
        load.go()
        load.made()
        # What the readers have been woken for is behind them: rings have room again, for how the callers end.
        wait_for(lambda: child.poll() is not None or readers_rest(child.pid), what='readers that rest')
        cat = subprocess.Popen(['cat'], stdin=child.stdout, stdout=out)
        lab.children.append(cat)
        child.stdout.close()
        load.end()
        status = child.wait(timeout=PATIENCE)
        cat.wait(timeout=PATIENCE)
        err.seek(0)
        return status, err.read()


def said_lost(err):
    return sum(int(n.replace(',', '')) for n in re.findall(r'lost ([\d,]+) of \S+ on CPU \d+ \(', err))


def check_dropped(lab, *options):
    need_tracefs()
    # What a full ring holds is more than the buffer has room for, whenever it is read.
    status, err = slowly(lab, CALLS, '--buffer-memory', '2M', '-m', '8M', '--fail-on-loss', *options)
    assert status == 3, (status, err)
    assert 'buffer memory full' in err and 'try -z, another disk or a larger --buffer-memory' in err, err
    text = lab.run('report', '-i', 'p.data', '--stats', release=True).stdout
    samples, lost = stat(text, 'SAMPLE'), lost_in(text)
    assert samples + lost == CALLS and lost == said_lost(err), (samples, lost, err)
    assert stat(text, 'LOST_SAMPLES') > 0 and stat(text, 'EXIT') == 2, text  # of both callers
    table = lab.run('report', '-i', 'p.data', '--stdio', release=True).stdout
    assert f'{lost} by a slow output' in table, table[:1500]
    return samples


def test_samples_are_dropped_and_counted(lab):
    samples = check_dropped(lab)
    # Perf's --stats cannot read the formats of tracepoints from a pipe.
    with open(lab.path('p.data'), 'rb') as f:
        lines = subprocess.run(['perf', 'script', '-F', 'comm', '-i', '-'], stdin=f, text=True, check=True,
                               stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout
    assert lines.count('\n') == samples


def test_command_does_not_print_into_the_stream(lab):
    need_tracefs()
    p = lab.run('record', '-o', '-', *calls_event(lab), '--', 'sh', '-c', 'echo from the command')
    assert 'from the command' in p.stderr and 'from the command\n' not in p.stdout


def test_samples_are_dropped_with_threads(lab):
    check_dropped(lab, '--threads')


def test_samples_are_dropped_with_aio(lab):
    check_dropped(lab, '--aio')


def test_stacks_are_truncated_before_samples_are_dropped(lab):
    need_tracefs()
    calls = 10000
    status, err = slowly(lab, calls, '--buffer-memory', '64M', '--call-graph', 'dwarf,16384', '--fail-on-loss')
    assert status == 3, (status, err)
    cut = sum(int(n.replace(',', '')) for n in
              re.findall(r'lost ([\d,]+) of \S+ on CPU \d+ \(.*its user stack', err))
    assert cut > 0 and 'memory full' not in err, err
    # The reason for that status is in the line that says that no sample was lost.
    assert f' lost, {cut:,} without ' in err.splitlines()[-1], err
    text = lab.run('report', '-i', 'p.data', '--stats', release=True).stdout
    assert stat(text, 'SAMPLE') + lost_in(text) == calls, (text, err)


def a_reader_that_hangs(lab, disposition):
    """The recorder reports what it waits for, and from then on ^C ends it."""
    need_tracefs()
    load = Calls(lab, 'command', 100000)
    child = lab.start('record', '-o', '-', *load.argv, release=True,
                      preexec_fn=lambda: signal.signal(signal.SIGINT, disposition))
    load.begin(child)
    load.go()
    load.made()
    child.send_signal(signal.SIGINT)
    line = ''
    while 'still to be written' not in line:
        line = child.stderr.readline()
        assert line, 'ended without a word'
    child.send_signal(signal.SIGUSR2)
    time.sleep(0.2)
    assert child.poll() is None
    child.send_signal(signal.SIGINT)
    assert child.wait(timeout=PATIENCE) == -signal.SIGINT


def test_a_reader_that_hangs_is_not_waited_for_forever(lab):
    a_reader_that_hangs(lab, signal.SIG_DFL)


def test_a_reader_that_hangs_in_the_background_of_a_script(lab):
    """A shell starts background programs so that they ignore ^C."""
    a_reader_that_hangs(lab, signal.SIG_IGN)


# What describes events and machine in a stream: ATTR, TRACING_DATA, BUILD_ID, EVENT_UPDATE, FEATURE.
DESCRIPTIVE = {64, 66, 67, 78, 80}


def maps(lab):
    """Makes maps in this process with names that take more than a page even when compressed."""
    found = []
    for _ in range(100):
        with open(lab.path(os.urandom(100).hex()), 'w+b') as f:
            f.truncate(mmap.PAGESIZE)
            found.append(mmap.mmap(f.fileno(), mmap.PAGESIZE, prot=mmap.PROT_READ | mmap.PROT_EXEC))
    return found


def read(stream, size):
    data = b''
    while len(data) < size:
        more = os.read(stream.fileno(), size - len(data))
        assert more, 'the stream has ended'
        data += more
    return data


def read_description(stream):
    """Reads a stream up to the first record of the initial state."""
    read(stream, 16)
    while True:
        kind, _, size = struct.unpack('IHH', read(stream, 8))
        if kind not in DESCRIPTIVE:
            return
        payload = read(stream, size - 8)
        if kind == 66:
            read(stream, struct.unpack_from('I', payload)[0])


def unread(stream):
    return struct.unpack('i', fcntl.ioctl(stream, termios.FIONREAD, b'1234'))[0]


def a_reader_that_stands_still(lab, *options):
    """A signal ends the recorder even before the recording runs; its output by then is more than the pipe
    holds."""
    need_tracefs()
    there = maps(lab)
    for described in False, True:
        for number in signal.SIGINT, signal.SIGTERM, signal.SIGHUP:
            child = lab.start('record', '-a', '-e', 'sched:sched_switch', *options, '-o', '-', '--', 'sleep', '1000',
                              preexec_fn=lambda: fcntl.fcntl(1, fcntl.F_SETPIPE_SZ, mmap.PAGESIZE))
            if described:
                read_description(child.stdout)
            wait_for(lambda: child.poll() is not None or unread(child.stdout), what='a stream')
            child.send_signal(number)
            assert child.wait(timeout=PATIENCE) == 1, (described, number, child.returncode)
            said = child.stderr.read()
            assert 'standard output: its reader takes nothing; the recording ends' in said, said
            try:
                os.killpg(child.pid, 0)
            except ProcessLookupError:
                continue
            raise AssertionError('its command still runs')
    for m in there:
        m.close()


def test_a_reader_that_stands_still_from_the_start(lab):
    a_reader_that_stands_still(lab)


def test_a_reader_that_stands_still_from_the_start_with_aio(lab):
    a_reader_that_stands_still(lab, '--aio')


def test_a_reader_that_stands_still_from_the_start_with_threads(lab):
    a_reader_that_stands_still(lab, '--threads')
    a_reader_that_stands_still(lab, '--threads', '--aio')


def test_a_reader_that_stands_still_from_the_start_with_compression(lab):
    a_reader_that_stands_still(lab, '-z')


def a_snapshot_that_is_not_read(lab, *options):
    """The recorder obeys commands and reports to the manager. At the end it reports what it waits for, and ^C then
    ends it."""
    need_tracefs()
    manager = Manager(lab, abstract=True)
    load = Calls(lab, 'command', 50000)
    child = lab.start('record', '-M', '64M', '-m', '8M', *options, '-o', '-', *load.argv,
                      env=manager.environment(WATCHDOG_USEC='1000000'),
                      preexec_fn=lambda: fcntl.fcntl(1, fcntl.F_SETPIPE_SZ, 1 << 20))  # the beginning has room
    load.begin(child)
    load.go()
    load.made()
    if '--snapshot-on-exit' not in options:
        asked = lab.start('ctl', '--pid', child.pid, 'snapshot')
        wait_for(lambda: unread(child.stdout) > (512 << 10), what='a snapshot')
        for words in ['ping'], ['stats'], ['disable']:
            lab.run('ctl', '--pid', child.pid, *words)
        assert asked.poll() is None
    if not any(option.startswith('--duration') for option in options):
        child.send_signal(signal.SIGINT)
    line = ''
    while 'the output is slow: ringtail is still writing a snapshot' not in line:
        line = child.stderr.readline()
        assert line, 'ended without a word'
    manager.take(0)
    manager.wait('WATCHDOG=1', 1 + manager.lines.count('WATCHDOG=1'))
    child.send_signal(signal.SIGUSR2)
    time.sleep(0.3)
    assert child.poll() is None
    child.send_signal(signal.SIGINT)
    assert child.wait(timeout=PATIENCE) == 1
    said = child.stderr.read()
    assert 'standard output: its reader takes nothing; the recording ends' in said, said


def test_a_snapshot_that_is_not_read(lab):
    for options in [], ['--aio'], ['--threads'], ['--snapshot-on-exit'], ['--snapshot-on-exit', '--threads']:
        a_snapshot_that_is_not_read(lab, *options)


def test_a_snapshot_that_is_not_read_until_the_duration_is_over(lab):
    a_snapshot_that_is_not_read(lab, f'--duration={5 * LONGER}s')
