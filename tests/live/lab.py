# SPDX-License-Identifier: Apache-2.0
"""What the live tests share: running ringtail and perf, a place for files, skips with a reason."""
import os
import re
import shutil
import signal
import subprocess
import tempfile
import time

TRACING = '/sys/kernel/tracing'
NOBODY = 65534


class Skip(Exception):
    """Raised by a test that this machine cannot run; the text says why."""


def need_root():
    if os.geteuid() != 0:
        raise Skip('needs root')


def need_tracefs():
    need_root()
    if not os.path.exists(TRACING + '/events/sched/sched_switch/id'):
        raise Skip('no tracefs with sched:sched_switch at ' + TRACING)


class Lab:
    """One test's surroundings: programs and a directory of its own."""

    def __init__(self, dev, release):
        self.dev, self.release = os.path.abspath(dev), os.path.abspath(release)
        self.dir = None
        self.children = []

    def __enter__(self):
        self.dir = tempfile.mkdtemp(prefix='ringtail-live-')
        return self

    def __exit__(self, *_):
        for child in self.children:
            if child.poll() is None:
                child.kill()
                child.wait()
        shutil.rmtree(self.dir, ignore_errors=True)

    def path(self, name):
        return os.path.join(self.dir, name)

    @property
    def workload(self):
        return self.release + '/demo/workload'

    def program(self, name):
        return self.release + '/tests/live/' + name

    def argv(self, args, release=False, user=None):
        argv = [(self.release if release else self.dev) + '/src/cli/ringtail', *map(str, args)]
        if user is not None:
            if not shutil.which('setpriv'):
                raise Skip('no setpriv (package util-linux)')
            argv = ['setpriv', f'--reuid={user}', f'--regid={user}', '--clear-groups',
                    '--inh-caps=-all', '--bounding-set=-all', *argv]
        return argv

    def run(self, *args, status=0, release=False, user=None, timeout=120, **kw):
        """Runs ringtail; the exit status must be `status` (None: any)."""
        p = subprocess.run(self.argv(args, release, user), cwd=self.dir, text=True, errors='replace',
                           stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                           timeout=timeout, check=False, **kw)
        assert 'Sanitizer' not in p.stderr and 'runtime error' not in p.stderr, p.stderr[-3000:]
        if status is not None:
            assert p.returncode == status, \
                f'ringtail {" ".join(map(str, args))}: exit {p.returncode}, not {status}: {p.stderr[-1500:]}'
        return p

    def start(self, *args, release=False, user=None, **kw):
        """Starts ringtail in the background."""
        child = subprocess.Popen(self.argv(args, release, user), cwd=self.dir, text=True,
                                 stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                 stderr=subprocess.PIPE, **kw)
        self.children.append(child)
        return child

    def spawn(self, *argv):
        """Starts any program in the background."""
        child = subprocess.Popen(argv, cwd=self.dir, stdin=subprocess.DEVNULL,
                                 stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.children.append(child)
        return child

    def perf(self, *args, quiet=True, timeout=180):
        """Runs perf; with `quiet` it must end with 0 and say nothing on stderr."""
        if not shutil.which('perf'):
            raise Skip('no perf (package linux-perf)')
        p = subprocess.run(['perf', *map(str, args)], cwd=self.dir, text=True, errors='replace',
                           stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                           timeout=timeout, check=False)
        if quiet:
            assert p.returncode == 0, f'perf {" ".join(map(str, args))}: exit {p.returncode}: {p.stderr}'
            assert not p.stderr.strip(), f'perf {" ".join(map(str, args))} says: {p.stderr[:1500]}'
        return p

    def samples(self, data):
        """Samples in a file, as ringtail counts them."""
        return stat(self.run('report', '-i', data, '--stats').stdout, 'SAMPLE')

    def perf_samples(self, data):
        """Samples in a file, as perf counts them."""
        return stat(self.perf('report', '-i', data, '--stats').stdout, 'SAMPLE')


def stat(text, name):
    """The number of a record type in `report --stats` (ringtail's and perf's look alike)."""
    match = re.search(rf'^\s*{name} events:\s*([\d,]+)', text, re.M)
    return int(match.group(1).replace(',', '')) if match else 0


def table(text):
    """Rows of the first table of `report --stdio`: [(percent, rest of the row)]."""
    rows = []
    for line in text.splitlines():
        # Of a group perf shows a percentage for each member; the leader's is the first.
        match = re.match(r'^\s*(\d+\.\d+)%(?:\s+\d+\.\d+%)*\s+(.*?)\s*$', line)
        if match:
            rows.append((float(match.group(1)), ' '.join(match.group(2).split())))
        elif rows and line.startswith('# Samples'):
            break
    return rows


def wait_for(condition, seconds=10, what='condition'):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if condition():
            return
        time.sleep(0.02)
    raise AssertionError(f'{what} not met within {seconds} s')


def interrupt(child, number=signal.SIGINT, timeout=20):
    """Sends a signal and returns (status, stdout, stderr)."""
    child.send_signal(number)
    out, err = child.communicate(timeout=timeout)
    return child.returncode, out, err
