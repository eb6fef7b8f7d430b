# SPDX-License-Identifier: Apache-2.0
"""A load of known waits, and whether a recording has them."""
import contextlib
import functools
import json
import os
import re
import shutil
import signal
import subprocess
import tempfile

from lab import LOAD_DIVISOR, Skip, need_tracefs, stands_still, wait_for

# Of the truth that the program tells. The waits are so long that the microseconds between its clocks and its switches are
# a small part of that; where CPUs are emulated, each switch takes some hundred.
WITHIN = 0.02
SLICES = 10e6  # ns that a thread may be on a run queue between a clock and a wait, beside other recordings
TURN = 11e6  # ns of one wait, and a little
SWITCHES_NS = 0 if LOAD_DIVISOR == 1 else 20 * 400000


def truth(text):
    """Returns (ns off CPUs, least ns) by the name of the way to wait."""
    return {line.split()[0]: tuple(map(int, line.split()[1:])) for line in text.splitlines() if line.startswith('w-')}


@functools.cache
def unsampled():
    """Returns the idle threads whose switches the kernel samples for nobody, as perf's recording shows: the thread that a
    CPU switched to is not the one from which it switches next."""
    with tempfile.TemporaryDirectory(prefix='ringtail-waits-') as folder:
        def perf(*argv):
            return subprocess.run(['perf', *argv], cwd=folder, check=True, text=True, errors='replace', stdin=subprocess.DEVNULL,
                                  stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout
        perf('record', '-q', '-a', '-e', 'sched:sched_switch', '-c', '1', '-m', '16M', '-o', 'perf.data', '--', 'sleep', '1')
        lines = perf('script', '-i', 'perf.data', '-F', 'trace:cpu,trace').splitlines()
    found, running_on = set(), {}
    for line in lines:
        match = re.search(r'\[(\d+)\].*prev_pid=(\d+) .*next_comm=(.*) next_pid=(\d+)', line)
        cpu, previous, comm, pid = match.groups()
        was = running_on.get(cpu)
        if was and was[1] != previous and was[1] == '0':
            found.add(was[0])
        running_on[cpu] = comm, pid
    assert running_on, lines[:9]
    return found


def need_switches():
    """A kernel may sample no tracepoint in some tasks, also not for root: a patched one may hide its own threads."""
    need_tracefs()
    if not shutil.which('perf'):
        raise Skip('no perf (package linux-perf), by which to know that the kernel samples all switches')
    if unsampled():
        raise Skip(f'the kernel samples no switch from {", ".join(sorted(unsampled()))}, which perf shows, too')


def need_switches_still():
    """As need_switches(), of this moment: a kernel that sampled all switches may have begun to leave some out, now and then."""
    for _ in range(5):
        unsampled.cache_clear()
        need_switches()


def where_all_are_sampled(test):
    """Decorates a test: where it fails, the kernel is asked again."""
    @functools.wraps(test)
    def run(lab):
        try:
            test(lab)
        except AssertionError:
            need_switches_still()
            raise
    return run


def stolen():
    """Returns the time, ns, that CPUs of this virtual machine stood still for others since its start. The kernel counts it as
    a thread's CPU time, even if the CPU was about to switch to the thread."""
    with open('/proc/stat', encoding='ascii') as f:
        return int(f.readline().split()[8]) * 10**9 // os.sysconf('SC_CLK_TCK')


def close(a, b):
    return abs(a - b) <= WITHIN * b + SWITCHES_NS


KINDS = {'w-sleep': {'sleep'}, 'w-pipe': {'pipe'}, 'w-socket': {'socket'}, 'w-futex': {'futex'}, 'w-poll': {'poll'},
         'w-disk': {'I/O'}, 'w-queue': set()}


def add_waits(lab, data, pid, by_comm, **options):
    """Adds the time that a recording has of each kind of wait of each thread of a process, ns."""
    p = lab.run('report', '-i', data, '--json', '--no-call-graph', '-s', 'comm,kind', '--pid', pid, '--off-cpu', **options)
    for row in (row for table in json.loads(p.stdout)['tables'] for row in table['rows']):
        kinds = by_comm.setdefault(row['comm'], {})
        kinds[row['kind']] = kinds.get(row['kind'], 0) + row['period']


def compare(true, by_comm, cuts=0, slices=0, lost=0):
    """Compares waits with the truth. Where outputs are cut, a wait may be in none of them. `slices`: see SLICES; `lost`: what
    was stolen() meanwhile."""
    assert sorted(true) == sorted(KINDS), true
    for name, (off, least) in true.items():
        kinds = by_comm.get(name, {})  # of files in memory nobody waits for the disk
        # On a busy machine a thread may be preempted between the clock that it reads and its waits, or on its way to sleep.
        queued = kinds.get('run queue', 0)
        missing = cuts * TURN if least else off * (cuts > 0)  # without a least time, one wait may be long
        slack = WITHIN * off + SWITCHES_NS + max(queued / 10, min(queued, slices))
        assert -slack - missing <= sum(kinds.values()) - off <= slack + lost, (name, kinds, off)
        blocked = {k: ns for k, ns in kinds.items() if k != 'run queue'}
        other = sum(ns for k, ns in blocked.items() if k not in KINDS[name])
        assert other <= WITHIN * off, (name, kinds)
        assert sum(blocked.values()) >= least * (1 - WITHIN) - queued - missing, (name, kinds, least)


class Waits:
    """The program `waits`, which writes the truth to a file, and the options that record it.

    The target is 'command', '-p' or '-a'. With '-p' the program is stopped until go().
    """

    def __init__(self, lab, target):
        need_switches()
        self.lab, self.recorder, self.task, self.before = lab, None, None, stolen()
        script = 'echo $$ >pid; {}exec "$0" disk >truth'
        command = ['sh', '-c', f'cd {lab.path("")}; ' + script, lab.program('waits')]
        if target == '-p':
            self.task = lab.spawn(*[part.format('kill -STOP $$; ') for part in command])
            wait_for(lambda: stands_still(self.task.pid), what='the stopped program')
            self.argv = ['-e', 'dummy', '-p', str(self.task.pid)]
        else:
            self.argv = ['-e', 'dummy', *(['-a'] if target == '-a' else []), '--', *[part.format('') for part in command]]

    def begin(self, recorder):
        self.recorder = recorder
        wait_for(lambda: recorder.poll() is not None or
                 self.lab.run('ctl', '--pid', recorder.pid, 'ping', status=None, release=True).returncode == 0, what='ping')

    def go(self):
        if self.task:
            self.task.send_signal(signal.SIGCONT)

    def end(self):
        """Waits until the program has told the truth of all waits, or the recording has ended."""
        wait_for(lambda: self.recorder.poll() is not None or len(self.truth()) == len(KINDS), what='the end of all waits')

    def read(self, name):
        with contextlib.suppress(FileNotFoundError), open(self.lab.path(name), encoding='ascii') as f:
            return f.read()
        return ''

    def truth(self):
        return truth(self.read('truth'))

    def pid(self):
        return self.read('pid').strip()
