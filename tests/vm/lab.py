# SPDX-License-Identifier: GPL-2.0
"""Shared code of the tests in guests: boots a guest, and reads its files with this machine's ringtail and perf."""
import collections
import contextlib
import fcntl
import functools
import glob
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
TOP = os.path.dirname(os.path.dirname(HERE))
DIR = os.path.abspath(os.environ.get('VM_DIR', TOP + '/build/vm'))
BUILD = os.path.abspath(sys.argv[1]) if len(sys.argv) > 1 else ''
RINGTAIL = BUILD + '/src/cli/ringtail'
PERF = shutil.which('perf')
FILES = tempfile.TemporaryDirectory(prefix='ringtail-vm-')
# Programs of a build that go into guests, and scripts that these run.
PROGRAMS = ['src/cli/ringtail', 'demo/workload', 'tests/vm/load', 'tests/vm/axscheck', 'tests/vm/roam']
STATIC = ['pmutest', 'cs-step']  # for arm64 alone
SCRIPTS = ['watched', 'controlled', 'switched', 'each-runs', 'held', 'traced']

# Seconds that a script may take; what takes longer hangs. Emulated CPUs share one of this machine's, of which others
# may leave a part.
PATIENCE = '1800'
# Two sockets, hardware threads, two nodes: options of boot.
BIG = ('-s', '16,sockets=2,cores=4,threads=2', '-n', '2')

# A guest's end: status and console of its script, and the folder with what it handed out.
Guest = collections.namedtuple('Guest', 'status log files')


class Skip(Exception):
    """Raised by a test that cannot run here; the text is the reason."""


def call(argv, **kw):
    return subprocess.run(argv, text=True, errors='replace', stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False, **kw)


def last_line(text):
    return (text.strip().splitlines() or ['no output'])[-1]


@contextlib.contextmanager
def alone(what):
    """Keeps other processes from the same part of DIR."""
    os.makedirs(DIR, exist_ok=True)
    with open(f'{DIR}/{what}.lock', 'w', encoding='utf-8') as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


# ---- guests

@functools.cache
def setup(arch):
    """Returns the reason why there are no guests of an architecture; None if there are."""
    with alone('setup'):
        p = call([HERE + '/setup', DIR, arch], timeout=1800)
    return last_line(p.stderr) if p.returncode else None


def kernel(arch, version):
    """Returns the path of a kernel of that version; None stands for the oldest."""
    reason = setup(arch)
    if reason:
        raise Skip(reason)
    paths = sorted(glob.glob(f'{DIR}/{arch}/vmlinuz-{version or "*"}'),
                   key=lambda path: [int(part) for part in path.rpartition('-')[2].split('.')])
    if not paths:
        raise Skip(f'the archive has no cloud kernel {version} for {arch}')
    return paths[0]


@functools.cache
def arm64_build(*targets):
    """Builds programs of this tree for arm64: those that go into all guests, and others."""
    at = DIR + '/arm64/build'
    log = DIR + '/arm64/build.log'
    steps = [['ninja', '-C', at, *PROGRAMS, *targets],
             *(['aarch64-linux-gnu-gcc', '-O2', '-static', '-o', f'{DIR}/arm64/{name}', f'{HERE}/{name}.c']
               for name in STATIC)]
    if not os.path.exists(at + '/build.ninja'):
        steps.insert(0, ['meson', 'setup', at, TOP, '--cross-file', DIR + '/arm64/cross.ini',
                         '--buildtype', 'release'])
    with alone('build'), open(log, 'w', encoding='utf-8') as out:
        for argv in steps:
            p = subprocess.run(['nice', *argv], stdout=out, stderr=out, cwd=TOP, check=False)
            assert p.returncode == 0, f'the build for arm64 failed: see {log}'
    return at


def modules(arch, version):
    """Options of pack for auxsim.ko, of the kernel that a guest of this version has."""
    version = kernel(arch, version).rpartition('-')[2]
    path = f'{DIR}/{arch}/auxsim-{version}'
    if not os.path.exists(path + '.ko'):
        with open(path + '.why', encoding='utf-8') as f:
            raise Skip(f.read().strip())
    return (path + '.ko=/usr/lib/auxsim.ko',)


@functools.cache
def initramfs(arch, name='initramfs', packed=()):
    """Of the programs and scripts that all guests have, and what else is to be packed."""
    out = f'{DIR}/{arch}/{name}'
    if arch == 'arm64':
        build, extra = arm64_build(), ['-r', DIR + '/arm64/root']
        more = [f'{DIR}/arm64/{name}=/usr/bin/{name}' for name in STATIC]
    else:
        build, extra, more = BUILD, [], []
    files = [f'{build}/{name}' for name in PROGRAMS] + [f'{HERE}/guest/{name}' for name in SCRIPTS]
    with alone(f'{arch}-{name}'):
        p = call([HERE + '/pack', *extra, out, *more, *packed,
                  *(f'{file}=/usr/bin/{os.path.basename(file)}' for file in files)])
    assert p.returncode == 0, p.stderr
    return out


def script(name):
    """Returns the text of a script in guest/."""
    with open(f'{HERE}/guest/{name}.sh', encoding='utf-8') as f:
        return f.read()


@functools.cache
def boot(name, argv, text):
    """Runs a script in a guest. Returns a Guest, or the reason why there is none."""
    files = f'{FILES.name}/{name}'
    log = f'{DIR}/logs/{name}'
    os.makedirs(DIR + '/logs', exist_ok=True)
    os.makedirs(files)
    with open(files + '.sh', 'w', encoding='utf-8') as f:
        f.write(text)
    head, qemu = argv
    p = call([HERE + '/boot', '-t', PATIENCE, *head, '-o', files, files + '.sh', '--', *qemu],
             timeout=2 * int(PATIENCE))
    with open(log, 'w', encoding='utf-8') as f:
        f.write(p.stdout + p.stderr)
    if p.returncode in (2, 125):
        return f'{last_line(p.stderr)}: see {log}'
    for archive in glob.glob(files + '/*.tar'):
        with tarfile.open(archive) as tar:
            tar.extractall(files)
    return Guest(p.returncode, p.stdout, files)


def guest(name, arch, version, options, text, qemu=(), packed=()):
    """Returns the result of a script in a guest. Tests that ask for the same guest share one boot. What is @packed
    beside what all have makes an initramfs of its own."""
    kind = 'initramfs-' + name if packed else 'initramfs'
    argv = ('-k', kernel(arch, version), '-i', initramfs(arch, kind, packed), *options)
    g = boot(name, (argv, tuple(qemu)), text)
    assert isinstance(g, Guest), g
    return g


def aux_guest(name, arch, version, options, text):
    """A guest that has auxsim.ko in /usr/lib, and on this machine's architecture perf."""
    packed = modules(arch, version)
    if arch == 'amd64' and PERF:
        packed += (PERF,)
    version = kernel(arch, version).rpartition('-')[2]
    argv = ('-k', kernel(arch, version), '-i', initramfs(arch, 'initramfs-aux-' + version, packed), *options)
    g = boot(name, (argv, ()), text)
    assert isinstance(g, Guest), g
    return g


def trace(g, name):
    """What axscheck said of a recording: its numbers by name."""
    line = said(g, name + '.trace')
    found = {key: int(value) for key, value in re.findall(r'(\w+)=(\d+)', line)}
    assert 'records' in found, line
    return found


def said_all(g, word):
    """Returns the texts that the guest's script printed in lines `WORD: ...`."""
    return re.findall(rf'^{re.escape(word)}: *(.*)$', g.log, re.M)


def said(g, word):
    found = said_all(g, word)
    end = '\n'.join(g.log.splitlines()[-5:])
    assert found, f'the guest said no "{word}"; the end of its console, in {DIR}/logs:\n{end}'
    return found[0]


def path_of(g, name):
    path = f'{g.files}/{name}'
    assert os.path.exists(path), f'the guest made no {name}:\n{g.log}'
    return path


# ---- what ringtail and perf read

def ringtail(*args):
    p = call([RINGTAIL, *args], timeout=600)
    assert p.returncode == 0, f'ringtail {" ".join(args)}: {p.returncode}: {p.stderr}'
    return p.stdout


def perf(*args):
    if not PERF:
        raise Skip('no perf (package linux-perf)')
    # For inlined functions perf asks addr2line about files that only the guest has, and dies of SIGPIPE now and then.
    inline = ['--no-inline'] if args[0] in ('report', 'script') else []
    p = call([PERF, *args, *inline], timeout=600)
    assert p.returncode == 0, f'perf {" ".join(args)}: {p.returncode}: {p.stderr}'
    # The guest's kernel and architecture are not those of this perf, and it says so; any other
    # warning is one about the file.
    other = [line for line in p.stderr.splitlines()
             if line and not re.search('kallsyms|vmlinux|build id|^unwind: target platform', line)]
    assert not other, f'perf {" ".join(args)}: {other}'
    return p.stdout


def samples(path):
    """Returns (cpu, time) of each sample, as ringtail reads them."""
    text = ringtail('script', '-i', path, '-F', 'cpu,time')
    found = re.findall(r'^\s*\[(\d+)\]\s+(\d+\.\d+):', text, re.M)
    assert len(found) == len(text.splitlines()), text[:1000]
    return [(int(cpu), float(time)) for cpu, time in found]


def stat(text, name):
    """Returns a number of `report --stats`, whose format ringtail and perf share."""
    match = re.search(rf'^\s*{name} events:\s*([\d,]+)', text, re.M)
    return int(match.group(1).replace(',', '')) if match else 0


def cpus_by_file(path):
    """Returns the CPUs of the samples in each data.N, or as those of data.0 in "data", where a single thread writes."""
    found = {}
    for number, cpu in re.findall(r'^data(?:\.(\d+))?:\S+ SAMPLE .* cpu=(\d+) ',
                                  ringtail('report', '-D', '-i', path), re.M):
        found.setdefault(int(number or 0), set()).add(int(cpu))
    return found


def header(text, key):
    return sorted(re.findall(rf'^# {re.escape(key)}\s*: *(.*)$', text, re.M))


def cpus(text):
    """Returns the CPUs of a list such as "0-3,5"."""
    found = set()
    for part in text.split(','):
        first, _, last = part.partition('-')
        found |= set(range(int(first), int(last or first) + 1))
    return found


def lost(path):
    """Returns the number of samples that a file reports as lost."""
    match = re.search(r'^ *LOST samples: *(\d+)$', ringtail('report', '-i', path, '--stats'), re.M)
    return int(match.group(1)) if match else 0


def check_perf_counts(path):
    """Checks that perf counts as many samples as ringtail. Returns their number."""
    number = stat(ringtail('report', '-i', path, '--stats'), 'SAMPLE')
    theirs = stat(perf('report', '-i', path, '--stats'), 'SAMPLE')
    assert theirs == number, f'{path}: perf counts {theirs} samples, ringtail {number}'
    return number


def check_perf_reads(path):
    """Checks that perf shows as many samples as ringtail. Returns their number."""
    number = len(ringtail('script', '-i', path, '-F', 'time').splitlines())
    theirs = len(perf('script', '-i', path, '-F', 'time').splitlines())
    assert theirs == number, f'{path}: perf reads {theirs} samples, ringtail {number}'
    perf('report', '--stdio', '-i', path)
    dumped = perf('report', '-D', '-i', path)
    assert dumped.count('PERF_RECORD_SAMPLE') == number, f'{path}: dump'
    return number


def check_threads(g, name, masks):
    """Checks that guest/watched saw a reader and a writer thread for each mask, bound as the mask says."""
    threads = [line.split() for line in said_all(g, name + '.thread')]
    found = {comm: affinity for comm, affinity in threads if not comm.startswith(('iou-wrk', 'build-ids', 'perf-maps'))}
    assert found == {f'{kind}-{i}': affinity for i, (_, affinity) in enumerate(masks)
                     for kind in ('reader', 'writer')}, f'{name}: {threads}'


def check_controlled(g, name):
    """Checks the recording of guest/controlled: it has all calls made while events were enabled, and no others."""
    assert said(g, name) == '0', g.log
    assert said_all(g, name + '.answer') == [f'{command} ack' for command in
                                             ('ping', 'enable', 'disable', 'stop')], g.log
    path = path_of(g, name + '.data')
    check_perf_counts(path)
    comms = set(ringtail('script', '-i', path, '-F', 'comm').split())
    assert 'during' in comms and not comms & {'before', 'after'}, comms
