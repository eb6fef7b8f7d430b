# SPDX-License-Identifier: Apache-2.0
"""Counts of `ringtail stat`: of a load whose calls are known, and beside perf stat."""
import json
import os
import signal
import subprocess
import sys
import time

from lab import LONGER, NOBODY, PATIENCE, Skip, need_root, need_tracefs, wait_for

CALLS = 4321


def storm_event(lab):
    """Options that count each getppid."""
    need_tracefs()
    number = subprocess.run([lab.program('storm'), '--syscall'], check=True, text=True,
                            stdout=subprocess.PIPE).stdout.strip()
    return ['-e', 'raw_syscalls:sys_enter', '--filter', f'id == {number}']


def rows(lab, *args, status=0):
    """Returns the objects of stat --json."""
    said = lab.run('stat', '-j', *args, status=status).stderr
    return [json.loads(line) for line in said.splitlines() if line.startswith('{')]


def values(found, event=None):
    return [float(row['counter-value']) for row in found if event in (None, row['event'])]


def test_each_call_of_all_tasks(lab):
    """Children count, too, unless -i; perf counts the same."""
    event, load = storm_event(lab), [lab.program('storm'), '-n', '3', str(CALLS)]
    assert values(rows(lab, *event, '--', *load)) == [CALLS]
    assert values(rows(lab, '-i', *event, '--', *load)) == [-(-CALLS // 3)], 'the first task, and none of its children'
    perf = subprocess.run(['perf', 'stat', '-x,', *event, '--', *load], check=True, text=True, stderr=subprocess.PIPE)
    ours = lab.run('stat', '-x,', *event, '--', *load).stderr
    assert ours.split(',')[:3] == perf.stderr.split(',')[:3], (ours, perf.stderr)


def test_groups_and_levels(lab):
    """Members of a group count from the start of their leader to its end."""
    name, = [row['event'] for row in rows(lab, '-e', 'page-faults:u', 'true')]
    assert name == 'page-faults:u'
    event = storm_event(lab)[1]
    got = rows(lab, '-e', f'{{{event},{event},task-clock}}', '--', lab.program('storm'), str(CALLS))
    first, second = values(got, event)
    assert first == second >= CALLS, got


def test_rows_of_cpus(lab):
    """Each row has the counts of its CPUs: by CPU, core, die, socket and node they have the same sum."""
    need_root()
    program = lab.own('storm')
    event, load = storm_event(lab), [program, '-n', '4', str(CALLS)]
    event[-1] += f' && COMM == "{os.path.basename(program)}"'  # other programs make the call, too
    cpus = os.cpu_count()
    got = rows(lab, '-a', '-A', *event, '--', *load)
    assert [row['cpu'] for row in got] == [str(cpu) for cpu in range(cpus)], got
    for how in ['-A', '--per-core', '--per-die', '--per-socket', '--per-node']:
        got = rows(lab, '-a', how, *event, '--', *load)
        assert sum(values(got)) == CALLS, (how, got)
        if how != '-A':
            assert sum(row['aggregate-number'] for row in got) == cpus, (how, got)
    last = cpus - 1
    got = rows(lab, '-C', last, *event, '--', program, '-c', str(last), str(CALLS))
    assert values(got) == [CALLS], got
    got = rows(lab, '-C', 0, *event, '--', program, '-c', str(last), str(CALLS))
    assert values(got) == [CALLS if last == 0 else 0], got


def test_intervals_add_up(lab):
    """The counts of all intervals are those of the whole run."""
    event = storm_event(lab)
    got = rows(lab, '-I', '50', *event, '--', lab.program('storm'), '-b', '10', '-u', '30000', str(CALLS))
    times = [row['interval'] for row in got]
    assert len(got) >= 3 and times == sorted(times), got
    assert sum(float(row['counter-value']) for row in got if row['counter-value'] != '<not counted>') == CALLS, got
    got = rows(lab, '-a', '-I', '50', '--interval-count', '3', '-e', 'cpu-clock')
    assert len(got) == 3, got


def test_runs_have_a_mean(lab):
    event = storm_event(lab)
    row, = rows(lab, '-r', '4', *event, '--', lab.program('storm'), str(CALLS))
    assert float(row['counter-value']) == CALLS and row['variance'] == 0, row
    # Each run adds a line and counts as many calls as there are lines: 1, 2, 3.
    script = f'echo >>{lab.path("lines")}; n=$(wc -l <{lab.path("lines")}); exec {lab.program("storm")} $n'
    row, = rows(lab, '-r', '3', *event, '--', 'sh', '-c', script)
    mean = float(row['counter-value'])
    assert mean in (2, 3), row  # a shell may make a call of its own
    assert abs(row['variance'] - 100 * (1 / 3) ** .5 / mean) < .001, row  # standard error of 1, 2, 3
    text = lab.run('stat', '-r', '3', '-e', 'task-clock', 'true').stderr
    assert "stats for 'true' (3 runs)" in text and '( +-' in text and 'seconds time elapsed' in text, text


def test_threads_of_a_process(lab):
    """--per-thread has a row for each thread, whose names are escaped; the count ends with the process."""
    need_root()
    program = '''
import threading, time, ctypes
def spin():
    ctypes.CDLL(None).prctl(15, b"two\\nlines", 0, 0, 0)
    open("ready", "a").write("x")
    end = time.monotonic() + SECONDS
    while time.monotonic() < end: pass
threads = [threading.Thread(target=spin) for _ in range(2)]
[t.start() for t in threads]; [t.join() for t in threads]
'''.replace('SECONDS', str(1.5 * LONGER))  # until they are counted
    child = subprocess.Popen([sys.executable, '-c', program], cwd=lab.dir)
    lab.children.append(child)
    wait_for(lambda: os.path.exists(lab.path('ready')) and os.path.getsize(lab.path('ready')) == 2)
    p = lab.run('stat', '-j', '--per-thread', '-p', child.pid, '-e', 'task-clock')
    got = [json.loads(line) for line in p.stderr.splitlines()]
    assert len(got) == 3, p.stderr
    busy = [row for row in got if row['thread'].startswith('two')]
    assert len(busy) == 2 and all('\n' not in row['thread'] for row in busy), p.stderr
    assert all(float(row['counter-value']) > 0 for row in busy), p.stderr
    child.wait()


def test_status(lab):
    """The status is the command's; with a signal as a shell has it, and 127 and 126 as env(1) has them."""
    for command, status in (['sh', '-c', 'exit 7'], 7), (['sh', '-c', 'kill -9 $$'], 137), (['/nowhere/at-all'], 127), \
            (['/etc/passwd'], 126):
        lab.run('stat', '-e', 'task-clock', '--', *command, status=status)
    for args, words in (['-A', 'true'], '-a or -C'), (['-r', '2'], 'name one'), (['-a', '-p', '1'], 'choose one'), \
            (['-M', 'x'], 'no metrics'), (['-e', 'frobs', 'true'], 'frobs'), (['-I', '0', 'true'], '-I 0'), \
            (['-D', '-1', 'true'], '-D -1'), (['--per-thread', 'true'], 'needs -p'):
        p = lab.run('stat', *args, status=None)
        assert p.returncode in (1, 2) and words in p.stderr, (args, p.stderr)


def test_what_this_machine_lacks(lab):
    """An event that cannot be counted says so, and the others count."""
    got = rows(lab, '-e', 'L1-icache-prefetches,page-faults', '--', 'true')
    assert got[1]['event'] == 'page-faults' and float(got[1]['counter-value']) > 10, got
    if got[0]['counter-value'] != '<not supported>':
        raise Skip('this machine counts L1-icache-prefetches')


def test_hardware_counters(lab):
    """Counters of the CPU count what perf's count, alone, in a group, and when they take turns."""
    load = ['--', lab.program('storm'), str(100 * CALLS)]
    alone, = rows(lab, '-e', 'instructions:u', *load)
    if alone['counter-value'].startswith('<not'):
        raise Skip('this machine has no hardware counters')
    truth = float(alone['counter-value'])
    perf = subprocess.run(['perf', 'stat', '-x,', '-e', 'instructions:u', *load], check=True, text=True,
                          stderr=subprocess.PIPE)
    assert abs(float(perf.stderr.split(',')[0]) / truth - 1) < .01, (perf.stderr, alone)
    got = rows(lab, '-e', '{cycles:u,instructions:u}', *load)
    assert abs(values(got, 'instructions:u')[0] / truth - 1) < .01, (got, alone)
    assert got[1]['metric-unit'] == 'insn per cycle', got
    many = rows(lab, '-e', ','.join(['instructions:u'] * 40), *load)
    assert any(row['pcnt-running'] < 90 for row in many), many
    assert abs(sum(values(many)) / 40 / truth - 1) < .2, (many, alone)


def test_events_of_the_whole_chip(lab):
    """Their PMUs exclude neither levels nor guests, and must not be asked for it."""
    need_root()
    if not os.path.exists('/sys/bus/event_source/devices/msr/events/tsc'):
        raise Skip('no PMU msr')
    for row in rows(lab, '-a', '-e', 'msr/tsc/', '-e', '{cpu-clock,msr/tsc/}', 'sleep', '.1'):
        assert float(row['counter-value']) > 0, row


def test_output(lab):
    """-o makes a file, --append keeps it, and a full disk is an error."""
    lab.run('stat', '-o', 'out', '-e', 'page-faults', 'true')
    lab.run('stat', '-o', 'out', '--append', '-e', 'task-clock', 'true')
    with open(lab.path('out'), encoding='utf-8') as f:
        text = f.read()
    assert text.count('# started on') == 2 and 'page-faults' in text and 'task-clock' in text, text
    p = lab.run('stat', '-o', '/dev/full', 'true', status=1)
    assert 'No space left' in p.stderr, p.stderr
    p = lab.run('stat', '-x', ';', '-o', 'values', '-e', 'page-faults,task-clock', 'true')
    with open(lab.path('values'), encoding='utf-8') as f:
        lines = [line.rstrip('\n').split(';') for line in f if ';' in line]
    assert [line[2] for line in lines] == ['page-faults', 'task-clock'] and all(len(line) == 7 for line in lines), lines


def test_ends(lab):
    """SIGINT prints what was counted; --timeout ends the command, and all runs."""
    child = lab.start('stat', '-j', '-e', 'task-clock', '--', 'sleep', '1000')
    wait_for(lambda: subprocess.run(['pgrep', '-P', str(child.pid), '-x', 'sleep'], stdout=subprocess.DEVNULL,
                                    check=False).returncode == 0)
    child.send_signal(signal.SIGINT)
    _, said = child.communicate(timeout=PATIENCE)
    assert '"event":"task-clock"' in said and child.returncode == 128 + signal.SIGTERM, (said, child.returncode)
    start = time.monotonic()
    row, = rows(lab, '--timeout', '300', '-e', 'task-clock', '--', 'sleep', '1000', status=128 + signal.SIGTERM)
    assert row['event'] == 'task-clock'
    lab.run('stat', '-r', '0', '--timeout', '300', '-e', 'task-clock', '--', 'sleep', '.1', status=None)
    assert time.monotonic() - start < 200, 'a command of 1000 s was ended'


def test_other_users(lab):
    """Without rights an event counts user space, and says so; whole CPUs and others' processes are refused with the reason."""
    need_root()
    with open('/proc/sys/kernel/perf_event_paranoid', encoding='ascii') as f:
        if int(f.read()) != 2:
            raise Skip('kernel.perf_event_paranoid is not 2')
    p = lab.run('stat', '-x,', '-e', 'page-faults', '--', 'true', user=NOBODY)
    assert ',page-faults:u,' in p.stderr, p.stderr
    p = lab.run('stat', '-a', '-e', 'page-faults', '--', 'true', user=NOBODY, status=1)
    assert 'perf_event_paranoid' in p.stderr and 'CAP_PERFMON' in p.stderr, p.stderr
    p = lab.run('stat', '-p', os.getpid(), '-e', 'page-faults', '--', 'true', user=NOBODY, status=1)
    assert f'process {os.getpid()} belongs to another user (uid 0): run ringtail as root' in p.stderr, p.stderr


def test_options_of_perf(lab):
    """-q counts and prints nothing, -g makes a group; stat record and report say what to use, a command behind -- runs."""
    assert lab.run('stat', '-q', '-e', 'task-clock', 'true').stderr == ''
    assert lab.run('stat', '-q', 'false', status=1).stderr == ''
    event = storm_event(lab)[1]
    first, second = values(rows(lab, '-g', '-e', f'{event},{event}', '--', lab.program('storm'), str(CALLS)), event)
    assert first == second >= CALLS
    assert "there is no 'stat record'" in lab.run('stat', 'record', 'true', status=2).stderr
    assert 'ringtail dump FILE' in lab.run('stat', 'report', status=2).stderr
    assert 'record: no such command' in lab.run('stat', '--', 'record', status=127).stderr
