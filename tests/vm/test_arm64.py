# SPDX-License-Identifier: GPL-2.0
"""The unit and live tests of this tree on an arm64 kernel, as its own users would run them.

They are built by a cross compiler and run in guests that are an arm64 Debian. Each of their results is printed as it
comes, since all together take hours under emulation, and kept in DIR/arm64/results: a run that ended early goes on
where it was. What passed or was skipped runs again when a file that it needs has changed.
"""
import functools
import glob
import hashlib
import os
import re
import shutil
import subprocess
import sys

from lab import DIR, FILES, HERE, TOP, Skip, arm64_build, call, kernel, last_line

# Seconds: of a program of unit tests, of a step of a live test, and of a guest. Emulation is a tenth as fast as a CPU.
UNIT, STEP, GUEST = 2000, 600, int(os.environ.get('ARM64_SECONDS', '21600'))
# Loads of live tests are so many times smaller there (scaled() in tests/live/lab.py).
SMALLER = 8
# Time in a guest goes by instructions, 125 million a second of all CPUs, and not while all wait: a machine that has other
# work to do makes no test late.
CLOCK = ['-icount', os.environ.get('ARM64_CLOCK', 'shift=3,sleep=off')]
CPUS = os.environ.get('ARM64_CPUS', '4')  # each test of all CPUs is twice as much to emulate on twice as many
# Tests that fail because of the emulator, and why: their failures are skips. Tests that lack a program skip themselves.
EMULATED = {
    'unwind: truncated_stacks_end_early_and_without_a_word':
        'the start of a program takes so long that most samples are in ld.so, which has no symbols',
    'unwind: as_perf_unwinds_them': 'a load of a fixed time makes too few samples',
    'stat: hardware_counters': "QEMU's counter of instructions counts those of all CPUs",
}
FAILED = 'FAIL', 'not ok'
RESULT = re.compile(r'(ok|not ok|FAIL|skip)\b[ :]*(.*)')
PREPARE = r'''for at in {places}; do mkdir -p $at; mount --bind /host$at $at; done
cd {top}
[ ! -e /usr/lib/fuse.ko ] || insmod /usr/lib/fuse.ko
echo nobody:x:65534:65534::/:/bin/false >>/etc/passwd
# As upstream's kernels begin, not as Debian's; and interrupts that emulation makes slow take no samples away.
echo 2 >/proc/sys/kernel/perf_event_paranoid
# An emulated CPU has no time left between a hundred thousand.
echo 20000 >/proc/sys/kernel/perf_event_max_sample_rate
echo 0 >/proc/sys/kernel/perf_cpu_time_max_percent
# The emulator translates code again that lies at another address.
echo 0 >/proc/sys/kernel/randomize_va_space
# Until something is switched on for the groups below the root, they have no perf events either. systemd does that elsewhere.
echo +pids >/sys/fs/cgroup/cgroup.subtree_control
'''


@functools.cache
def initramfs():
    """
    Of an arm64 Debian with this tree's tests and their build below /host: init hides what is in /tmp and /run.
    Returns its path, and digests of the files below /host.
    """
    kernel('arm64', None)
    p = call([HERE + '/setup', DIR, 'arm64-tree'], timeout=1800)
    if p.returncode:
        raise Skip(last_line(p.stderr))
    build, stage = arm64_build('all'), DIR + '/arm64/stage'
    shutil.rmtree(stage, ignore_errors=True)
    leave_out = shutil.ignore_patterns('*.p', '*.o', '*.a', '__pycache__', 'vm')
    for path in (*(f'{TOP}/{name}' for name in ('tests', 'demo', 'man', 'contrib')),
                 *(f'{build}/{name}' for name in ('tests', 'src', 'demo'))):
        shutil.copytree(path, f'{stage}/host{path}', symlinks=True, ignore=leave_out)
    out = DIR + '/arm64/initramfs-tests'
    fuse = kernel('arm64', None).replace('/vmlinuz-', '/fuse-') + '.ko'
    p = call([HERE + '/pack', '-r', DIR + '/arm64/root', '-t', DIR + '/arm64/tree', '-t', stage, out,
              *([fuse + '=/usr/lib/fuse.ko'] if os.path.exists(fuse) else [])])
    digests = {path[len(stage) + len('/host'):]: digest(path)
               for path in glob.glob(stage + '/host/**', recursive=True) if os.path.isfile(path)}
    shutil.rmtree(stage)
    assert p.returncode == 0, p.stderr
    return out, digests


def digest(path):
    with open(path, 'rb') as f:
        return hashlib.sha256(f.read()).hexdigest()


def live_modules(name):
    """Returns the live modules whose functions a module calls, its own name among them."""
    found, left = set(), {name}
    while left:
        name = left.pop()
        found.add(name)
        with open(f'{TOP}/tests/live/test_{name}.py', encoding='utf-8') as f:
            left |= set(re.findall(r'^from test_(\w+) import', f.read(), re.M)) - found
    return found


def state(name):
    """Returns a digest of all that the tests of this name need."""
    modules = [] if name == 'unit' else live_modules(name)
    foreign = re.compile(r'/tests/(cli|house|export|fuzz|lines|roots)/|/tests/unit/' if modules else
                         r'/tests/(cli|house|export|fuzz|lines|roots|live)/')
    whole = hashlib.sha256()
    for path, of_file in sorted(initramfs()[1].items()):
        module = re.search(r'/tests/live/test_(\w+)\.py$', path)
        if not foreign.search(path) and (not module or module[1] in modules):
            whole.update(f'{path} {of_file}\n'.encode())
    return whole.hexdigest()


class Results:
    """
    What came of the tests of a name: (part, line) of each; a part is what runs again as one. `ended`: all have run.
    Kept in a file, line by line.
    """

    def __init__(self, name):
        self.path, self.state = f'{DIR}/arm64/results/{name}', state(name)
        self.lines, self.ended = [], False
        old, *lines = self.read() or ['']
        if old == self.state:
            found = [tuple(line.split('\t', 1)) for line in lines if '\t' in line]
            failed = {part for part, line in found if line.startswith(FAILED)}
            self.lines = [(part, line) for part, line in found if part not in failed]
            self.ended = 'ended' in lines and not failed
        os.makedirs(os.path.dirname(self.path), exist_ok=True)
        with open(self.path, 'w', encoding='utf-8') as f:
            f.write('\n'.join([self.state, *map('\t'.join, self.lines), *['ended'] * self.ended, '']))

    def read(self):
        if not os.path.exists(self.path):
            return []
        with open(self.path, encoding='utf-8') as f:
            return f.read().splitlines()

    def add(self, part, lines):
        self.lines += [(part, line) for line in lines]
        self.write(*(f'{part}\t{line}' for line in lines))

    def end(self):
        self.ended = True
        self.write('ended')

    def write(self, *lines):
        with open(self.path, 'a', encoding='utf-8') as f:
            f.writelines(line + '\n' for line in lines)

    def parts(self):
        return list(dict.fromkeys(part for part, _ in self.lines))

    def count(self, words):
        return sum(line.startswith(words) for _, line in self.lines)


def judged(result, text):
    """Returns a result as it is to be counted."""
    if '# SKIP' in text:
        return 'skip', text
    slow = next((title for title in EMULATED if result == 'FAIL' and text.startswith(title + ' ')), None)
    return ('skip', f'{slow} {EMULATED[slow]}') if slow else (result, text)


def run(name, command, titles=()):
    """Runs in a guest those tests that have no result yet, and prints the results of all."""
    results = Results(name)
    for _, line in results.lines:
        print(line, flush=True)
    if not results.ended:
        run_guest(name, command(results.parts()), results, titles)
    counts = [results.count(words) for words in ('ok', FAILED, 'skip')]
    print('    arm64 {}: {} passed, {} failed, {} skipped'.format(name, *counts), flush=True)
    assert results.ended, f'no end within {GUEST} s, or the guest went down: see {DIR}/logs/{name}; a new run goes on'
    assert sum(counts), f'no test ran: see {DIR}/logs/{name}'
    assert not counts[1], f'{counts[1]} of {sum(counts)} failed'


def titled(text, titles):
    """Returns the title with which a result begins. One may begin as another does."""
    return max((title for title in titles if (text + ' ').startswith(title + ' ')), key=len, default=text)


def run_guest(name, command, results, titles):
    """
    Runs a command of the tree in a guest, and prints and keeps the results of its tests as they come. A line
    `part: NAME` begins each part, if it has several tests; of others their title is the name.
    """
    build, part, lines = DIR + '/arm64/build', None, []
    script = f'{FILES.name}/{name}.sh'
    argv = [HERE + '/boot', '-v', '-t', str(GUEST), '-s', CPUS, '-M', '4096', '-k', kernel('arm64', None), '-i',
            initramfs()[0], script, '--', *CLOCK]
    with open(script, 'w', encoding='utf-8') as f:
        f.write(PREPARE.format(places=f'{TOP} {build}', top=TOP) + f'{command}; echo "ended: $?"\n')
    os.makedirs(DIR + '/logs', exist_ok=True)
    with open(f'{DIR}/logs/{name}', 'w', encoding='utf-8') as log, \
            subprocess.Popen(argv, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                             text=True, errors='replace') as child:
        for line in child.stdout:
            log.write(line)
            line = line.rstrip()
            match = RESULT.fullmatch(line)
            if match:
                result, text = judged(match[1], match[2])
                line = f'{result} arm64 {name}: {text}'
                lines.append(line)
            if match or results.count(FAILED):
                print(line if match else '    ' + line, flush=True)
            ends = line.startswith(('part: ', 'ended: '))
            if lines and (ends or not part):
                results.add(part or titled(match[2], titles), lines)
                lines = []
            if line.startswith('part: '):
                part = line.partition(' ')[2]
            elif ends:
                results.end()


def long_arm64_unit_tests():
    build = DIR + '/arm64/build'

    def command(done):
        names = sorted({os.path.basename(path) for path in initramfs()[1] if f'{build}/tests/unit/test-' in path})
        left = [name for name in names if name not in done]
        return (f'for name in {" ".join(left)}; do echo "part: $name"; '
                f'UNIT_SECONDS={UNIT} tests/unit/run {build} $name; done')

    run('unit', command)


def live_titles(name):
    """Returns the titles of a module's tests."""
    p = call([sys.executable, '-c', "import run, sys; print(*run.tests(sys.argv[1:]), sep='\\n')", name + ':'],
             cwd=TOP + '/tests/live')
    assert p.returncode == 0, p.stderr
    return p.stdout.splitlines()


def live(name):
    """A guest for each module, so that one that goes down takes no other results with it."""
    build, titles = DIR + '/arm64/build', live_titles(name)
    run(name, lambda done: ' '.join([f'PATIENCE={STEP} LOAD_DIVISOR={SMALLER} python3 tests/live/run.py',
                                     f'{build} {build} {name}:',
                                     *(f"'-{title}'" for title in done)]), titles)


for path in sorted(glob.glob(TOP + '/tests/live/test_*.py')):
    module = os.path.basename(path)[len('test_'):-len('.py')]
    globals()['long_arm64_live_' + module] = functools.partial(live, module)
