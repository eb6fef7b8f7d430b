# SPDX-License-Identifier: Apache-2.0
"""--trigger: a flight recorder that takes its snapshots at events of this kernel."""
import glob
import json
import os
import re
import signal
import subprocess
import sys
import time

from lab import (NOBODY, TRACING, Skip, ended, interrupt, need_root, need_tracefs, obeyed, running, scaled, stat,
                 wait_for)
from test_snapshot import log

SAID = re.compile(r'trigger (.*): ([\d,]+) times?, ([\d,]+) snapshots? asked for, ([\d,]+) limited')

# Prints where its getppid is, in memory and in the file, and calls it as often as it is told.
CALLER = '''
import ctypes, sys
libc = ctypes.CDLL(None)
address = ctypes.cast(libc.getppid, ctypes.c_void_p).value
for line in open('/proc/self/maps'):
    words = line.split()
    start, end = (int(x, 16) for x in words[0].split('-'))
    if start <= address < end:
        print(hex(address), hex(address - start + int(words[2], 16)), words[5], flush=True)
for line in sys.stdin:
    for _ in range(int(line)):
        libc.getppid()
'''
# Threads of one process that sleep, one of them too long now and then.
SLEEPER = '''
import threading, time
def sleep(ms, times):
    for _ in range(times):
        time.sleep(ms / 1000)
threads = [threading.Thread(target=sleep, args=a) for a in ((1, 300), (2, 100), (60, 5))]
for t in threads: t.start()
for t in threads: t.join()
'''
SLEEP_EVENTS = '-c', '1', '-e', 'syscalls:sys_enter_clock_nanosleep', '-e', 'syscalls:sys_exit_clock_nanosleep'
SLEEP = 'latency:syscalls:sys_enter_clock_nanosleep..syscalls:sys_exit_clock_nanosleep'


def triggers(said):
    """Returns {text of a trigger: (times, snapshots, limited)}, and checks that they add up."""
    found = {}
    for text, *numbers in SAID.findall(said):
        times, asked, limited = (int(n.replace(',', '')) for n in numbers)
        assert times == asked + limited, said
        found[text] = times, asked, limited
    return found


def snapshots(said):
    """Returns the reasons of the snapshots in the order of their lines."""
    return re.findall(r'^ringtail: snapshot \d+: [\d,]+ samples?: (.*)$', said, re.M)


def shared(said):
    """Returns the reasons that share a snapshot: requests made while one is taken share the next one."""
    return re.findall(r'^ringtail: snapshot \d+ also: (.*)$', said, re.M)


def marks(lab, data='p.data'):
    """Returns the file's entries of snapshots by triggers: (reason, its sample or '')."""
    text = lab.run('report', '-i', data, '--header-only').stdout
    return re.findall(r'^# snapshot \d+ : .*time [\d.]+, trigger: (.*)\n(?:#   sample : (.*)\n)?', text, re.M)


def ready(lab, recorder):
    running(lab, recorder)


def stats(lab, recorder):
    text = lab.run('ctl', '--pid', recorder.pid, 'stats').stdout
    return dict(word.split('=') for word in text.splitlines()[0].split())


def each(lab, recorder):
    """Returns the figures of each trigger in the JSON of 'stats'."""
    text = lab.run('ctl', '--pid', recorder.pid, 'stats', '-j').stdout
    return {t.pop('trigger'): t for t in json.loads(text)['triggers']}


def flight(lab, *args, **kw):
    """Starts a flight recorder of cpu-clock."""
    recorder = lab.start('record', '-e', 'cpu-clock', '-M', '8M', '-o', 'p.data', *args, **kw)
    ready(lab, recorder)
    return recorder


def end(lab, recorder):
    status, _, said = interrupt(recorder)
    assert status == 0, said
    assert lab.samples('p.data') == lab.perf_samples('p.data') > 0, said
    return said


def test_a_tracepoint_with_a_filter(lab):
    need_tracefs()
    text = f'sched:sched_process_exec filename == "{lab.path("marked")}"'
    os.symlink('/bin/true', lab.path('marked'))
    recorder = flight(lab, '-a', '--trigger', text + ',reason=it ran, that one')
    for program in ['/bin/true'] * 5 + [lab.path('marked')] + ['/bin/true'] * 5:
        subprocess.run([program], check=True)
    wait_for(lambda: stats(lab, recorder)['triggered'] == '1', what='trigger')
    said = end(lab, recorder)
    assert triggers(said) == {text: (1, 1, 0)}, said
    assert snapshots(said) == ['it ran, that one'], said
    (reason, sample), = marks(lab)
    assert reason == 'it ran, that one', (reason, sample)
    assert re.fullmatch(r'sched:sched_process_exec at [\d.]+, CPU \d+, thread (\d+) of \1(, marked)?', sample), sample


def test_a_thread_that_has_another_name_by_then(lab):
    """The recorder reads the sample after the thread has ended, and still reports the name at the time of the
    sample."""
    need_tracefs()
    with open(lab.path('marked'), 'w', encoding='ascii') as script:
        script.write('#!/bin/sh\nexec /bin/true\n')
    os.chmod(lab.path('marked'), 0o755)
    ours = os.path.basename(lab.dir)
    recorder = flight(lab, '-a', '--trigger', f'sched:sched_process_exec filename ~ "*/{ours}/marked"')
    wait_for(lambda: int(stats(lab, recorder)['held_samples']) > 0, what='samples')
    recorder.send_signal(signal.SIGSTOP)
    subprocess.run([lab.path('marked')], check=True)
    recorder.send_signal(signal.SIGCONT)
    wait_for(lambda: stats(lab, recorder)['triggered'] == '1', what='trigger')
    end(lab, recorder)
    (_, sample), = marks(lab)
    assert sample.endswith(', marked'), sample
    header = json.loads(lab.run('report', '-i', 'p.data', '--header-only', '--json').stdout)
    assert 'marked' in json.dumps(header['snapshots']), header['snapshots']


def caller(lab):
    child = subprocess.Popen([sys.executable, '-c', CALLER], cwd=lab.dir, text=True, stdin=subprocess.PIPE,
                             stdout=subprocess.PIPE)
    lab.children.append(child)
    return child, child.stdout.readline().split()


def call(child, times):
    child.stdin.write(f'{times}\n')
    child.stdin.flush()


def each_call_triggers(lab, child, text):
    recorder = flight(lab, '-p', str(child.pid), '--trigger', text)
    for times, sum_of_times in (1, 1), (70, 71):
        call(child, times)
        wait_for(lambda sum_of_times=sum_of_times: stats(lab, recorder)['triggered'] == str(sum_of_times), what='calls')
    status, _, said = interrupt(recorder)
    assert status == 0 and triggers(said)[text][0] == 71, said
    child.kill()


def test_a_breakpoint_on_a_function(lab):
    child, (address, _, _) = caller(lab)
    text = f'mem:{address}:x:u'
    if lab.run('record', '-q', '-e', text, '-o', 'try.data', '--', 'true', status=None).returncode:
        raise Skip('no breakpoints in hardware here')
    each_call_triggers(lab, child, text)


def make_probe(text):
    """Appends to the file of probes, because opening it without appending would remove other programs' probes."""
    fd = os.open(TRACING + '/uprobe_events', os.O_WRONLY | os.O_APPEND)
    try:
        os.write(fd, text.encode() + b'\n')
    finally:
        os.close(fd)


def test_a_uprobe_on_a_function(lab):
    need_tracefs()
    child, (_, offset, path) = caller(lab)
    name = f'ringtail_{os.getpid()}/getppid'
    if not os.path.exists(TRACING + '/uprobe_events'):
        raise Skip('this kernel has no uprobes')
    make_probe(f'p:{name} {path}:{offset}')
    try:
        each_call_triggers(lab, child, name.replace('/', ':'))
    finally:
        make_probe(f'-:{name}')


def test_a_storm_of_page_faults(lab):
    """The trigger counts every number of faults, also if the recording and several triggers have the same
    event."""
    touch = ('import mmap\nm = mmap.mmap(-1, 4096 * 20000)\nm.madvise(mmap.MADV_NOHUGEPAGE)\n'
             'for i in range(0, len(m), 4096): m[i] = 1')
    periods = 1000, 30, 1
    options = [option for period in periods for option in ('--trigger', f'page-faults/period={period}/,limit=5/1s')]
    p = lab.run('record', '-e', 'page-faults', '-c', '1', '-M', '16M', '-m', '8M', '--snapshot-on-exit', '-o', 'p.data', *options,
                '--', sys.executable, '-c', touch)
    faults = lab.samples('p.data')
    assert faults == lab.perf_samples('p.data') > 20000, p.stderr
    for period in periods:
        times, asked, _ = triggers(p.stderr)[f'page-faults/period={period}/']
        # Each CPU counts by itself.
        assert faults // period - os.cpu_count() <= times <= faults // period and asked > 0, p.stderr


def sleeps(lab, data):
    """Returns the thread and the duration in ms of each recorded sleep."""
    text = lab.run('script', '-i', data, '--ns', '-G', '-F', 'tid,time,event', release=True).stdout
    begun, found = {}, []
    for tid, stamp, what in re.findall(r'(\d+)\s+([\d.]+):\s+syscalls:sys_(\w+?)_clock', text):
        if what == 'enter':
            begun[tid] = float(stamp)
        elif tid in begun:
            found.append((tid, 1000 * (float(stamp) - begun.pop(tid))))
    return found


def test_a_latency(lab):
    """The trigger hits exactly for the sleeps that are too long, among many of other threads on the same CPUs.

    The recording itself shows which they are, because a short sleep may take long on a busy machine."""
    need_tracefs()
    text = SLEEP + '>40ms'
    p = lab.run('record', *SLEEP_EVENTS, '-M', '16M', '-m', '4M', '--snapshot-on-exit', '-o', 'p.data', '--trigger',
                text + ',limit=1000/1s', '--', sys.executable, '-c', SLEEPER, release=True)
    found = sleeps(lab, 'p.data')
    assert len(found) >= 405, p.stderr
    # Each event has a clock reading of its own: within a millisecond of the limit, either may be.
    sure, perhaps = ([s for s in found if s[1] > limit] for limit in (41, 39))
    assert len(sure) >= 5 and len({tid for tid, ms in sure if ms >= 60}) >= 1, found
    times, asked, _ = triggers(p.stderr)[text]
    # Those that are found together ask once.
    assert len(sure) <= times <= len(perhaps) and asked >= 1, (p.stderr, sure)
    reasons = [reason for reason in snapshots(p.stderr) if reason != 'exit']
    took = [float(ms) for ms in re.findall(r'\(it took ([\d.]+) ms\)', p.stderr)]
    assert len(took) >= 1 and all(ms > 40 for ms in took), p.stderr
    # Of most: a host may take the CPU away between the two readings.
    near = [ms for ms in took if any(abs(ms - real) < 1 for _, real in perhaps)]
    assert len(near) > len(took) / 2, (took, perhaps)
    marked = marks(lab)
    assert [reason for reason, _ in marked if reason in reasons] == reasons, p.stderr
    threads = {re.match(r'syscalls:sys_exit_clock_nanosleep at .* thread (\d+) of \d+', sample).group(1)
               for _, sample in marked}
    assert threads <= {tid for tid, _ in perhaps}, (marked, perhaps)
    p = lab.run('record', '-e', 'cpu-clock', '-M', '1M', '-o', 'p.data', '--trigger', SLEEP + '>300s', '--',
                sys.executable, '-c', SLEEPER)
    assert list(triggers(p.stderr).values()) == [(0, 0, 0)] and not snapshots(p.stderr), p.stderr


def test_pressure(lab):
    """More processes want to run than there are CPUs."""
    if not os.path.exists('/proc/pressure/cpu'):
        raise Skip('this kernel has no PSI')
    text = 'psi:cpu:200/2000'
    recorder = flight(lab, '-a', '-F', '99', '--trigger', text)
    load = [lab.spawn(sys.executable, '-c', 'while True: pass') for _ in range(3 * os.cpu_count())]
    # It may be there from the start.
    wait_for(lambda: stats(lab, recorder)['triggered'] != '0' and lab.samples('p.data'), what='pressure')
    for one in load:
        one.kill()
    said = end(lab, recorder)
    assert triggers(said)[text][1] > 0 and set(snapshots(said)) == {text}, said


def test_pressure_by_an_ordinary_user(lab):
    if not os.path.exists('/proc/pressure/cpu'):
        raise Skip('this kernel has no PSI')
    need_root()
    os.chmod(lab.dir, 0o777)
    p = lab.run('record', '-M', '1M', '-o', 'p.data', '--trigger', 'psi:cpu:100/500', '--', 'true', user=NOBODY,
                status=1)
    assert 'CAP_SYS_RESOURCE' in p.stderr, p.stderr
    assert not os.path.exists(lab.path('p.data'))


def test_time_and_load(lab):
    """The timer hits each 200 ms, with a limit of two an hour or one a second; the load is above its bound from
    the start, and hits once."""
    begin = time.monotonic()
    recorder = flight(lab, '-a', '--trigger', 'every:200ms,limit=2/1h', '--trigger', 'every:100ms,limit=1/1s',
                      '--trigger', 'load:0', '--trigger', 'load:100000')

    def enough():
        found = stats(lab, recorder)
        return int(found['triggered']) > 30 and int(found['triggered']) - int(found['limited']) >= 5
    wait_for(enough, what='time')
    told = each(lab, recorder)
    assert told.pop('every:200ms')['snapshots'] == 2, told
    none = dict.fromkeys(('times', 'snapshots', 'limited', 'forgotten'), 0)
    assert told.pop('every:100ms')['limited'] > 0, told
    assert told == {'load:0': none | {'times': 1, 'snapshots': 1}, 'load:100000': none}, told
    said = end(lab, recorder)
    seconds = time.monotonic() - begin
    found = triggers(said)
    assert found.pop('load:0') == (1, 1, 0), said
    times, asked, _ = found.pop('every:200ms')
    assert times > 2 and asked == 2, said
    times, asked, limited = found.pop('every:100ms')
    assert found == {'load:100000': (0, 0, 0)} and 2 <= asked <= seconds + 1 and limited > 0, (seconds, said)
    assert {sample for _, sample in marks(lab)} == {''}, marks(lab)


def memory_of(pid):
    """Returns the recorder's own memory in KB."""
    with open(f'/proc/{pid}/status', encoding='ascii') as f:
        return int(re.search(r'RssAnon:\s+(\d+)', f.read()).group(1))


def number_of_getppid(lab):
    return subprocess.run([lab.program('storm'), '--syscall'], check=True, text=True,
                          stdout=subprocess.PIPE).stdout.strip()


def test_thousands_a_second(lab):
    """The recorder counts each event, takes only as many snapshots as the limit allows, and needs no more
    memory."""
    need_tracefs()
    number = number_of_getppid(lab)
    calls, bursts = scaled(150000), 150
    text = f'raw_syscalls:sys_enter id == {number}'
    # With so little to buffer in, what a stall piles up there is no growth.
    recorder = lab.start('record', '-e', 'cpu-clock', '-M', '1M', '--buffer-memory', '1M', '-o', 'p.data',
                         '--trigger', text + ',limit=2/1s', '--', lab.program('storm'), '-b', str(bursts), '-u', '20000',
                         str(calls), release=True)
    ready(lab, recorder)
    memory = []
    while recorder.poll() is None:
        time.sleep(0.5)
        try:
            memory.append(memory_of(recorder.pid))
        except (OSError, AttributeError):
            break
    _, _, said = ended(recorder)
    seconds = float(re.findall(r', ([\d.]+) s$', said, re.M)[-1])
    times, asked, _ = triggers(said)[text]
    assert times == calls, said
    assert 2 <= asked <= 2 * (seconds + 1) and len(snapshots(said)) + len(shared(said)) == asked, said
    half = len(memory) // 2
    # Of half of the calls sixty bytes each would be more.
    assert half < 2 or max(memory[half:]) - max(memory[:half]) < 4096, memory


def test_our_own_events(lab):
    """The events of writing a snapshot do not trigger the next one."""
    need_tracefs()
    # A name that nobody else has, who may run meanwhile.
    own = 'own-' + lab.dir[-8:]
    os.symlink(lab.argv([])[0], lab.path(own))
    recorder = subprocess.Popen([lab.path(own), 'record', '-a', '-e', 'cpu-clock', '-M', '1M', '-o', 'p.data',
                                 '--trigger', f'raw_syscalls:sys_enter comm ~ "{own}*",limit=1000/1s',
                                 '--trigger', 'every:100ms'], cwd=lab.dir, text=True, stdin=subprocess.DEVNULL,
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    lab.children.append(recorder)
    ready(lab, recorder)
    # Of this trigger alone: until the other's first records are read, what it lost may be anybody's, and is counted.
    wait_for(lambda: each(lab, recorder)['every:100ms']['times'] > 10, what='time')
    said = end(lab, recorder)
    found = triggers(said)
    assert found.pop('every:100ms')[0] > 10 and list(found.values()) == [(0, 0, 0)], said
    assert set(snapshots(said)) == {'every:100ms'}, said


def test_two_in_a_pause(lab):
    """The recorder soon reports the second of two hits, too, although no record follows it."""
    need_tracefs()
    text = f'raw_syscalls:sys_enter id == {number_of_getppid(lab)} && comm == "{os.path.basename(lab.own("storm"))}"'
    recorder = flight(lab, '-a', '--trigger', text + ',limit=1000/1s')
    pairs = []

    def asked():
        found = stats(lab, recorder)
        return int(found['triggered']) - int(found['limited'])

    def both_ask():
        before = asked()
        subprocess.run([lab.own('storm'), '-b', '2', '-u', '5000', '2'], check=True)
        pairs.append(before)
        wait_for(lambda: stats(lab, recorder)['triggered'] == str(2 * len(pairs)), what='second call')
        # Of two that are found at once, by a recorder that comes late, one asks.
        end = time.monotonic() + 1
        while asked() < before + 2 and time.monotonic() < end:
            time.sleep(0.02)
        return asked() == before + 2
    wait_for(both_ask, what='second snapshot')
    said = end(lab, recorder)
    (times, asks, _), = triggers(said).values()
    assert times == 2 * len(pairs) and len(pairs) < asks <= times, said


def test_recording_goes_on_before_the_dump(lab):
    """The snapshot also has the samples after the trigger; with --last those before it, and its own."""
    need_tracefs()
    os.symlink('/bin/true', lab.path('marked'))
    text = f'sched:sched_process_exec filename == "{lab.path("marked")}"'
    recorder = flight(lab, '-a', '-F', '999', '-k', 'mono', '-e', 'sched:sched_process_exec', '--last', '300ms',
                      '--trigger', text + ',after=700ms')
    lab.spawn(sys.executable, '-c', 'while True: pass')
    time.sleep(0.5)
    before = time.monotonic()
    subprocess.run([lab.path('marked')], check=True)
    after = time.monotonic()
    wait_for(lambda: lab.samples('p.data') > 0, what='snapshot')
    running(lab, recorder)  # it answers when all of the snapshot is written
    times = [float(line.rstrip(':')) for line in
             lab.run('script', '-i', 'p.data', '-G', '-F', 'time').stdout.split()]
    assert times[-1] >= before + 0.6, (before, times[-1])
    (request,) = log(lab)[1]['requests']
    assert before <= request['asked'] / 1e9 <= after and request['asked'] == request['sample']['time'], request
    assert before - time.monotonic() + time.time() - 1 < request['wall_clock'] / 1e9 < time.time() - 0.6, request
    assert before - 0.3 <= times[0] <= after, (before, after, times[0])
    assert '/marked' in lab.run('script', '-i', 'p.data', '-G', '-F', 'trace').stdout
    end(lab, recorder)


def last_event(lab):
    """Returns the last event of a task. Some kernels end its events before sched_process_exit (6.1.192 does), for perf,
    too."""
    event = 'sched:sched_process_exit'
    lab.perf('record', '-q', '-o', 'last.data', '-e', event, '-c', '1', '--', 'true', quiet=False)
    theirs = stat(lab.perf('report', '-i', 'last.data', '--stats', quiet=False).stdout, 'SAMPLE')
    return event if theirs else 'syscalls:sys_enter_exit_group'


def test_the_end_does_not_wait(lab):
    """The recorder takes a waiting snapshot at the end, also if its trigger was the last event."""
    need_tracefs()
    for trigger in 'sched:sched_process_exec,after=1h', last_event(lab):
        p = lab.run('record', '-e', 'cpu-clock', '-F', '20000', '-M', '1M', '-o', 'p.data', '--trigger', trigger, '--',
                    sys.executable, '-c', 'sum(range(3000000))')
        assert len(snapshots(p.stderr)) == 1, p.stderr
        assert lab.samples('p.data') > 10, p.stderr


def test_each_snapshot_has_a_file(lab):
    recorder = flight(lab, '-a', '--switch-output', '--trigger', 'every:300ms')
    wait_for(lambda: int(stats(lab, recorder)['triggered']) > 3, what='time')
    status, _, said = interrupt(recorder)
    files = glob.glob(lab.path('p.data.2*'))
    assert status == 0 and len(files) == len(snapshots(said)) >= 2, (files, said)
    assert len(files) + len(shared(said)) == triggers(said)['every:300ms'][1] >= 3, (files, said)
    for file in files:
        assert lab.samples(file) == lab.perf_samples(file) > 0


def test_beside_an_event_that_rotates(lab):
    """Both kinds of triggers, and a signal and a command, in one recording."""
    need_tracefs()
    os.symlink('/bin/true', lab.path('cutter'))
    recorder = flight(lab, '-a', '--trigger', 'every:400ms,limit=1/1h', '--switch-output-event',
                      'sched:sched_process_exec', '--filter', f'filename == "{lab.path("cutter")}"')
    subprocess.run([lab.path('cutter')], check=True)
    wait_for(lambda: glob.glob(lab.path('p.data.2*')), what='rotation')
    recorder.send_signal(signal.SIGUSR2)
    obeyed(lab, recorder)
    lab.run('ctl', '--pid', recorder.pid, 'snapshot')
    wait_for(lambda: int(stats(lab, recorder)['triggered']) > 2, what='time')
    status, _, said = interrupt(recorder)
    assert status == 0 and triggers(said)['every:400ms'][1] == 1, said
    # What is asked for at once, or while one is taken, shares one.
    taken = [s for file in glob.glob(lab.path('p.data.2*')) for s in log(lab, file).values()]
    requests = sorted(r['origin'] for s in taken for r in s['requests'])
    assert requests == ['control', 'signal', 'switch', 'trigger'] and 1 < len(taken) <= 4, (requests, said)


def test_what_cannot_be_meant(lab):
    for args, status, word in (
            (['--trigger', 'cs'], 2, '-M'),
            (['-M', '1M', '--trigger', 'cycles'], 2, 'give a number'),
            (['-M', '1M', '--trigger', 'dummy'], 2, 'never'),
            (['-M', '1M', '--trigger', 'cs,limits=1/1s'], 2, 'after=, limit=, reason='),
            (['-M', '1M', '--trigger', 'sched:no_such_thing'], 1, 'no_such_thing'),
            (['-M', '1M', '--trigger', 'cs prev_pid > 1'], 2, 'tracepoints'),
            (['-M', '1M', '--trigger', 'cs', '--filter', 'prev_pid > 1'], 2, '--filter'),
            (['-M', '1M', '--trigger', 'psi:disk:1/1000'], 2, 'memory'),
            (['-M', '1M', '--trigger', 'latency:cs>1ms'], 2, 'START-EVENT..END-EVENT'),
            (['-M', '1M', '--trigger', 'every:1s,limit=5'], 2, 'limit')):
        p = lab.run('record', '-e', 'cpu-clock', '-o', 'p.data', *args, '--', 'true', status=status)
        assert word in p.stderr, (args, p.stderr)
        assert not os.path.exists(lab.path('p.data')), args
