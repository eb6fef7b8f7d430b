# SPDX-License-Identifier: Apache-2.0
"""A load of a known number of calls, and gates that start the calls and end the load."""
import errno
import os
import re
import subprocess
import time

from lab import PATIENCE


def number(pattern, text):
    """Returns the last number that a pattern finds, or None."""
    found = re.findall(pattern, text)
    return int(found[-1].replace(',', '')) if found else None


class Calls:
    """Two processes that call getppid, together `calls` times, and the options that record exactly these calls.

    The target is 'command', '-p' or '-a'. With '-p' and '-a' the callers start before the recording, and the command
    only sets its length. All processes wait at gates, which are FIFOs:

        begin()  returns when the recording runs
        go()     starts the calls, in `bursts` that are some time apart
        more()   starts those after the first burst, with `first`, which needs '-p' or '-a'
        made()   returns when all calls are made
        end()    calls made(), and lets all processes end

    They also return if the recording ends early.
    """

    def __init__(self, lab, target, calls, bursts=1, pause_us=20000, first=False, random=False):
        self.lab, self.recorder, self.held, self.callers = lab, None, {}, ('0',)
        self.calls = calls
        self.random = ['-r'] if random else []  # arguments that do not compress
        storm = lab.program('storm')
        only = 'id == ' + subprocess.run([storm, '--syscall'], check=True, text=True,
                                         stdout=subprocess.PIPE).stdout.strip()
        tasks = []
        if target == 'command':
            where, command = [], [storm, '-n', 2, *self.gates('0', bursts, pause_us), calls]
        else:
            self.callers = '0', '1'
            tasks = [lab.spawn(*map(str, [storm, '-c', i, *self.gates(i, bursts, pause_us),
                                          *(['-f', self.gate('first' + i)] if first else []), calls // 2])).pid
                     for i in self.callers]
            where = ['-p', ','.join(map(str, tasks))] if target == '-p' else ['-a']
            command = [storm, '-g', self.gate('begin'), 0]
            # Others make the call as well.
            only += ' && (' + ' || '.join(f'common_pid == {pid}' for pid in tasks) + ')'
        self.argv = ['-e', 'raw_syscalls:sys_enter', '--filter', only, '-c', '1', *where, '--', *command]

    def gate(self, name):
        path = self.lab.path(name)
        if os.path.exists(path):
            os.unlink(path)
        os.mkfifo(path)
        return path

    def gates(self, caller, bursts, pause_us):
        return [*self.random, '-g', self.gate('go' + caller), '-e', self.gate('end' + caller), '-b', bursts, '-u', pause_us]

    def came(self, name):
        """Returns whether a process waits at a gate. It passes when close() opens the gate."""
        if name not in self.held:
            try:
                self.held[name] = os.open(self.lab.path(name), os.O_WRONLY | os.O_NONBLOCK)
            except OSError as e:
                assert e.errno == errno.ENXIO, e
        return name in self.held

    def hold(self, name, patience=PATIENCE):
        """Waits until a process is at a gate."""
        end = time.monotonic() + patience
        while not self.came(name) and self.recorder.poll() is None:
            assert time.monotonic() < end, f'nobody came to the gate {name} within {patience} s'
            time.sleep(0.002)

    def close(self, *names):
        for name in names:
            if name in self.held:
                os.close(self.held.pop(name))

    def begin(self, recorder):
        self.recorder = recorder
        self.hold('go0' if len(self.callers) == 1 else 'begin')

    def go(self, gate='go'):
        for caller in self.callers:
            self.hold(gate + caller)
        self.close(*(gate + caller for caller in self.callers))

    def more(self):
        self.go('first')

    def made(self, patience=PATIENCE):
        for caller in self.callers:
            self.hold('end' + caller, patience)

    def end(self):
        self.made()
        self.close(*list(self.held))
