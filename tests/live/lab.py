# SPDX-License-Identifier: Apache-2.0
"""Shared code of the live tests: runs ringtail and perf, has a folder for each test, and skips tests with a
reason."""
import contextlib
import ctypes
import fcntl
import functools
import os
import re
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time

TRACING = '/sys/kernel/tracing'
NOBODY = 65534
# Seconds; what takes longer hangs. A machine whose CPUs are lent to others, or whose disk stands still, may do
# nothing for many of them.
PATIENCE = int(os.environ.get('PATIENCE', '60'))
# How much longer than elsewhere a load of a fixed time lasts: so that the start of its program is a small part of it,
# too, where patience says that all takes longer.
LONGER = max(1, PATIENCE // 60)
# What loads are divided by: calls, rounds, programs, repetitions. For CPUs that are emulated; see scaled().
LOAD_DIVISOR = max(1, int(os.environ.get('LOAD_DIVISOR', '1')))
# What perf says of files with losses, and how it begins to say it.
OF_LOSSES = re.compile(r'Warning:|Processed \d+ events and lost \d+ chunks!|Check IO/CPU overload!|'
                       r'Processed \d+ samples and lost [\d.]+%!')


# In a chroot, perf leaves the root for good when it opens a file of a task in another mount namespace, and says so:
# it cannot go back to its directory (util/namespaces.c, nsinfo__mountns_exit()).
OF_CHROOTS = re.compile(r'assertion failed at util/namespaces.c:\d+$')
# Shell: mounts from here on are of this process alone, also in a chroot, whose root is no mount.
APART = '''awk '{print $5}' /proc/self/mountinfo | while read -r at; do mount --make-private "$at"; done 2>/dev/null
! grep -q ' /sys.* shared:' /proc/self/mountinfo || exit 1
'''


def scaled(number, least=1):
    """Returns how many a test makes of what it makes many of: `number`, divided by LOAD_DIVISOR, and at least `least`,
    below which the test would prove less."""
    return max(least, number // LOAD_DIVISOR)


class Skip(Exception):
    """Raised by a test that this machine cannot run; the text is the reason."""


def registers():
    """Returns this machine's names of the first register, the stack pointer and the program counter."""
    names = {'x86_64': ('AX', 'SP', 'IP'), 'aarch64': ('x0', 'sp', 'pc')}.get(os.uname().machine)
    if not names:
        raise Skip(f'the test does not know the registers of {os.uname().machine}')
    return names


def need_root():
    if os.geteuid() != 0:
        raise Skip('needs root')


def need_tracefs():
    need_root()
    if not os.path.exists(TRACING + '/events/sched/sched_switch/id'):
        raise Skip('no tracefs with sched:sched_switch at ' + TRACING)


def need_mount_namespaces():
    need_root()
    if not shutil.which('unshare'):
        raise Skip('no unshare (package util-linux)')
    # In a chroot, what is mounted would not be ours alone: its root is no mount that can be made private.
    p = subprocess.run(['unshare', '--mount', 'true'], text=True, stderr=subprocess.PIPE, check=False)
    if p.returncode:
        raise Skip(f'no mount namespaces: {p.stderr.strip()}')


def few_files(number):
    """Returns a preexec_fn: a program that may open so many files, and not raise that limit, as root neither."""
    libc = ctypes.CDLL(None)

    def limit():
        resource.setrlimit(resource.RLIMIT_NOFILE, (number, number))
        libc.prctl(24, 24, 0, 0, 0)  # PR_CAPBSET_DROP, CAP_SYS_RESOURCE
    return limit


def end_well():
    """Makes a signal that ends the tests also end their programs: a recorder left alone would run for ever."""
    for number in signal.SIGTERM, signal.SIGHUP:
        signal.signal(number, lambda number, _: sys.exit(128 + number))


class Lab:
    """The surroundings of one test: its programs and its own directory."""

    def __init__(self, dev, release):
        self.dev, self.release = os.path.abspath(dev), os.path.abspath(release)
        self.dir = None
        self.children = []
        self.last = None  # the last run of ringtail
        self.links = []  # beside the directory
        self.locks = contextlib.ExitStack()
        self.users = set()  # whose programs this test runs
        self.story = []  # of a test that failed: what its programs said last

    def __enter__(self):
        self.dir = tempfile.mkdtemp(prefix='ringtail-live-')
        self.dev, self.release = self.plain(self.dev, '.dev'), self.plain(self.release, '.release')
        return self

    def plain(self, path, suffix):
        """Links a build to a name that needs no quotes in an event or in a line of shell."""
        if not re.search(r'[^\w./+-]', path):
            return path
        os.symlink(path, self.dir + suffix)
        self.links.append(self.dir + suffix)
        return self.links[-1]

    def __exit__(self, failure, *_):
        for child in self.children:
            state = 'running' if child.poll() is None else f'exit {child.returncode}'
            if child.poll() is None:
                child.kill()
                child.wait()
            if getattr(child, 'leads', False):  # what it has started works on otherwise, beside the next test
                with contextlib.suppress(ProcessLookupError):
                    os.killpg(child.pid, signal.SIGKILL)
            if failure:
                self.tell(child.args, state, rest_of(child))
        if failure and self.last:
            self.tell(self.last.args, f'exit {self.last.returncode}', self.last.stderr)
        if failure and os.path.exists(self.path('said')):
            with open(self.path('said'), encoding='utf-8', errors='replace') as f:
                self.tell(['said'], 'a file', f.read())
        shutil.rmtree(self.dir, ignore_errors=True)
        for link in self.links:
            os.unlink(link)
        self.locks.close()

    def have_alone(self, what):
        """Waits until no other test that runs beside this one has this, then has it to its end."""
        path = os.path.join(os.environ.get('XDG_RUNTIME_DIR', tempfile.gettempdir()), what)
        fcntl.flock(self.locks.enter_context(open(path, 'w', encoding='ascii')), fcntl.LOCK_EX)

    def tell(self, argv, state, text):
        """Adds to the story the status of a program that ended, and the end of its output."""
        words = ' '.join(' '.join(map(str, argv)).replace(self.dir, '.').split())
        self.story.append(f'[{state}] {words[:300]}')
        self.story += ['    ' + line for line in (text or '').splitlines()[-15:]]

    def path(self, name):
        return os.path.join(self.dir, name)

    @property
    def workload(self):
        return self.release + '/demo/workload'

    def program(self, name):
        return self.release + '/tests/live/' + name

    def own(self, name):
        """Copies a program to a unique name, so that another run of the same tests is not mistaken for this
        one."""
        path = self.path(f'{name}-{self.dir[-8:]}')  # a comm has 15 characters
        if not os.path.exists(path):
            os.symlink(self.program(name), path)
        return path

    def public(self, path):
        """Returns a program where other users can run it: its copy, if they cannot reach the tree (below /root,
        say)."""
        folder = path
        while folder != '/' and os.stat(folder).st_mode & 0o001:
            folder = os.path.dirname(folder)
        if folder == '/':
            return path
        os.chmod(self.dir, 0o777)
        copy = self.path('public' + path.replace('/', '-'))
        if not os.path.exists(copy):
            shutil.copy(path, copy)
            os.chmod(copy, 0o755)
        return copy

    @staticmethod
    def sanitizes(child):
        """Returns whether a program of this test was built with a sanitizer."""
        p = subprocess.run(['readelf', '--dynamic', child.args[0]], check=True, text=True, stdout=subprocess.PIPE)
        return re.search(r'NEEDED.*lib[at]san', p.stdout) is not None

    def argv(self, args, release=False, user=None):
        argv = [(self.release if release else self.dev) + '/src/cli/ringtail', *map(str, args)]
        if args and args[0] == 'ctl':
            argv[2:2] = ['--timeout', str(PATIENCE)]
        if user is not None:
            if not shutil.which('setpriv'):
                raise Skip('no setpriv (package util-linux)')
            if user not in self.users:
                self.have_alone(f'user-{user}')  # whose locked memory is bounded
                self.users.add(user)
            argv = [self.public(word) if word.startswith((self.dev + '/', self.release + '/')) else word for word in argv]
            argv = ['setpriv', f'--reuid={user}', f'--regid={user}', '--clear-groups',
                    '--inh-caps=-all', '--bounding-set=-all', *argv]
        return argv

    def run(self, *args, status=0, release=False, user=None, timeout=5 * PATIENCE, **kw):
        """Runs ringtail and checks that the exit status is `status` (None: any)."""
        p = subprocess.run(self.argv(args, release, user), cwd=self.dir, text=True, errors='replace',
                           stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                           timeout=timeout, check=False, **kw)
        self.last = p
        assert 'Sanitizer' not in p.stderr and 'runtime error' not in p.stderr, p.stderr[-3000:]
        if status is not None:
            assert p.returncode == status, \
                f'ringtail {" ".join(map(str, args))}: exit {p.returncode}, not {status}: {p.stderr[-1500:]}'
        return p

    def start(self, *args, release=False, user=None, **kw):
        """Starts ringtail in the background."""
        child = subprocess.Popen(self.argv(args, release, user), cwd=self.dir, text=True,
                                 stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                 stderr=subprocess.PIPE, start_new_session=True, **kw)
        child.leads = True
        self.children.append(child)
        return child

    def spawn(self, *argv):
        """Starts any program in the background."""
        child = subprocess.Popen(argv, cwd=self.dir, stdin=subprocess.DEVNULL,
                                 stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True)
        child.leads = True
        self.children.append(child)
        return child

    def perf(self, *args, quiet=True, timeout=5 * PATIENCE):
        """Runs perf. With `quiet` it must end with 0 and print nothing on stderr but losses that are in the
        file."""
        if not shutil.which('perf'):
            raise Skip('no perf (package linux-perf)')
        p = subprocess.run(['perf', *map(str, args)], cwd=self.dir, text=True, errors='replace',
                           stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                           timeout=timeout, check=False)
        if quiet:
            assert p.returncode == 0, f'perf {" ".join(map(str, args))}: exit {p.returncode}: {p.stderr}'
            lines = p.stderr.splitlines()
            other = [line for line in lines if line.strip() and not OF_LOSSES.match(line.strip())
                     and not OF_CHROOTS.match(line.strip())]
            assert not other, f'perf {" ".join(map(str, args))} says: {p.stderr[:1500]}'
            if any(OF_LOSSES.match(line.strip()) for line in lines):
                assert '-i' in args and self.lost(args[args.index('-i') + 1]), f'nothing was lost: {p.stderr[:500]}'
        return p

    @functools.cached_property
    def perf_version(self):
        """Returns the version as (6, 1), because perf's output depends on it."""
        return tuple(map(int, re.search(r'version (\d+)\.(\d+)', self.perf('version').stdout).groups()))

    def forgotten(self, data):
        """Returns the names, such as ':1234', that `perf script` gives to tasks of a file after their EXIT
        records. perf 6.1 keeps their comm and maps, newer versions drop the task (keep_exited_threads is for `perf
        report` alone)."""
        if self.perf_version < (6, 2):
            return set()
        exits = re.findall(r'^\S+ EXIT .*? tid=(\d+) ppid=', self.run('dump', '-i', data, release=True).stdout, re.M)
        return {':' + tid for tid in exits}

    def perf_record(self, *args):
        """Runs `perf record`, which may crash on build-ids (6.1, util/build-id.c:1010) that other programs ask the
        kernel for, while it records or while it reads the file."""
        end = time.monotonic() + PATIENCE
        while True:
            p = self.perf('record', '-q', '-B', *args, quiet=False)
            read = self.perf('script', '-i', args[args.index('-o') + 1], quiet=False) if p.returncode == 0 else p
            if read.returncode == 0:
                return
            assert 'build-id.c' in read.stderr, f'perf {read.args[1]}: exit {read.returncode}: {read.stderr}'
            if time.monotonic() > end:
                raise Skip('perf cannot read what it records while others record build-ids')
            time.sleep(1)

    def frame(self, *options):
        """Returns the bytes of a file without samples: the kernel's names of tasks, which it has, become more with time."""
        self.run('record', *options, '-o', 'frame.data', '--', 'true')
        return os.path.getsize(self.path('frame.data'))

    def samples(self, data):
        """Counts the samples in a file with ringtail."""
        return stat(self.run('report', '-i', data, '--stats').stdout, 'SAMPLE')

    def samples_so_far(self, data):
        """Counts the samples in a file that is being written; 0 if it has none yet."""
        p = self.run('report', '-i', data, '--stats', status=None, release=True)
        return stat(p.stdout, 'SAMPLE') if p.returncode == 0 else 0

    def lost(self, data):
        """Returns the number of samples that a file reports as lost."""
        return lost(self.run('report', '-i', data, '--stats').stdout)

    def perf_samples(self, data):
        """Counts the samples in a file with perf."""
        return stat(self.perf('report', '-i', data, '--stats').stdout, 'SAMPLE')


def perf_programs():
    """Returns perf and the programs that the environment variable PERFS names, separated by colons."""
    named = [path for path in os.environ.get('PERFS', '').split(':') if path]
    return ['perf'] * (shutil.which('perf') is not None) + named


def perf_samples(lab, path, stream, lost, program='perf'):
    """Counts the samples of a recording or a stream with perf, which may report losses if there are any."""
    # `report --stats` passes over neither features nor tracing data in a stream; perf's own neither.
    command = ['script', '-G', '-F', 'comm', '-i', '-'] if stream else ['report', '--stats', '-i', path]
    with open(lab.path(path) if stream else os.devnull, 'rb') as data:
        p = subprocess.run([program, *command], stdin=data, text=True, errors='replace', cwd=lab.dir,
                           stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=2 * PATIENCE, check=False)
    other = [line for line in p.stderr.splitlines() if line.strip() and not (lost and OF_LOSSES.match(line.strip()))]
    assert p.returncode == 0 and not other, f'{program} {" ".join(command)}: exit {p.returncode}: {p.stderr[-1500:]}'
    return len(p.stdout.splitlines()) if stream else stat(p.stdout, 'SAMPLE')


def of_kernel(ip):
    """Returns whether an address (hexadecimal) is the kernel's. Some kernel code has no name, such as socket
    filters."""
    return int(ip, 16) >= 1 << 63


def stat(text, name):
    """Returns the number of a record type in `report --stats`, whose format ringtail and perf share."""
    match = re.search(rf'^\s*{name} events:\s*([\d,]+)', text, re.M)
    return int(match.group(1).replace(',', '')) if match else 0


def lost(text):
    """Returns the lost samples of `report --stats`: the sum before its list of events."""
    match = re.search(r'^\s*LOST samples:\s*(\d+)', text, re.M)
    return int(match.group(1)) if match else 0


def calls_lost(said):
    """Returns the samples that a recorder reports as lost, without those of its sideband, which other programs
    fill on a busy machine."""
    def number(text):
        return int(text.replace(',', ''))
    found = re.findall(r'samples?, ([\d,]+) lost', said)
    sideband = re.findall(r'lost ([\d,]+) of maps, names and forks on CPU', said)
    return number(found[-1]) - sum(map(number, sideband)) if found else None


def table(text):
    """Returns the rows of the first table of `report --stdio`: [(percent, rest of the row)]."""
    rows = []
    for line in text.splitlines():
        # Of a group perf shows a percentage for each member; the leader's is the first.
        match = re.match(r'^\s*(\d+\.\d+)%(?:\s+\d+\.\d+%)*\s+(.*?)\s*$', line)
        if match:
            rows.append((float(match.group(1)), ' '.join(match.group(2).split())))
        elif rows and line.startswith('# Samples'):
            break
    return rows


def say(*words):
    """Prints a line at once, because other threads print, too."""
    sys.stdout.write(' '.join(map(str, words)) + '\n')
    sys.stdout.flush()


def tell(name, function):
    """Runs a test and prints its result. Returns its value, or None."""
    try:
        result = function()
        say('ok', name)
        return result
    except Skip as reason:
        say('skip', name, reason)
    except Exception as reason:  # a test that dies is a failed test, and the next one's turn
        say('FAIL', name, f'{type(reason).__name__} {reason}'.replace('\n', '\n    '))
    return None


def wait_for(condition, seconds=PATIENCE, what='condition'):
    """Waits until the condition is true. Returns its value."""
    end = time.monotonic() + seconds
    while True:
        late = time.monotonic() >= end
        found = condition()
        if found:
            return found
        # Looked at once more after the end: this program may have stood still itself.
        assert not late, f'{what} not met within {seconds} s'
        time.sleep(0.02)


def running(lab, child):
    """Waits until a recording runs: its events are enabled, it handles signals, and its command has started."""
    wait_for(lambda: child.poll() is not None or
             lab.run('ctl', '--pid', child.pid, 'ping', status=None, release=True).returncode == 0, what='ping')
    assert child.poll() is None, f'it ended: {rest_of(child)}'


def obeyed(lab, child):
    """Waits until the recorder has handled an earlier signal. It pings twice, because the recorder may answer the
    first ping just before the signal."""
    running(lab, child)
    running(lab, child)


def stands_still(pid):
    """Returns whether all threads of a process are stopped, apart from the kernel's writing threads."""
    states = set()
    for task in os.listdir(f'/proc/{pid}/task'):
        with open(f'/proc/{pid}/task/{task}/stat', encoding='ascii') as f:
            name, fields = f.read().rsplit(')', 1)
        if '(iou-' not in name:
            states.add(fields.split()[0])
    return states == {'T'}


def cpu_time(pid):
    """Returns the CPU seconds that a process has used."""
    with open(f'/proc/{pid}/stat', encoding='ascii', errors='replace') as f:
        fields = f.read().rsplit(')', 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf('SC_CLK_TCK')


def work(*pids, seconds=0.2):
    """Waits until each of some processes has used a given amount of further CPU time."""
    before = {pid: cpu_time(pid) for pid in pids}
    wait_for(lambda: all(cpu_time(pid) >= begin + seconds for pid, begin in before.items()), what='work')


def rest_of(child):
    """Returns the unread stderr of a program of start(), or the text that interrupt() has read."""
    if getattr(child, 'said', None) or not child.stderr or child.stderr.closed:
        return getattr(child, 'said', '')
    os.set_blocking(child.stderr.fileno(), False)  # its command may still have the other end
    rest = b''
    try:
        while piece := os.read(child.stderr.fileno(), 65536):
            rest += piece
    except BlockingIOError:
        pass
    return rest.decode(errors='replace')


def ended(child, timeout=PATIENCE):
    """Waits for the end of a program. Returns (status, stdout, stderr)."""
    try:
        out, child.said = child.communicate(timeout=timeout)
    except subprocess.TimeoutExpired as e:
        raise AssertionError(f'it does not end: {e.stderr}') from None
    return child.returncode, out, child.said


def interrupt(child, number=signal.SIGINT, timeout=PATIENCE):
    """Sends a signal and returns (status, stdout, stderr)."""
    child.send_signal(number)
    return ended(child, timeout)
