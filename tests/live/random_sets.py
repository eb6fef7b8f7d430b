#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Random sets of options, each recorded with a load whose events are known, and read by all readers at hand.

usage: random_sets.py [--seconds N] [--seed SEED | --set SEED.NUMBER] DEV-BUILD RELEASE-BUILD

The number of events is known from the load, or the kernel counts them beside the recorder. It must be the sum of the
samples written, lost, overwritten and left in memory in record's last lines. `report --stats`, with --json and
without, must read the written ones, event by event, and so must each perf: that of PATH, and those in the environment
variable PERFS (paths separated by colons). ringtail refuses an invalid set with one line, and leaves no file behind.

Prints `ok set SEED.NUMBER options`, `FAIL set ...` with the whole command, or `skip ...`. The number of a
set is enough to make it again. Without --seed each run takes another seed.
"""
import argparse
import concurrent.futures
import contextlib
import json
import os
import random
import re
import select
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time

from calls import PATIENCE, number
from counter import CONTEXT_SWITCHES, PAGE_FAULTS, TYPE_SOFTWARE, TYPE_TRACEPOINT, Counter, tracepoint_id
from lab import (Lab, Skip, calls_lost, end_well, need_tracefs, perf_programs, perf_samples, say, stat, tell,
                 wait_for)
from option_sets import CPUS, Event, OptionSet

SOFTWARE = {'faults': PAGE_FAULTS, 'switches': CONTEXT_SWITCHES}
SECONDS = 180


def settled(pid):
    """Returns whether a process of one thread waits and no longer runs."""
    try:
        with open(f'/proc/{pid}/syscall', encoding='ascii') as f:
            waits = f.read().strip() not in ('running', '')
        return waits and len(os.listdir(f'/proc/{pid}/task')) == 1
    except (FileNotFoundError, ProcessLookupError):
        return True


class Task:
    """A process that obeys commands and waits between them."""

    def __init__(self, lab, program, name):
        self.pid, self.fds = None, []
        for end in 'to', 'from':
            path = lab.path(f'{name}-{end}')
            os.mkfifo(path, 0o600)
            self.fds.append(os.open(path, os.O_RDWR | os.O_CLOEXEC))
        self.argv = [program, 'from ' + ' '.join(lab.path(f'{name}-{end}') for end in ('to', 'from'))]

    def answered(self, recorder):
        """Waits for an answer. Returns False if the recorder has ended instead, perhaps because of the command."""
        end = time.monotonic() + PATIENCE
        while not select.select([self.fds[1]], [], [], 0.02)[0]:
            if recorder and recorder.poll() is not None:
                return False
            assert time.monotonic() < end, 'the load does not answer'
        os.read(self.fds[1], 4096)
        return True

    def do(self, recorder, word, n):
        os.write(self.fds[0], f'{word} {n}\n'.encode())
        return self.answered(recorder)

    def settle(self):
        wait_for(lambda: settled(self.pid), what='a load that waits')

    def close(self):
        while self.fds:
            os.close(self.fds.pop())


class Recording:
    """One set during its recording."""

    def __init__(self, lab, options):
        self.lab, self.set, self.argv, self.recorder, self.cat = lab, options, [], None, None
        self.program = lab.path('load-' + lab.dir[-8:])
        shutil.copy(lab.program('functions-no-pie'), self.program)
        self.tasks, self.command, self.fifo = [], None, []
        self.counters = {}  # (event, task): Counter
        self.counted = {event: 0 for event in options.events}
        self.enabled, self.ended_early = [], False

    # --- the load ---

    def start_load(self):
        for i in range(self.set.tasks if self.set.target != 'command' else 0):
            task = Task(self.lab, self.program, f'task{i}')
            task.pid = self.lab.spawn(*task.argv).pid
            task.answered(None)
            os.sched_setaffinity(task.pid, {CPUS[i % len(CPUS)]})
            task.settle()
            self.tasks.append(task)
        if self.set.target == 'command' or self.set.sleeper:
            self.command = Task(self.lab, self.program, 'command')

    def find_command(self):
        """Waits for the recorded command, until it runs or the recording has ended."""
        if not self.command or not self.command.answered(self.recorder):
            return
        try:
            with open(f'/proc/{self.recorder.pid}/task/{self.recorder.pid}/children', encoding='ascii') as f:
                self.command.pid = next(int(pid) for pid in f.read().split() if executes(pid, self.program))
        except (FileNotFoundError, StopIteration):
            return
        self.command.settle()
        if self.set.target == 'command':
            os.sched_setaffinity(self.command.pid, {CPUS[0]})
            self.tasks = [self.command]

    # --- counters beside it ---

    def open_counters(self, syscall):
        for event in self.set.events:
            kind, config, text = TYPE_SOFTWARE, SOFTWARE.get(event.kind), None
            if event.kind in Event.TRACEPOINTS:
                kind, config = TYPE_TRACEPOINT, tracepoint_id(event.text)
                text = event.filter(False)
            for i, task in enumerate(self.tasks):
                if config is not None and CPUS[i % len(CPUS)] in self.set.cpus:
                    self.counters[event, i] = Counter(kind, config, task.pid, self.set.inherit,
                                                      text and text.format(number=syscall))

    def read_counters(self, sign):
        for (event, _), counter in self.counters.items():
            self.counted[event] += sign * counter.read()

    # --- commands ---

    def ask(self, *command):
        """Sends a command by the socket or the FIFO. Returns the answer; None if the recording has ended by
        itself."""
        if not self.set.fifo:
            p = self.lab.run('ctl', '--pid', self.recorder.pid, *command, release=True, status=None)
            if p.returncode == 0:
                return p.stdout
            answer = p.stderr
        else:
            os.write(self.fifo[0], ' '.join(command).encode() + b'\n')
            answer = b''
            end = time.monotonic() + PATIENCE
            while not answer.endswith(b'\0') and (self.recorder.poll() is None or answer):
                assert time.monotonic() < end, f'no answer to {command}: {answer}'
                if select.select([self.fifo[1]], [], [], 0.02)[0]:
                    answer += os.read(self.fifo[1], 65536)
            answer = answer.rstrip(b'\0').decode()
            if answer.endswith('ack\n'):
                return answer
        wait_for(lambda: self.recorder.poll() is not None, what=f'{command}: {answer!r}, but the end')
        return None

    def begin(self, syscall):
        """Returns when all events count. Returns False if the recording has ended by itself before."""
        if self.set.fifo:
            self.ask('ping')
        else:
            wait_for(lambda: self.recorder.poll() is not None or self.lab.run(
                'ctl', '--pid', self.recorder.pid, 'ping', status=None, release=True).returncode == 0, what='ping')
        self.find_command()
        if self.set.start == '20':
            wait_for(lambda: int(re.search(r'\benabled=(\d+)', self.ask('stats') or 'enabled=1')[1]), what='-D')
        self.open_counters(syscall)
        if self.set.start == '-1':
            self.ask('enable')
        # The maps of all processes may be more than --max-size.
        return self.recorder.poll() is None

    def act(self, what):
        """Acts between two phases. Returns whether events count in the next one."""
        if what == 'sigusr2':
            with contextlib.suppress(ProcessLookupError):
                self.recorder.send_signal(signal.SIGUSR2)
            self.ask('ping')
        elif what == 'pause':
            time.sleep(1.1)
        elif what != 'nothing':
            self.ask(what)
        return what != 'disable'

    # --- from its beginning to its end ---

    def start(self):
        """Starts the recorder with its standard output in the file `stream`. Returns the number of the call."""
        lab, names = self.lab, {'program': self.program, 'tasks': ','.join(str(t.pid) for t in self.tasks)}
        names['number'] = subprocess.run([lab.program('storm'), '--syscall'], check=True, text=True,
                                         stdout=subprocess.PIPE).stdout.strip()
        names['comm'] = os.path.basename(self.program)
        if self.set.fifo:
            for name in 'to', 'from':
                names[name] = lab.path('control-' + name)
                os.mkfifo(names[name], 0o600)
                self.fifo.append(os.open(names[name], os.O_RDWR | os.O_CLOEXEC))
        self.argv = lab.argv(['record', *self.set.argv(self.command and self.command.argv, names)],
                             release=not self.set.sanitized)
        os.mkdir(lab.path('out'))
        with open(lab.path('said'), 'wb') as errors, open(lab.path('stream'), 'wb') as stream:
            if self.set.container == '-':
                self.cat = subprocess.Popen(['cat'], stdin=subprocess.PIPE, stdout=stream)
                lab.children.append(self.cat)
            self.recorder = subprocess.Popen(self.argv, cwd=lab.path('out'), stdin=subprocess.DEVNULL, stderr=errors,
                                             stdout=self.cat.stdin if self.cat else stream)
            lab.children.append(self.recorder)
        if self.cat:
            self.cat.stdin.close()
        return names['number']

    def make(self, phase, counts, stalls):
        """Runs a phase. A recorder that stalls meanwhile loses what its rings cannot hold."""
        self.read_counters(-counts)
        if stalls:
            self.recorder.send_signal(signal.SIGSTOP)
        fine = all(self.tasks[task].do(self.recorder, word, n) for task, word, n in phase)
        for task in self.tasks:
            task.settle()
        if stalls:
            self.recorder.send_signal(signal.SIGCONT)
        self.read_counters(counts)
        return fine

    def make_all(self):
        """Runs all phases. Returns False if the recording has ended meanwhile."""
        counts = True
        for i, phase in enumerate(self.set.phases):
            if i and not counts:
                self.ask('enable')
            counts = not i or self.act(self.set.acts[i - 1])
            if not counts and i + 1 == len(self.set.phases) and self.set.chance(50):
                self.ask('enable')  # what it has counted before must not be lost over that
                counts = True
            if self.recorder.poll() is not None or not self.make(phase, counts, self.set.stalls[i]):
                return False
            self.enabled.append(counts)
        return True

    def finish(self):
        counts = bool(self.enabled and self.enabled[-1])
        self.read_counters(-counts)
        if self.recorder.poll() is None:
            if self.set.end == 'stop':
                self.ask('stop')
            elif self.set.end != 'close':
                self.recorder.send_signal(getattr(signal, self.set.end))
            elif self.command:
                self.command.close()
            else:
                for task in self.tasks:
                    task.close()
        self.recorder.wait(timeout=2 * PATIENCE)
        self.read_counters(counts)
        if self.cat:
            self.cat.wait(timeout=PATIENCE)

    def said(self):
        if not os.path.exists(self.lab.path('said')):
            return ''
        with open(self.lab.path('said'), encoding='utf-8', errors='replace') as f:
            return f.read()

    def story(self, reason):
        """Returns the commands that repeat a failed set by hand."""
        s = self.set
        return (f'{type(reason).__name__} {reason}\n{shlex.join(self.argv)}\n'
                f'phases {s.phases}, {s.acts}, stalls {s.stalls}, end {s.end}\n{self.said()[-1500:]}')

    def run(self):
        """Returns the recorder's messages."""
        self.start_load()
        syscall = self.start()
        if not self.set.refused:
            self.ended_early = not self.begin(syscall) or not self.make_all()
            assert not self.ended_early or self.set.rotation == 'max-size', 'it has ended by itself'
            self.finish()
        self.recorder.wait(timeout=PATIENCE)
        for task in [*self.tasks, self.command]:
            if task:
                task.close()
        for counter in self.counters.values():
            counter.close()
        for fd in self.fifo:
            os.close(fd)
        said = self.said()
        assert 'Sanitizer' not in said and 'runtime error' not in said, said[-3000:]
        return said


def executes(pid, program):
    try:
        return os.readlink(f'/proc/{pid}/exe') == program
    except OSError:
        return False


# --- what came of it -------------------------------------------------------------------------------

def check_refused(recording, said):
    lab, words = recording.lab, recording.set.refused[1]
    assert recording.recorder.returncode == 2, f'exit {recording.recorder.returncode}, not 2: {said}'
    assert said.count('\n') == 1 and all(word in said for word in words), f'not a line with {words}: {said}'
    left = os.listdir(lab.path('out')) + ['stdout'] * bool(os.path.getsize(lab.path('stream')))
    assert not left, f'left behind: {left}'


def truth(recording):
    """Returns {event: expected number of samples}; None as a number if it is unknown."""
    found = {}
    for event in recording.set.events:
        if not event.exact or recording.set.frequency or recording.ended_early:
            found[event] = None
        elif event.kind in Event.SOFTWARE:
            found[event] = recording.counted[event]
        else:
            found[event] = recording.set.expected(event, recording.enabled)
            if any(e is event for e, _ in recording.counters):
                counted = recording.counted[event] // recording.set.every
                assert counted == found[event], f'{event.text}: {found[event]} by the load, the kernel counts {counted}'
    return found


def outputs(recording):
    lab, options = recording.lab, recording.set
    names = sorted(os.listdir(lab.path('out')))
    if options.container == '-':
        assert not names, f'beside the stream: {names}'
        return ['stream']
    assert names and all(re.fullmatch(r'p\.data(\.20\d{14})?', name) for name in names), f'outputs: {names}'
    most = 1 if not options.cuts else options.max_files + options.memory if options.max_files else len(names)
    assert len(names) <= most, f'outputs: {names}'
    for name in names:
        assert os.path.isdir(lab.path('out/' + name)) == (options.container == 'directory'), name
    return ['out/' + name for name in names]


def read(lab, path, stream):
    """Returns the JSON report of an output, after a comparison with the report in text."""
    def run(*args):
        with open(lab.path(path) if stream else os.devnull, 'rb') as f:
            p = subprocess.run(lab.argv(['report', '--stats', '-i', '-' if stream else path, *args], release=True),
                               cwd=lab.dir, stdin=f, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                               timeout=2 * PATIENCE, check=False)
        assert p.returncode == 0, f'report {args}: exit {p.returncode}: {p.stderr[-1500:]}'
        assert not re.search(r'damage|cut|unknown', p.stderr), p.stderr[-1500:]
        return p.stdout
    stats, words = json.loads(run('--json')), run()
    in_words = stat(words, 'SAMPLE')
    each = sum(event['samples'] for event in stats['events'])
    assert stats['samples'] == in_words == each == stats['types'].get('SAMPLE', 0), \
        f'{path}: {stats["samples"]} samples in JSON, {in_words} in words, {each} by event'
    return stats


def thousands(text):
    return int(text.replace(',', ''))


def unwritten(recording, said, samples):
    """Returns how many samples were overwritten, evicted or left in memory; None if the recorder reports only
    bytes."""
    if recording.set.memory:
        found = re.findall(r'memory: ([\d,]+) samples? taken: ([\d,]+) in \d+ snapshots?, ([\d,]+) evicted, '
                           r'([\d,]+) left at the end', said)
        assert len(found) == 1, f'no line on memory: {said}'
        taken, written, passed, held = map(thousands, found[0])
        assert written == samples and taken == written + passed + held, f'{samples} samples: {said}'
        return passed + held
    if re.search(r'overwritten [\d.,]+ \w?B of records', said):
        return None
    return sum(map(thousands, re.findall(r'overwritten ([\d,]+) of ', said)))


def check_each_event(recording, files, wanted):
    """Checks that the written and the lost samples of each event add up to its calls."""
    for i, event in enumerate(recording.set.events):
        written, lost = (sum(stats['events'][i][what] for stats in files) for what in ('samples', 'lost'))
        if wanted[event] is not None:
            assert written + lost == wanted[event], f'{event.text}: {written} + {lost} lost, of {wanted[event]}'


def check_recorded(recording, said, perfs):
    options, lab = recording.set, recording.lab
    samples, lost = number(r'([\d,]+) samples?, [\d,]+ lost', said), calls_lost(said)
    status = recording.recorder.returncode
    assert samples is not None, f'exit {status}, no summary: {said[-1500:]}'
    any_lost = number(r'samples?, ([\d,]+) lost', said)
    if not (options.fails_on_loss and options.stacks):  # stacks that were cut count for it, too
        assert status == (3 if any_lost and options.fails_on_loss else 0), f'exit {status}: {said[-1500:]}'
    wanted, elsewhere = truth(recording), unwritten(recording, said, samples)
    paths, stream = outputs(recording), options.container == '-'
    files = [read(lab, path, stream) for path in paths]
    for program in perfs:
        theirs = [perf_samples(lab, path, stream, any_lost, program) for path in paths]
        assert theirs == [stats['samples'] for stats in files], f'{program} reads {theirs}, ringtail {files}'
    if options.repeats:
        assert options.max_files or sum(stats['samples'] for stats in files) >= samples, f'{samples} written: {files}'
    elif not options.max_files:
        assert sum(stats['samples'] for stats in files) == samples, f'{samples} written: {files}'
    if None in wanted.values() or elsewhere is None:
        return samples
    total, offered = samples + lost + elsewhere, sum(wanted.values())
    if '--max-size' in said and options.rotation == 'max-size':
        return samples
    assert total == offered, f'{samples} + {lost} lost + {elsewhere} not written, but {offered} happened: {said}'
    if not options.max_files and not elsewhere and not options.repeats:
        check_each_event(recording, files, wanted)
    return samples


# --- all of them -----------------------------------------------------------------------------------

def missing(options):
    """Returns what this machine lacks for a set, or None."""
    kinds = {event.kind for event in options.events}
    if kinds & {'probe', 'return'} and not os.path.exists('/sys/bus/event_source/devices/uprobe/type'):
        return 'no uprobes for events in this kernel'
    if 'named' in kinds and tracepoint_id('syscalls:sys_enter_getppid') is None:
        return 'no tracepoints of system calls in this kernel'
    if '-r' in options.options:
        try:
            os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(1))
            os.sched_setscheduler(0, os.SCHED_OTHER, os.sched_param(0))
        except PermissionError:
            return 'no real-time priorities for this cgroup'
    return None


def judge(args, seed, index, perfs, lock):
    """Records a set, one at a time, and reads it. Returns whether all checks pass."""
    options = OptionSet(seed, index)

    def test():
        lacks = missing(options)
        if lacks:
            raise Skip(lacks)
        with Lab(args.dev, args.release) as lab:
            recording = Recording(lab, options)
            try:
                with lock:
                    said = recording.run()
                if options.refused:
                    check_refused(recording, said)
                else:
                    check_recorded(recording, said, perfs)
            except Skip:
                raise
            except Exception as reason:
                raise AssertionError(recording.story(reason)) from reason
        return True
    return tell(f'set {options.name} {options.title()}', test)


def main():
    parser = argparse.ArgumentParser(usage=__doc__.split('usage: ')[1].split('\n')[0])
    parser.add_argument('dev')
    parser.add_argument('release')
    parser.add_argument('--seconds', type=float, default=SECONDS)
    parser.add_argument('--seed')
    parser.add_argument('--set')
    args = parser.parse_args()
    try:
        need_tracefs()
    except Skip as reason:
        print('skip random sets', reason)
        return 0
    end_well()
    runtime = tempfile.TemporaryDirectory(prefix='ringtail-run-')
    os.environ['XDG_RUNTIME_DIR'] = runtime.name  # where nobody else's commands come from
    perfs, lock = perf_programs(), threading.Lock()
    if not perfs:
        print('skip perf reads all sets: no perf (package linux-perf)')
    if args.set:
        seed, index = args.set.rsplit('.', 1)
        return 0 if judge(args, seed, int(index), perfs, lock) else 1
    seed = args.seed or str(random.randrange(10 ** 6))
    print(f'seed {seed}, {args.seconds:g} s, read by ringtail and {", ".join(perfs) or "no perf"}', flush=True)
    end, results = time.monotonic() + args.seconds, []

    def next_sets(first):
        """Takes every other set, so that two threads alternate: one reads while the other records."""
        index = first
        while time.monotonic() < end:
            results.append(judge(args, seed, index, perfs, lock))
            index += 2
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        for future in [pool.submit(next_sets, first) for first in (0, 1)]:
            future.result()
    say(f'{len(results)} sets of seed {seed}')
    return 0 if all(results) else 1


if __name__ == '__main__':
    sys.exit(main())
