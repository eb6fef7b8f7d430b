# SPDX-License-Identifier: Apache-2.0
"""Overwrite rings: the newest samples stay, each is written once, and the others are counted."""
import glob
import os
import re
import shutil
import signal
import subprocess
import sys

from calls import Calls
from lab import (PATIENCE, calls_lost, ended, interrupt, need_root, need_tracefs, obeyed, running, scaled, stat, table,
                 wait_for, work)

MODES = {
    'serial': [],
    'aio': ['--aio'],
    'compressed': ['-z'],
    'threads': ['--threads'],
    'threads, aio, compressed': ['--threads', '--aio', '-z'],
}
EVENT = 'raw_syscalls:sys_enter'
CALLS = scaled(200000, 100000)
PYTHON = os.path.basename(sys.executable)[:15]


def storm_filter(lab, own=False):
    only = 'id == ' + subprocess.run([lab.program('storm'), '--syscall'], check=True, text=True,
                                     stdout=subprocess.PIPE).stdout.strip()
    return only + (f' && comm == "{os.path.basename(lab.own("storm"))}"' if own else '')


def number(text, pattern):
    """Returns a number from a line of the recorder; 0 without the line."""
    found = re.findall(pattern, text)
    return int(found[-1].replace(',', '')) if found else 0


def account(said, event=EVENT):
    """Returns (samples, lost, overwritten) from the recorder's last lines."""
    return (number(said, r'([\d,]+) samples?, [\d,]+ lost'), calls_lost(said),
            number(said, rf'overwritten ([\d,]+) of {event}, as --overwrite asks'))


def outputs(lab):
    """All files of a recording to p.data, oldest first."""
    return [os.path.basename(p) for p in sorted(glob.glob(lab.path('p.data.*'))) + glob.glob(lab.path('p.data'))]


def agreed(lab, name, quiet=True):
    """Samples in a file; perf and ringtail must count the same."""
    samples = lab.samples(name)
    theirs = stat(lab.perf('report', '-i', name, '--stats', quiet=quiet).stdout, 'SAMPLE')
    assert theirs == samples, (name, samples, theirs)
    return samples


def stamps(lab, name):
    """(CPU, time) of each sample, in the order of `script`."""
    out = lab.perf('script', '-i', name, '--ns', '-F', 'cpu,time', quiet=False).stdout
    found = [(int(cpu), float(stamp)) for cpu, stamp in re.findall(r'\[(\d+)\]\s+([\d.]+):', out)]
    mine = lab.run('script', '-i', name, '-F', 'time', release=True).stdout
    mine = [float(stamp) for stamp in re.findall(r'([\d.]+):', mine)]
    for times in [t for _, t in found], mine:
        assert len(times) == len(found) and times == sorted(times), f'{name}: not in order of time'
    return found


def each_once(lab, names):
    """No sample is in two files or twice in one, and no file has samples older than one before it."""
    seen, newest = set(), {}
    for name in names:
        found = stamps(lab, name)
        for cpu, stamp in found:
            assert (cpu, stamp) not in seen, (name, cpu, stamp)
            assert stamp > newest.get(cpu, 0), (name, cpu, stamp)
        seen.update(found)
        newest.update({cpu: max(t for c, t in found if c == cpu) for cpu, _ in found})
    return len(seen)


# --- every event is accounted for ----------------------------------------------------------------


def check_sums(lab, calls, status, said, may_lose=False):
    """Each call is in the file, was overwritten, or happened in the pause of a rotation."""
    samples, lost, overwritten = account(said)
    assert samples + lost + overwritten == calls, said
    assert samples and overwritten, said
    assert status == (3 if lost else 0), (status, said)
    assert may_lose or not lost, said
    assert 'no room in the ring' not in said, said
    assert (': ringtail drained its ring meanwhile (--overwrite)' in said) == ('use -M SIZE' in said) == (lost > 0), said
    names = outputs(lab)
    assert sum(agreed(lab, name) for name in names) == samples
    assert each_once(lab, names) == samples
    return names


def adds_up(lab, *options, calls=scaled(300000)):
    need_tracefs()
    p = lab.run('record', '-o', 'p.data', '-e', EVENT, '--filter', storm_filter(lab), '-c', '1',
                '-m', '64K', '--overwrite', '--fail-on-loss', *options, '--', lab.program('storm'), calls, status=None)
    check_sums(lab, calls, p.returncode, p.stderr)


def add_counting():
    for mode, options in MODES.items():
        globals()[f'test_every_call_is_accounted_for ({mode})'] = \
            lambda lab, options=options: adds_up(lab, *options)
        globals()[f'test_every_call_is_accounted_for_over_rotations ({mode})'] = \
            lambda lab, options=options: adds_up_over_rotations(lab, *options)


def adds_up_over_rotations(lab, *options):
    """Calls go on during the first rotations, on a machine that is fast enough."""
    need_tracefs()
    calls = Calls(lab, 'command', scaled(300000), bursts=120, pause_us=20000)
    recorder = lab.start('record', '-o', 'p.data', '-m', '64K', '--overwrite', '--fail-on-loss', '--switch-output=1s',
                         *options, *calls.argv)
    calls.begin(recorder)
    calls.go()
    wait_for(lambda: len(outputs(lab)) >= 3, what='two rotations')
    calls.end()
    status, _, said = ended(recorder)
    names = check_sums(lab, calls.calls, status, said, may_lose=True)
    assert len(names) >= 3, names


add_counting()


def test_all_is_there_that_fits(lab):
    """A ring that never fills overwrites nothing, and no line reports it."""
    need_tracefs()
    p = lab.run('record', '-o', 'p.data', '-e', EVENT, '--filter', storm_filter(lab), '-c', '1',
                '-m', '1M', '--overwrite', '--', lab.program('storm'), 3000)
    assert account(p.stderr) == (3000, 0, 0) and 'overwritten' not in p.stderr, p.stderr
    assert agreed(lab, 'p.data') == each_once(lab, ['p.data']) == 3000


def test_each_task_has_a_ring(lab):
    adds_up(lab, '-i')


def test_a_process_that_runs(lab):
    need_tracefs()
    os.mkfifo(lab.path('gate'))
    storm = lab.spawn(lab.program('storm'), '-g', 'gate', '-n', '2', str(CALLS))
    recorder = lab.start('record', '-o', 'p.data', '-e', EVENT, '--filter', storm_filter(lab), '-m', '64K',
                         '--overwrite', '-p', storm.pid)
    running(lab, recorder)
    with open(lab.path('gate'), 'wb'):
        pass
    # It ends with its tasks: the rings that nobody waits for do not keep it.
    status, _, said = ended(recorder)
    assert status == 0, said
    samples, lost, overwritten = account(said)
    assert samples + overwritten == CALLS and not lost and overwritten, said
    assert agreed(lab, 'p.data') == samples


def test_whole_cpus_in_a_pipe(lab):
    need_tracefs()
    with open(lab.path('p.data'), 'wb') as out:
        p = subprocess.run(lab.argv(['record', '-a', '-o', '-', '-e', EVENT, '--filter', storm_filter(lab, own=True),
                                     '-m', '64K', '--overwrite', '--', lab.own('storm'), '-n', '2', CALLS]),
                           cwd=lab.dir, stdin=subprocess.DEVNULL, stdout=out, stderr=subprocess.PIPE,
                           timeout=5 * PATIENCE, check=False)
    said = p.stderr.decode()
    assert p.returncode == 0 and 'Sanitizer' not in said, said
    samples, lost, overwritten = account(said)
    # (perf 6.1 reads no stream with tracepoints, its own neither.)
    assert samples + overwritten == CALLS and not lost, said
    assert lab.samples('p.data') == samples


def test_bytes_where_samples_cannot_be_known(lab):
    need_root()
    # Of a command there is little sideband, for which there is always room.
    p = lab.run('record', '-o', 'p.data', '-e', 'cpu-clock', '-F', 'max', '-g', '-m', '16K', '--overwrite',
                '--fail-on-loss', '--', lab.workload, scaled(200))
    assert re.search(r'overwritten [\d.]+ [KM]B of records, samples of cpu-clock among them, as '
                     r'--overwrite asks', p.stderr), p.stderr
    assert agreed(lab, 'p.data') > 10


# --- what stays ----------------------------------------------------------------------------------


def test_the_newest_stay(lab):
    """Of a load in phases: all samples of the last phase, none of the first, the newest of those between."""
    need_tracefs()
    phases = ['first', 'second', 'third', 'last']
    for name in phases:
        shutil.copy(lab.program('storm'), lab.path(name))
    script = '; '.join(f'./{name} -c 0 {dict(last=400, third=1500).get(name, 2000)}' for name in phases)
    p = lab.run('record', '-o', 'p.data', '-e', EVENT, '--filter', storm_filter(lab), '-c', '1', '-m', '256K',
                '--overwrite', '--', 'sh', '-c', script)
    samples, lost, overwritten = account(p.stderr)
    # The shell calls it once itself.
    assert samples + overwritten == 5901 and not lost, p.stderr
    assert agreed(lab, 'p.data') == samples
    lines = [line.split()[0] for line in lab.run('script', '-i', 'p.data', '-F', 'comm').stdout.splitlines()]
    assert lines.count('last') == 400 and lines.count('third') == 1500, {n: lines.count(n) for n in phases}
    # The shell's own call may be in the other CPU's ring.
    lines = [name for name in lines if name != 'sh']
    assert 'first' not in lines and overwritten > 2000, p.stderr
    assert lines == sorted(lines, key=phases.index), 'not in order of time'
    theirs = [line.split()[0] for line in lab.perf('script', '-i', 'p.data', '-F', 'comm').stdout.splitlines()]
    assert [name for name in theirs if name != 'sh'] == lines


def test_symbols_of_who_started_and_died(lab):
    """The recorder streamed the maps when they were made, so it reads none from /proc at the end."""
    need_root()
    shutil.copy(lab.workload, lab.path('gone'))
    lab.run('record', '-a', '-o', 'p.data', '-e', 'cpu-clock:u', '-F', '1000', '-m', '16M', '--overwrite', '--', 'sh',
            '-c', f'./gone {scaled(300)}; sleep 0.1')
    agreed(lab, 'p.data')
    wanted = {'gone [.] scan_tokens', 'gone [.] multiply_rows', 'gone [.] hash_blocks'}
    rows = {row for _, row in table(lab.run('report', '-i', 'p.data', '--sort', 'dso,sym').stdout)}
    assert wanted <= rows, rows
    theirs = lab.perf('report', '-i', 'p.data', '--stdio', '--sort', 'dso,sym').stdout
    assert wanted <= {row for _, row in table(theirs)}, theirs


def test_some_events_are_overwritten_and_others_not(lab):
    need_tracefs()
    # A ring has room for all exits, if nobody reads it meanwhile, and not for all entries, which are larger.
    p = lab.run('record', '-o', 'p.data', '-e', f'{EVENT}/overwrite/,raw_syscalls:sys_exit', '--filter',
                storm_filter(lab), '-c', '1', '-m', '512K', '--', lab.program('storm'), '-c', '0', '5000')
    samples, lost, overwritten = account(p.stderr)
    assert samples + overwritten == 10000 and not lost and overwritten, p.stderr
    assert agreed(lab, 'p.data') == samples
    events = lab.run('script', '-i', 'p.data', '-F', 'event').stdout.split()
    assert events.count('raw_syscalls:sys_exit:') == 5000, p.stderr
    assert len(stamps(lab, 'p.data')) == samples
    out = lab.run('record', '-o', 'q.data', '--overwrite', '-e', 'cpu-clock/no-overwrite/,page-faults', '--',
                  'true', status=0)
    assert 'overwritten' not in out.stderr
    attrs = lab.perf('evlist', '-v', '-i', 'q.data').stdout.splitlines()
    assert ['write_backward: 1' in line for line in attrs] == [False, True, False], attrs


def test_a_group(lab):
    need_root()
    p = lab.run('record', '-a', '-o', 'p.data', '--overwrite', '-g', '-m', '64K', '-e',
                '{cpu-clock,page-faults}:S', '-F', '4000', '--', lab.workload, scaled(200))
    assert agreed(lab, 'p.data') > 10, p.stderr


# --- cuts and commands ---------------------------------------------------------------------------


def test_dumps_of_all_rings_of_all_threads(lab):
    """Each dump has, once and of every CPU, the samples since the dump before."""
    need_tracefs()
    recorder = lab.start('record', '-a', '-o', 'p.data', '-e', EVENT, '--filter', storm_filter(lab, own=True), '-m',
                         '64K', '--overwrite', '--threads', '-z', '--switch-output=signal', '--', 'sleep', '600')
    running(lab, recorder)
    cpus = os.sched_getaffinity(0)
    for i in range(4):
        # Samples do not make a file grow until the rotation.
        subprocess.run([lab.own('storm'), '-n', str(len(cpus)), str(CALLS // 10)], check=True)
        lab.run('ctl', '--pid', recorder.pid, 'rotate')
    status, _, said = interrupt(recorder)
    assert status == 0, said
    names = outputs(lab)
    samples, lost, overwritten = account(said)
    # Nobody calls it while rings are read.
    assert 4 * (CALLS // 10) == samples + overwritten and not lost, said
    assert len(names) == 5 and each_once(lab, names) == samples, (names, said)
    for name in names[:4]:
        assert agreed(lab, name) > 0
        assert {cpu for cpu, _ in stamps(lab, name)} == cpus, name


def test_each_file_stands_alone(lab):
    """Samples of a dump have names and maps of tasks that began before it."""
    need_root()
    for mode, options in MODES.items():
        before = lab.spawn(sys.executable, '-c', 'while True: pass')
        recorder = lab.start('record', '-a', '-e', 'cpu-clock', '-F', '999', '-o', f'{len(mode)}.data', '--overwrite',
                             '-m', '16M', '--switch-output', *options, '--', 'sleep', '600', release=True)
        running(lab, recorder)
        for i in range(2):
            work(before.pid)
            recorder.send_signal(signal.SIGUSR2)
            wait_for(lambda: len(glob.glob(lab.path(f'{len(mode)}.data.*'))) > i, what='rotation')
            running(lab, recorder)
        work(before.pid)
        status, _, said = interrupt(recorder)
        assert status == 0, said
        before.kill()
        for name in glob.glob(lab.path(f'{len(mode)}.data.*')):
            agreed(lab, name, quiet=False)
            lines = lab.perf('script', '-i', name, '--pid', before.pid, '-F', 'comm,ip,sym,dso',
                             quiet=False).stdout.splitlines()
            assert len(lines) > 3, (mode, name)  # of two hundred, but from where the host takes the CPU away
            assert all(line.split()[0] == PYTHON for line in lines), (mode, name, lines[:3])
            known = sum('([unknown])' not in line for line in lines)
            assert known > len(lines) * .9 - 1, (mode, name, lines[:3])


def test_commands(lab):
    """Disabled events write nothing; a stop dumps the rings."""
    need_tracefs()
    recorder = lab.start('record', '-a', '-o', 'p.data', '-e', EVENT, '--filter', storm_filter(lab, own=True), '-m',
                         '64K', '--overwrite', '--switch-output', '-D', '-1')
    running(lab, recorder)

    def tell(*words):
        lab.run('ctl', '--pid', recorder.pid, *words)

    def storm(calls):
        subprocess.run([lab.own('storm'), '-c', '0', str(calls)], check=True)

    storm(100)
    tell('enable')
    storm(200)
    tell('disable')
    storm(100)
    tell('rotate')
    tell('enable')
    storm(300)
    tell('stop')
    status, _, said = ended(recorder)
    assert status == 0, said
    names = outputs(lab)
    counts = [lab.samples(name) for name in names]
    assert counts == [200, 300], (counts, said)


def test_the_signal_without_switch_output(lab):
    need_root()
    recorder = lab.start('record', '-a', '-o', 'p.data', '-e', 'cpu-clock', '--overwrite', '--', 'sleep', '600')
    running(lab, recorder)
    recorder.send_signal(signal.SIGUSR2)
    obeyed(lab, recorder)
    status, _, said = interrupt(recorder)
    assert status == 0 and 'SIGUSR2 does nothing without --switch-output' in said, said
    assert agreed(lab, 'p.data') > 10
