# SPDX-License-Identifier: Apache-2.0
"""The messages to a service manager: datagrams to its socket, and a main process that lives."""
import json
import os
import re
import select
import signal
import socket
import subprocess
import time

from lab import PATIENCE, interrupt, need_root, running, scaled, stands_still, wait_for


class Manager:
    """The socket of a service manager, and the messages that it received."""

    def __init__(self, lab, abstract):
        name = f'ringtail-test-{os.getpid()}' if abstract else lab.path('notify')
        self.address = '@' + name if abstract else name
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.socket.bind('\0' + name if abstract else name)
        self.lines = []

    def __del__(self):
        self.socket.close()

    def environment(self, **more):
        return {**os.environ, 'NOTIFY_SOCKET': self.address, **more}

    def take(self, seconds):
        """Receives the messages that arrive until then."""
        end = time.monotonic() + seconds
        while select.select([self.socket], [], [], max(0, end - time.monotonic()))[0]:
            self.lines += self.socket.recv(4096).decode().split('\n')

    def wait(self, pattern, times=1):
        """Waits for a number of lines that match."""
        def came():
            self.take(0.02)
            return sum(re.fullmatch(pattern, line) is not None for line in self.lines) >= times
        wait_for(came, what=f'{times} {pattern} among {self.lines}')


def from_begin_to_end(lab, abstract):
    manager = Manager(lab, abstract)
    recorder = lab.start('record', '-e', 'cpu-clock', '-M', '1M', '-o', 'p.data', '--', 'sh', '-c',
                         'echo "${NOTIFY_SOCKET-none} ${WATCHDOG_USEC-none}" >seen; exec sleep 600',
                         env=manager.environment(WATCHDOG_USEC='400000'))
    manager.wait('READY=1')
    running(lab, recorder)
    manager.wait('WATCHDOG=1', times=5)
    manager.wait(r'STATUS=memory holds [\d.]+ s, \d+ samples?; 0 snapshots')
    assert 'STOPPING=1' not in manager.lines

    def seen():
        if os.path.exists(lab.path('seen')):
            with open(lab.path('seen'), encoding='utf-8') as f:
                return f.read()
        return ''
    # The command cannot speak for the recorder.
    assert wait_for(seen, what='the command') == 'none none\n'
    # One that does not run is taken for dead.
    recorder.send_signal(signal.SIGSTOP)
    wait_for(lambda: stands_still(recorder.pid), what='stop')
    manager.take(0)
    beats = manager.lines.count('WATCHDOG=1')
    manager.take(1)
    assert manager.lines.count('WATCHDOG=1') == beats
    recorder.send_signal(signal.SIGCONT)
    assert interrupt(recorder)[0] == 0
    manager.take(0)
    assert manager.lines.index('STOPPING=1') > manager.lines.index('READY=1')


def test_from_begin_to_end(lab):
    from_begin_to_end(lab, abstract=False)


def test_from_begin_to_end_without_a_file(lab):
    from_begin_to_end(lab, abstract=True)


def test_a_slow_output_is_no_hang(lab):
    """The reader of the pipe sleeps: the recorder waits for it at the end, and still reports to the manager.

    The output is dozens of times as much as the pipe holds, so that this also works where the host takes the CPU
    away most of the time."""
    manager = Manager(lab, abstract=False)
    read, write = os.pipe()
    recorder = subprocess.Popen(lab.argv(['record', '-e', 'cpu-clock', '-F', '20000', '-g', '-o', '-', '--',
                                          lab.workload, scaled(400)]),
                                cwd=lab.dir, stdin=subprocess.DEVNULL, stdout=write, stderr=subprocess.PIPE,
                                env=manager.environment(WATCHDOG_USEC='500000'))
    lab.children.append(recorder)
    os.close(write)
    manager.wait('STOPPING=1')
    # It waits as long as nobody reads.
    manager.wait('WATCHDOG=1', times=manager.lines.count('WATCHDOG=1') + 8)
    assert recorder.poll() is None
    with os.fdopen(read, 'rb') as f:
        while f.read(1 << 20):
            pass
    assert recorder.wait(PATIENCE) == 0


def test_without_a_watchdog(lab):
    """The recorder only reports that it is ready; a socket that does not exist, or belongs to another process,
    changes nothing."""
    manager = Manager(lab, abstract=False)
    lab.start('record', '-e', 'cpu-clock', '-o', 'p.data', '--', lab.workload, 100,
              env=manager.environment(WATCHDOG_USEC='200000', WATCHDOG_PID='1')).wait(PATIENCE)
    manager.take(0)
    assert manager.lines.count('READY=1') == manager.lines.count('STOPPING=1') == 1
    assert 'WATCHDOG=1' not in manager.lines
    for wrong in lab.path('nothing'), 'relative', '@', 'vsock:1:2', '/' + 'x' * 200, '':
        recorder = lab.start('record', '-q', '-e', 'cpu-clock', '-o', 'q.data', '--', 'true',
                             env={**os.environ, 'NOTIFY_SOCKET': wrong, 'WATCHDOG_USEC': 'soon'})
        _, said = recorder.communicate(timeout=PATIENCE)
        assert recorder.returncode == 0 and not said, (wrong, said)


def test_a_snapshot_by_reload(lab):
    """Runs ExecStart and ExecReload of the unit without systemd (test_systemd.py has one)."""
    need_root()
    manager = Manager(lab, abstract=False)
    unit = os.path.join(os.path.dirname(__file__), '../../contrib/ringtail.service.in')
    with open(unit, encoding='utf-8') as f:
        text = f.read()
    words = re.search(r'^ExecStart=@bindir@/ringtail (.*) \$RINGTAIL_OPTIONS$', text, re.M)[1].split()
    words = [word.replace('${STATE_DIRECTORY}', lab.dir).replace('%%', '%') for word in words]
    reload = re.search(r'^ExecReload=@bindir@/ringtail (.*)$', text, re.M)[1].split()
    recorder = lab.start(*words, release=True, env=manager.environment(WATCHDOG_USEC='60000000'))
    manager.wait('READY=1')
    wait_for(lambda: json.loads(lab.run('ctl', '--pid', recorder.pid, 'stats', '-j').stdout)['held_samples'],
             what='samples')
    lab.run(*[word.replace('$MAINPID', str(recorder.pid)) for word in reload])
    assert interrupt(recorder)[0] == 0
    name, = (name for name in os.listdir(lab.dir) if name.startswith('perf.data.2'))
    assert lab.samples(name) == lab.perf_samples(name) > 0
