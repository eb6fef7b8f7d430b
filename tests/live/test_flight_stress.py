# SPDX-License-Identifier: Apache-2.0
"""A flight recorder (-M) that gets requests from all sides at once, and has no room to answer."""
import json
import os
import re
import signal
import subprocess
import threading
import time

from calls import Calls
from lab import PATIENCE, Skip, calls_lost, need_root, need_tracefs, obeyed
from memory import MODES, finish, start

CLIENTS = 10
# By hand for a minute or more, else as long as that takes.
SECONDS = float(os.environ.get('STRESS_SECONDS', '3'))


def memory_of(pid):
    """Returns the resident bytes; None if the process has ended."""
    try:
        with open(f'/proc/{pid}/status', encoding='ascii') as f:
            found = re.search(r'VmRSS:\s+(\d+) kB', f.read())
    except OSError:
        return None
    return int(found.group(1)) << 10 if found else None


def snapshots_of(lab, data):
    """Returns the snapshots that the file's header lists."""
    return json.loads(lab.run('report', '-i', data, '--header-only', '--json').stdout)['snapshots']


class Askers:
    """Clients that ask for one snapshot after the other, in threads, and signals every 10 ms."""

    def __init__(self, lab, recorder):
        self.lab, self.recorder = lab, recorder
        self.stopped = threading.Event()
        self.asked, self.failed, self.memory = [], [], []
        self.threads = [threading.Thread(target=self.ask, args=(i,)) for i in range(CLIENTS)]
        self.threads.append(threading.Thread(target=self.signal))
        for thread in self.threads:
            thread.start()

    def ask(self, client):
        nth = 0
        while not self.stopped.is_set():
            reason = f'{client}.{nth}'
            p = self.lab.run('ctl', '--pid', self.recorder.pid, 'snapshot', '--reason', reason, status=None,
                             release=True)
            (self.failed if p.returncode else self.asked).append(reason)
            nth += 1
            if nth % 5 == 0:
                self.lab.run('ctl', '--pid', self.recorder.pid, 'stats', release=True)

    def signal(self):
        while not self.stopped.is_set():
            self.recorder.send_signal(signal.SIGUSR2)
            self.memory.append(memory_of(self.recorder.pid))
            time.sleep(0.01)

    def stop(self):
        self.stopped.set()
        for thread in self.threads:
            thread.join()


def asked_from_all_sides(lab, *options):
    """Each request is in the file once; memory does not grow; every call is counted."""
    need_tracefs()
    bursts = int(SECONDS * 50)
    calls = Calls(lab, 'command', 2000 * bursts, bursts, pause_us=20000)
    # With so little to buffer in, what a stall piles up there is no growth.
    recorder = start(lab, calls, '-M', '4M', '--buffer-memory', '1M', *options)
    calls.go()
    askers = Askers(lab, recorder)
    try:
        calls.made(PATIENCE + 5 * SECONDS)
    finally:
        askers.stop()
    counts, said = finish(lab, calls, recorder, 'p.data')
    assert not askers.failed, (askers.failed[:5], said)
    taken = snapshots_of(lab, 'p.data')
    assert len(taken) == counts[2] and sum(s['samples'] for s in taken) == counts[1], said
    requests = [(r['origin'], r['reason']) for s in taken for r in s['requests']]
    assert sorted(reason for origin, reason in requests if reason) == sorted(askers.asked), requests[:5]
    assert sum(not reason for _, reason in requests) > 0, requests[:5]  # by signals
    third = len(askers.memory) // 3
    early, late = max(askers.memory[:2 * third]), max(askers.memory[2 * third:])
    # What a sanitizer keeps beside each access is resident, too.
    assert lab.sanitizes(recorder) or late < early + (8 << 20), f'memory grows from {early} to {late} bytes'
    if 'STRESS_SECONDS' in os.environ:
        known = [memory >> 10 for memory in askers.memory if memory]
        print(f'# {calls.calls} calls, {calls_lost(said)} lost, {counts[2]} snapshots, {len(askers.memory)} signals, '
              f'{len(askers.asked)} clients answered, {len(requests)} requests in the file; resident {known[0]} KB at '
              f'the start, at most {early >> 10} KB, in the last third {late >> 10} KB, {known[-1]} KB at the end')


class SmallDisk:
    """A file system of 16 MB at small/, which a test can fill up to a few bytes."""

    def __init__(self, lab):
        self.where, self.filler = lab.path('small'), lab.path('small/filler')

    def __enter__(self):
        os.mkdir(self.where)
        if subprocess.run(['mount', '-t', 'tmpfs', '-o', 'size=16M', 'none', self.where], check=False).returncode:
            raise Skip('cannot mount a tmpfs')
        return self

    def __exit__(self, *_):
        subprocess.run(['umount', '-l', self.where], check=False)

    def fill(self, left):
        found = os.statvfs(self.where)
        with open(self.filler, 'wb') as f:
            os.posix_fallocate(f.fileno(), 0, found.f_bavail * found.f_bsize - left)

    def make_room(self):
        os.unlink(self.filler)


def full_disk(lab, *options):
    """The disk fills up in the middle of a dump, and more calls are made: the next snapshot has all of them."""
    need_root()
    need_tracefs()
    data = 'small/p.data'
    with SmallDisk(lab) as disk:
        calls = Calls(lab, '-p', 40000)
        # What half of the calls make is more than there is room for: rings hold them, however late they are read.
        recorder = start(lab, calls, '-M', '8M', '-m', '4M', *options, output=data)
        disk.fill(40 << 10 if '-z' in options else 1 << 20)
        calls.hold('go0')
        calls.close('go0')
        calls.hold('end0')
        p = lab.run('ctl', '--pid', recorder.pid, 'snapshot', status=None)
        assert p.returncode and 'No space left' in p.stderr, p.stderr
        recorder.send_signal(signal.SIGUSR2)
        # Recording goes on without room.
        calls.hold('go1')
        calls.close('go1')
        calls.made()
        obeyed(lab, recorder)
        assert lab.samples(data) == 0
        disk.make_room()
        p = lab.run('ctl', '--pid', recorder.pid, 'snapshot')
        (taken, written, snapshots, passed, held), said = finish(lab, calls, recorder, data)
        assert written == taken and snapshots == 1 and passed == held == 0, said
        assert said.count('gives up') in (1, 2) and 'could not write 2 snapshots' in said, said
        assert [s['samples'] for s in snapshots_of(lab, data)] == [written], said


def triggered_by_each_call(lab, *options):
    """A trigger hits far more often than ten thousand times a second; the recorder samples the same event."""
    need_tracefs()
    calls = Calls(lab, 'command', 100000, bursts=50, pause_us=20000)
    event = calls.argv[calls.argv.index('--filter') + 1]
    recorder = start(lab, calls, '-M', '1M', *options, '--trigger',
                     f'raw_syscalls:sys_enter {event},limit=10/1s,reason=call')
    calls.go()
    calls.made()
    counts, said = finish(lab, calls, recorder, 'p.data')
    times, asked, limited = (int(n.replace(',', '')) for n in re.search(
        r'trigger .*: ([\d,]+) times?, ([\d,]+) snapshots? asked for, ([\d,]+) limited', said).groups())
    assert times == calls.calls == asked + limited, said
    # Of what was found at once one asks.
    seconds = float(re.findall(r', ([\d.]+) s$', said, re.M)[-1])
    assert 1 <= asked <= 10 * (seconds + 1), said
    taken = snapshots_of(lab, 'p.data')
    assert sum(len(s['requests']) for s in taken) == asked, said
    assert all(r['reason'] == 'call' for s in taken for r in s['requests'])
    assert sum(s['samples'] for s in taken) == counts[1]


def add(name, test, modes):
    for mode in modes:
        globals()[f'test_{name} ({mode})'] = lambda lab, mode=mode: test(lab, *MODES[mode])


add('asked_from_all_sides', asked_from_all_sides, ('serial', 'threads, compressed'))
add('full_disk_in_a_dump', full_disk, ('serial', 'threads, compressed'))
add('triggered_by_each_call', triggered_by_each_call, ('serial', 'threads, compressed'))
