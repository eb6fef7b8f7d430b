# SPDX-License-Identifier: Apache-2.0
"""Waits of threads (--off-cpu): how long, for what and for whom; and delays on run queues, beside perf's."""
import json
import re
import shutil
import subprocess
import sys
import time

from lab import LOAD_DIVISOR, LONGER, Skip, need_tracefs, running
from waits import SWITCHES_NS, WITHIN, add_waits, close, compare, need_switches, stolen, truth, where_all_are_sampled


def record(lab, *options):
    """Records known waits; returns what is true of them."""
    need_switches()
    lab.stolen_before = stolen()
    p = lab.run('record', '--off-cpu', '-q', '-m', '16M', '-F', '99', *options, '-o', 'waits.data', '--',
                lab.program('waits'), 'disk')
    assert lab.lost('waits.data') == 0
    lab.pid = p.stdout.split()[1]  # the same program may run in another test beside this one
    return truth(p.stdout)


def rows(lab, *options, keys='comm,kind'):
    p = lab.run('report', '-i', 'waits.data', '--json', '--no-call-graph', '-s', keys, '--pid', lab.pid, *options)
    return json.loads(p.stdout)['tables'][0]['rows']


def check_waits(lab, true):
    by_comm = {}
    add_waits(lab, 'waits.data', lab.pid, by_comm)
    # Emulated CPUs let a thread wait for its turn as long as the other tests take, wherever it is preempted.
    compare(true, by_comm, slices=0 if LOAD_DIVISOR == 1 else float('inf'), lost=stolen() - lab.stolen_before)


@where_all_are_sampled
def test_waits_of_a_command(lab):
    """Each wait takes as long as the program measured, and has its kind."""
    check_waits(lab, record(lab))


@where_all_are_sampled
def test_waits_of_the_system(lab):
    check_waits(lab, record(lab, '-a'))


@where_all_are_sampled
def test_waits_without_cpus(lab):
    """With -i rings have no CPU, and the program's main thread alone is recorded: it waits for the others."""
    record(lab, '-i')
    kinds = {row['kind']: row['period'] for row in rows(lab, '--off-cpu')}
    assert kinds.get('futex', 0) > 1e9, kinds


def test_the_recording_ends_with_its_processes(lab):
    """Wakeups are those of whole CPUs, which do not end."""
    need_tracefs()
    for options in [], ['--threads', '-z'], ['--overwrite'], ['-i'], ['-M', '16M', '--snapshot-on-exit']:
        first, last = lab.spawn('sleep', str(0.3 * LONGER)), lab.spawn('sleep', str(0.6 * LONGER))
        lab.run('record', '--off-cpu', '-q', *options, '-p', f'{first.pid},{last.pid}', '-o', 'waits.data')
        assert last.wait() == 0
        shutil.rmtree(lab.path('waits.data'), ignore_errors=True)


def test_wakeups_are_disabled_too(lab):
    """The command 'disable' stops wakeups, which are not enabled by the exec of the recorded command."""
    need_tracefs()
    child = lab.start('record', '--off-cpu', '-q', '-k', 'monotonic', '-o', 'waits.data', '--', 'sleep', '30')
    running(lab, child)
    lab.run('ctl', '--pid', child.pid, 'disable')
    disabled = time.clock_gettime(time.CLOCK_MONOTONIC)
    for _ in range(9):
        subprocess.run(['sleep', '0.05'], check=True)
    lab.run('ctl', '--pid', child.pid, 'stop')
    assert child.wait() == 0
    times = [float(t.strip(' :')) for t in lab.run('script', '-i', 'waits.data', '-F', 'time', '-G').stdout.splitlines()]
    assert times and max(times) <= disabled, (len(times), max(times) - disabled)


@where_all_are_sampled
def test_waits_in_every_mode(lab):
    """However the recording is written, the waits in it are the same."""
    modes = (['-z'], ['--aio'], ['--threads'], ['--threads', '-z'], ['--overwrite'], ['--call-graph', 'dwarf,4096'],
             ['-M', '64M', '--snapshot-on-exit'], ['-k', 'monotonic'])
    for mode in modes:
        check_waits(lab, record(lab, *mode))
        counts = json.loads(lab.run('report', '--off-cpu', '-i', 'waits.data', '--json', '--no-call-graph').stdout)['waits']
        assert counts['over_losses'] == counts['ends_missing'] == 0, (mode, counts)
        shutil.rmtree(lab.path('waits.data'), ignore_errors=True)


def test_waits_in_a_namespace_of_pids(lab):
    """Tracepoints have other numbers of threads than samples there. No wait is counted twice, and all have names."""
    need_tracefs()
    inside = ['unshare', '--pid', '--fork', '--mount-proc']
    if not shutil.which('unshare') or subprocess.run([*inside, 'true'], check=False, stderr=subprocess.DEVNULL).returncode:
        raise Skip('no namespaces of PIDs')
    subprocess.run([*inside, lab.release + '/src/cli/ringtail', 'record', '--off-cpu', '-q', '-o', lab.path('waits.data'), '--',
                    'sh', '-c', 'sleep 0.2; true'], check=True, timeout=60)
    p = lab.run('report', '-i', 'waits.data', '--off-cpu', '--json', '--no-call-graph', '-s', 'comm,kind')
    table = json.loads(p.stdout)['tables'][0]
    kinds = [row['kind'] for row in table['rows'] if row['period'] > 150e6]
    assert sorted(kinds) == ['child', 'sleep'], table['rows']
    assert not re.search(r'^ *[?] ', lab.run('report', 'sched', '-i', 'waits.data').stdout, re.M), lab.last.stdout


@where_all_are_sampled
def test_contention_is_time_on_a_run_queue(lab):
    true = record(lab)
    queue = [r['period'] for r in rows(lab, '--off-cpu') if r['comm'] == 'w-queue' and r['kind'] == 'run queue']
    assert queue and close(queue[0], true['w-queue'][0]), (queue, true)
    assert true['w-queue'][0] > 50e6, 'nobody contended'


@where_all_are_sampled
def test_who_woke(lab):
    record(lab)
    wakers = {}
    for row in rows(lab, '--off-cpu', keys='comm,kind,waker'):
        wakers.setdefault((row['comm'], row['kind']), {})[row['waker']] = row['period']
    for comm, kind in ('w-pipe', 'pipe'), ('w-socket', 'socket'), ('w-futex', 'futex'):
        by = wakers[comm, kind]
        assert by.get('helper', 0) >= 0.98 * sum(by.values()), (comm, by)
    for comm, kind in ('w-sleep', 'sleep'), ('w-poll', 'poll'):
        by = wakers[comm, kind]
        assert by.get('[interrupt]', 0) >= 0.98 * sum(by.values()), (comm, by)


def test_stacks_of_wakers(lab):
    need_tracefs()
    p = lab.run('record', '--off-cpu=wakers', '-q', '-o', 'waits.data', '--', lab.program('waits'), 'disk')
    lab.pid = p.stdout.split()[1]
    stacks = {r['waker_stack'] for r in rows(lab, '--off-cpu', '--comms', 'w-futex', keys='kind,waker_stack')
              if r['kind'] == 'futex'}
    assert any('futex_wake' in s and 'sem_post' in s for s in stacks), stacks


@where_all_are_sampled
def test_wall_is_all_time(lab):
    """What ran and what waited are the time that passed, in the table and in folded stacks."""
    true = record(lab, '-F', '1000')
    wall = rows(lab, '--wall')
    kinds = {row['kind'] for row in wall}
    assert 'on CPU' in kinds and 'sleep' in kinds, kinds
    p = lab.run('export', '--to', 'folded', '--wall', '-i', 'waits.data')
    lines = [line.rsplit(' ', 1) for line in p.stdout.splitlines()]
    assert sum(int(n) for _, n in lines) == sum(row['period'] for row in wall)
    sleeps = sum(int(n) for stack, n in lines if stack.startswith('w-sleep;') and stack.endswith(';[sleep]'))
    assert sleeps >= true['w-sleep'][1] * (1 - WITHIN), sleeps
    assert any('sleep_on' in stack for stack, _ in lines if stack.startswith('w-sleep;')), lines[:5]


def perf_delays(lab):
    """Returns the delays that perf sees, by thread, in us that it rounds down."""
    text = lab.perf('sched', 'timehist', '-i', 'waits.data', quiet=False).stdout
    found = {}
    for line in text.splitlines():
        m = re.match(r'\s*[\d.]+ \[\d+\]\s+\S.*?\[(\d+)(?:/\d+)?\]\s+[\d.]+\s+([\d.]+)\s+[\d.]+', line)
        if m:
            found.setdefault(int(m[1]), []).append(round(float(m[2]) * 1000))
    return found


def last_delay(lab, tid):
    """Returns the delay, in us, before the last run of a thread, which perf does not show: by then it has ended."""
    script = lab.perf('script', '--ns', '-i', 'waits.data', '-F', 'time,event,trace', quiet=False).stdout
    woken = delay = 0
    for line in script.splitlines():
        m = re.match(r'\s*([\d.]+):\s+sched:(\w+):.*?\b(?:next_)?pid=(\d+) ', line.replace('prev_pid', ''))
        if not m or int(m[3]) != tid:
            continue
        if m[2] == 'sched_switch':
            delay, woken = (float(m[1]) - woken) * 1e6 if woken else 0, 0
        else:
            woken = woken or float(m[1])
    return delay


@where_all_are_sampled
def test_delays_are_perfs(lab):
    """Run-queue delays of the program's threads are those of perf sched timehist of the same file."""
    record(lab, '-a')
    report = json.loads(lab.run('report', 'sched', '-i', 'waits.data', '--json').stdout)
    perf = perf_delays(lab)
    if not perf:
        raise Skip('perf sched timehist shows nothing')
    compared = 0
    for thread in report['threads']:
        if str(thread['pid']) != lab.pid or thread['tid'] == thread['pid']:
            continue
        last = last_delay(lab, thread['tid'])
        delays = [*perf.get(thread['tid'], []), last]
        assert -1 <= thread['delay_ns'] / 1000 - sum(delays) <= 1 + thread['delays'], (thread, delays)
        assert abs(thread['max_delay_ns'] / 1000 - max(delays)) <= 1, (thread, delays)
        compared += thread['delays']
    assert compared > 100, compared


def test_spans(lab):
    """The slowest of known spans says what its thread waited for."""
    need_tracefs()
    events = 'syscalls:sys_enter_clock_nanosleep,syscalls:sys_exit_clock_nanosleep'
    lab.run('record', '--off-cpu', '-q', '-e', events, '-e', 'cpu-clock', '-o', 'waits.data', '--',
            lab.program('waits'), 'disk')
    start, end = events.split(',')
    p = lab.run('report', 'latency', '-i', 'waits.data', '--span', f'{start}..{end}', '--json', '--slowest', '4')
    spans = json.loads(p.stdout)
    assert spans['spans'] == 80, spans['spans']  # of four ways to wait, 20 turns
    assert spans['ns']['min'] >= 10e6, spans['ns']
    assert len(spans['slowest']) == 4
    for span in spans['slowest']:
        # An emulated CPU takes milliseconds from the start of the timer until it switches the thread off.
        beside = span['on_cpu_ns'] if SWITCHES_NS else 0
        assert span['waited_ns']['sleep'] >= 9.8e6 - beside, span
        assert close(sum(span['waited_ns'].values()) + span['on_cpu_ns'], span['duration_ns']), span
    text = lab.run('report', 'latency', '-i', 'waits.data', '--span', f'{start}..{end}').stdout
    assert 'Slowest spans' in text and '[sleep]' in text, text
    p = lab.run('report', 'latency', '-i', 'waits.data', '--span', 'a:b..' + end, status=1)
    assert "no event 'a:b'" in p.stderr, p.stderr
    lab.run('report', 'latency', '-i', 'waits.data', '--span', start, status=2)


def test_spans_need_times(lab):
    lab.perf('record', '-q', '-e', 'page-faults', '--no-timestamp', '-o', 'untimed.data', 'true')
    p = lab.run('report', 'latency', '-i', 'untimed.data', '--span', 'page-faults..page-faults', status=1)
    assert "samples of 'page-faults' have no time" in p.stderr, p.stderr


def test_spans_of_a_snapshot(lab):
    """What the flight recorder kept tells what a slow thread waited for."""
    need_tracefs()
    start, end = 'syscalls:sys_enter_clock_nanosleep', 'syscalls:sys_exit_clock_nanosleep'
    lab.run('record', '--off-cpu', '-q', '-e', f'{start},{end}', '-M', '64M', '--trigger', f'latency:{start}..{end}>9ms',
            '-o', 'waits.data', '--', lab.program('waits'), 'disk')
    spans = json.loads(lab.run('report', 'latency', '-i', 'waits.data', '--span', f'{start}..{end}', '--json').stdout)
    assert spans['spans'] and spans['slowest'][0]['waited_ns']['sleep'] >= 9.8e6, spans


def test_refused_in_a_sentence(lab):
    need_tracefs()
    for options, word in (['-C', '0'], '-C'), (['--all-user'], '--all-user'), (['--off-cpu=x'], "'x'"):
        p = lab.run('record', '--off-cpu', *options, 'true', status=2)
        assert word in p.stderr and len(p.stderr.splitlines()) == 1, p.stderr
    p = lab.run('record', '--off-cpu', '-o', lab.path('none.data'), 'true', user=65534, status=1)
    assert 'is not readable for this user' in p.stderr or 'paranoid' in p.stderr, p.stderr
    lab.run('record', '-q', '-e', 'cpu-clock', '-o', 'waits.data', 'true')
    p = lab.run('report', '--off-cpu', '-i', 'waits.data', status=1)
    assert 'record --off-cpu' in p.stderr, p.stderr
    lab.run('report', '-s', 'kind', '-i', 'waits.data', status=2)


def test_more_stacks_than_memory_has_room_for(lab):
    """Threads that wait with copies of their stacks: what --max-memory has no room for is counted, no wait is lost."""
    need_tracefs()
    program = ('import threading\nb = threading.Barrier(1201)\nthreading.stack_size(1 << 18)\n'
               'for i in range(1200):\n    threading.Thread(target=b.wait).start()\nb.wait()')
    lab.run('record', '--off-cpu', '-q', '-m', '64M', '--call-graph', 'dwarf', '-e', 'dummy', '-o', 'p.data', '--',
            sys.executable, '-c', program, release=True)

    def report(*options):
        p = lab.run('report', '-i', 'p.data', '--off-cpu', '-s', 'kind', '--no-call-graph', '-F', 'sample,kind', *options,
                    release=True)
        return [line.split() for line in p.stdout.splitlines() if line.strip() and line[0] != '#'], p.stderr
    every, said = report()
    assert 'memory for the stacks' not in said, said
    some, said = report('--max-memory', '32M')
    unkept = re.search(r'the stacks of ([\d,]+) switches or wakeups are not shown', said)
    assert unkept and int(unkept[1].replace(',', '')) > 100, said
    assert sum(int(row[0].replace(',', '')) for row in some) == sum(int(row[0].replace(',', '')) for row in every)
