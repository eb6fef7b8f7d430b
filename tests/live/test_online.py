# SPDX-License-Identifier: Apache-2.0
"""Call chains made while recording (--call-graph dwarf,online): equal to those that a report finds in the stacks, in
every mode, and stacks where there is no chain."""
import os
import re
import shutil
import subprocess

from lab import LOAD_DIVISOR, LONGER, Skip, calls_lost, ended, need_mount_namespaces, registers, scaled, wait_for, work
from test_control import ACK, Pipes
from test_unwind import CHAIN, chains, need_unwinder, share

SAID = re.compile(r'(\d+) of (\d+) samples? with stacks got call chains; (\d+) bytes became (\d+)')
RATE = ['-e', 'cpu-clock:u', '-F', '2000']
# Milliseconds of a load: call frame information is read in a small part of them.
LASTING = 300 * LONGER
# An environment that makes stacks as large as their copies, also where the kernel begins them at the same address.
FULL = {**os.environ, 'FILL': 'x' * 16384}
# Of a recording of what runs already.
DURATION = f'{max(1, LONGER // 2)}s'
# The least share of samples with chains. Emulated CPUs take long to read a file, and its samples keep their stacks until then.
MADE = 0.9 if LOAD_DIVISOR == 1 else 0.5
# KB with enough samples that have chains: those before them have stacks.
FILE_KB = 50 if LOAD_DIVISOR == 1 else 1000


def said(err):
    """Returns how many samples got chains, of how many, and their bytes before and after."""
    found = SAID.search(err)
    assert found, err
    return [int(n) for n in found.groups()]


def script_chains(lab, data):
    """Returns the addresses in user space of each sample, by thread and time."""
    out = lab.run('script', '-i', data, '-F', 'tid,time,ip', '--ns', '--no-inline').stdout
    found = {}
    for block in out.split('\n\n'):
        lines = block.split('\n')
        head = re.match(r'\s*(\d+)\s+(\d+)\.(\d+):', lines[0])
        if head:
            ips = [int(line, 16) for line in lines[1:] if line.strip()]
            found[int(head[1]), int(head[2] + head[3])] = [ip for ip in ips if ip < 1 << 63]
    return found


def online_chains(lab, data):
    """Returns the same from the stage, run over the recording; None for a sample that keeps its stack."""
    pause = '0' if LOAD_DIVISOR == 1 else '50'  # emulated CPUs read no file in the time that the stage waits
    out = subprocess.run([lab.program('online-chains'), data, pause], cwd=lab.dir, capture_output=True, text=True, check=True)
    found = {}
    for line in out.stdout.splitlines():
        tid, time, *ips = line.split()
        found[int(tid), int(time)] = None if ips == ['kept'] else [int(ip, 16) for ip in ips]
    return found


def compare(lab, data, kept):
    """At least 99.9 % of the chains are those of a report; at most the share `kept` of samples keeps stacks."""
    offline, online = script_chains(lab, data), online_chains(lab, data)
    assert set(offline) == set(online), (len(offline), len(online))
    made = [key for key, chain in online.items() if chain is not None]
    assert len(made) >= (1 - kept) * len(online), (len(made), len(online))
    wrong = [key for key in made if online[key] != offline[key]]
    assert len(wrong) <= len(made) / 1000, [(online[key], offline[key]) for key in wrong[:3]]
    return len(made)


def test_equal_to_offline(lab):
    """Known chains, signals, deep stacks that are cut, and real programs with many libraries."""
    need_unwinder()
    for name, command in (('chain', [lab.program('stacks'), 'chain', 300]),
                          ('debug-frame', [lab.program('stacks-debug-frame'), 'chain', 300]),
                          ('signal', [lab.program('stacks'), 'signal', 300]),
                          ('deep', [lab.program('stacks'), 'deep', 300]),
                          ('python', ['python3', '-c', 'import json, re, email, http.client, decimal'])):
        lab.run('record', '-q', '-o', f'{name}.data', *RATE, '--call-graph', 'dwarf', '--', *command, release=True)
        # Of a sample that keeps its stack nothing is lost. Some of python's come before a file was read.
        assert compare(lab, f'{name}.data', 0.5 if name == 'python' else 0.05)


def test_recording(lab):
    """A recording has the chains of the program, in a twentieth of the bytes, and with -z in a hundredth; for perf, too."""
    need_unwinder()
    err = lab.run('record', '-o', 'p.data', *RATE, '--call-graph', 'dwarf,online', '--', lab.program('stacks'), 'chain',
                  400 * LONGER, release=True, env=FULL).stderr
    made, samples, before, after = said(err)
    assert samples > 20 and made > MADE * samples, err
    assert after < before / 20, err
    for found in (chains(lab.run('script', '-i', 'p.data').stdout), chains(lab.perf('script', '-i', 'p.data').stdout)):
        inside = [c for c in found if 'leaf' in c]
        assert len(inside) > 0.8 * len(found), found[:5]
        assert share(inside, lambda c: c[c.index('leaf'):][:4] == CHAIN) > 0.99, inside[:5]
    err = lab.run('record', '-z', '-o', 'z.data', *RATE, '--call-graph', 'dwarf,online', '--', lab.program('stacks'),
                  'chain', max(1500, 2 * LASTING), release=True, env=FULL).stderr
    made, samples, before, _ = said(err)
    assert made > MADE * samples and os.path.getsize(lab.path('z.data')) < before / 100, err


def test_help(lab):
    assert 'dwarf[,SIZE][,online]' in lab.run('record', '--help').stdout


def test_cut_stacks_are_counted(lab):
    need_unwinder()
    err = lab.run('record', '-o', 'p.data', *RATE, '--call-graph', 'dwarf,1024,online', '--', lab.program('stacks'),
                  'deep', 300, release=True).stderr
    cut = re.search(r'(\d+) call chains? ends? where the copy of the stack does: give a larger SIZE', err)
    assert cut and int(cut[1]) > 10, err


MODES = {
    'compressed': ['-z'], 'asynchronous': ['--aio'], 'threads': ['--threads'], 'unbuffered': ['--no-buffering'],
    'threads, compressed': ['--threads', '-z'], 'raw': ['-R', '-d'],
    'build-ids in records': ['--buildid-mmap'], 'overwritten': ['--overwrite', '-m', '8M'],
}


def test_modes(lab):
    """Each mode has the chains; those of all tasks, of a process, of a user, with children that come and go."""
    need_unwinder()
    few = ['--user-regs=' + ','.join(registers()[1:]).lower()]
    for name, options in {**MODES, 'registers': few}.items():
        output = 'p.data/' if '--threads' in options else 'p.data'
        shutil.rmtree(lab.path('p.data'), ignore_errors=True)
        err = lab.run('record', '-o', output, *RATE, *options, '--call-graph', 'dwarf,online', '--',
                      lab.program('stacks'), 'chain', LASTING, release=True).stderr
        made, samples, *_ = said(err)
        assert samples > 20 and made > MADE * samples, (name, err)
        found = [c for c in chains(lab.run('script', '-i', 'p.data').stdout) if 'leaf' in c]
        assert share(found, lambda c: c[c.index('leaf'):][:4] == CHAIN) > 0.99, (name, found[:5])


def test_targets(lab):
    """Processes that exist, and forks and execs by the hundred."""
    need_unwinder()
    load = subprocess.Popen([lab.program('stacks'), 'chain', str(60000 * LONGER)], stdout=subprocess.DEVNULL)
    try:
        for target in (['-p', str(load.pid)], ['-a'], ['-u', '0']):
            err = lab.run('record', '-o', 'p.data', *RATE, *target, '--call-graph', 'dwarf,online', '--duration', DURATION,
                          release=True).stderr
            assert said(err)[0] > 20, (target, err)
            found = [c for c in chains(lab.run('script', '-i', 'p.data', '--pid', str(load.pid)).stdout) if 'leaf' in c]
            assert share(found, lambda c: c[c.index('leaf'):][:4] == CHAIN) > 0.99, (target, found[:5])
    finally:
        load.kill()
        load.wait()
    many = 'for i in $(seq 100); do %s chain 5 & done; wait' % lab.program('stacks')
    for threads in [], ['--threads']:
        shutil.rmtree(lab.path('p.data'), ignore_errors=True)
        err = lab.run('record', '-o', 'p.data/' if threads else 'p.data', *RATE, *threads, '--call-graph',
                      'dwarf,online', '--', 'sh', '-c', many, release=True).stderr
        made, samples, *_ = said(err)
        assert made > samples / 2, err
        found = [c for c in chains(lab.run('script', '-i', 'p.data').stdout) if 'leaf' in c]
        assert share(found, lambda c: c[c.index('leaf'):][:4] == CHAIN) > 0.99, found[:5]


def test_flight_recorder(lab):
    """The memory has small samples: a snapshot spans far more than stacks would."""
    need_unwinder()
    windows = {}
    for kind in 'dwarf', 'dwarf,online':
        lab.run('record', '-q', '-M', '1M', '--snapshot-on-exit', '-o', 'p.data', *RATE, '--call-graph', kind, '--',
                lab.program('stacks'), 'chain', 1500, release=True, env=FULL)
        windows[kind] = len(chains(lab.run('script', '-i', 'p.data').stdout))
    found = chains(lab.run('script', '-i', 'p.data').stdout)
    inside = [c for c in found if 'leaf' in c]
    assert share(inside, lambda c: c[c.index('leaf'):][:4] == CHAIN) > 0.99, inside[:5]
    assert windows['dwarf'] < 200 and windows['dwarf,online'] > 5 * windows['dwarf'], windows


def test_rotation_and_pipe(lab):
    """Each file of a rotation stands alone; a pipe has chains."""
    need_unwinder()
    lab.run('record', '-q', f'--switch-output={FILE_KB}K', '-o', 'r.data', *RATE, '--call-graph', 'dwarf,online', '--',
            lab.program('stacks'), 'chain', max(1000, 2 * LASTING), release=True)
    outputs = sorted(name for name in os.listdir(lab.dir) if name.startswith('r.data.2'))
    assert len(outputs) > 1, os.listdir(lab.dir)
    for name in outputs[:-1]:
        found = [c for c in chains(lab.run('script', '-i', name).stdout) if 'leaf' in c]
        assert share(found, lambda c: c[c.index('leaf'):][:4] == CHAIN) > 0.99, (name, found[:5])
    with open(lab.path('pipe.data'), 'wb') as out:
        subprocess.run(lab.argv(['record', '-q', '-o', '-', *RATE, '--call-graph', 'dwarf,online', '--',
                                 lab.program('stacks'), 'chain', 400], release=True), stdout=out, cwd=lab.dir, check=True)
    found = [c for c in chains(lab.run('script', '-i', 'pipe.data').stdout) if 'leaf' in c]
    assert share(found, lambda c: c[c.index('leaf'):][:4] == CHAIN) > 0.99, found[:5]


def test_deleted_program(lab):
    """A program whose file is gone, but which still runs, is read through /proc/PID."""
    need_unwinder()
    if os.geteuid():
        raise Skip('map_files are for root')
    shutil.copy(lab.program('stacks'), lab.path('gone'))
    load = subprocess.Popen([lab.path('gone'), 'chain', '60000'], stdout=subprocess.DEVNULL)
    try:
        wait_for(lambda: os.readlink(f'/proc/{load.pid}/exe').endswith('/gone'), what='the program')
        os.unlink(lab.path('gone'))
        err = lab.run('record', '-o', 'p.data', *RATE, '-p', load.pid, '--call-graph', 'dwarf,online', '--duration',
                      f'{3 * LASTING}ms', release=True).stderr
        made, samples, *_ = said(err)
        assert samples > 20 and made > MADE * samples, err
    finally:
        load.kill()
        load.wait()


def test_killed_recorder(lab):
    """After SIGKILL the file has the chains that were flushed."""
    need_unwinder()
    load = subprocess.Popen([lab.program('stacks'), 'chain', str(60000 * LONGER)], stdout=subprocess.DEVNULL)
    try:
        recorder = lab.start('record', '-q', '-o', 'k.data', *RATE, '--flush-interval', '100ms', '-p', load.pid,
                             '--call-graph', 'dwarf,online', release=True)
        wait_for(lambda: os.path.exists(lab.path('k.data')) and os.path.getsize(lab.path('k.data')) > 1000 * FILE_KB,
                 what='data')
        recorder.kill()
        recorder.wait()
    finally:
        load.kill()
        load.wait()
    found = [c for c in chains(lab.run('script', '-i', 'k.data', status=None).stdout) if 'leaf' in c]
    assert share(found, lambda c: c[c.index('leaf'):][:4] == CHAIN) > 0.99, found[:5]


def test_starts_of_programs(lab):
    """Short programs are mostly in ld.so, whose first code has no call frame information: their chains end there."""
    need_unwinder()
    err = lab.run('record', '-o', 'p.data', '-e', 'cpu-clock:u', '-F', '20000', '--call-graph', 'dwarf,online', '--', 'sh', '-c',
                  f'for i in $(seq {scaled(200)}); do {shutil.which("true")}; done', release=True).stderr
    made, samples, *_ = said(err)
    assert samples > 20 and made > 0.7 * samples, err


def of_steps(lab, data):
    """Returns the chains of `replaced` that begin in its library, and those of them with wrong callers."""
    inside = [c for c in chains(lab.run('script', '-i', data, '--comm', 'replaced', release=True).stdout)
              if c and c[0] == 'step']
    return inside, [c for c in inside if c[1:3] != ['call_library', 'main']]


def test_replaced_map(lab):
    """A library is unmapped, and another mapped at its address: no chain is made with the rules of the wrong one."""
    need_unwinder()
    libraries = [lab.program(f'libreplaced-{name}.so') for name in ('small', 'large')]
    made, samples, *_ = said(lab.run('record', '-o', 'p.data', *RATE, '--call-graph', 'dwarf,online', '--',
                                     lab.program('replaced'), *libraries, 30, 10, release=True).stderr)
    assert made > 0.5 * samples, (made, samples)
    inside, wrong = of_steps(lab, 'p.data')
    assert inside and not wrong, wrong[:5]


def test_map_replaced_on_another_cpu(lab):
    """The record of the map lies in the ring of a CPU whose worker sleeps, when the samples of the other CPU come."""
    need_unwinder()
    cpus = sorted(os.sched_getaffinity(0))[:2]
    if len(cpus) < 2:
        raise Skip('one CPU')
    load = [lab.program('replaced'), *(lab.program(f'libreplaced-{name}.so') for name in ('small', 'large')), 100, 3, *cpus]
    for threads in ['--threads=cpu'], ['--threads=cpu', '-a', '-m', '8M'], ['--threads=core'], ['--threads', '-z'], []:
        shutil.rmtree(lab.path('p.data'), ignore_errors=True)
        err = lab.run('record', '-o', 'p.data/' if threads else 'p.data', '-e', 'cpu-clock:u', '-F', '4000', '-m', '32K',
                      *threads, '--call-graph', 'dwarf,online', '--', *load, release=True).stderr
        inside, wrong = of_steps(lab, 'p.data')
        assert len(inside) > 200 and len(wrong) <= len(inside) / 1000, (threads, len(inside), len(wrong), wrong[:5], err)
        made, samples, *_ = said(err)
        assert '-a' in threads or made > MADE * samples, (threads, err)


def test_mount_namespace(lab):
    """A program in a tmpfs that only its own mount namespace has is read in the root of its process."""
    need_unwinder()
    need_mount_namespaces()
    os.mkdir(lab.path('own'))
    load = lab.spawn('unshare', '--mount', 'sh', '-c', 'mount -t tmpfs none "$1" && cp "$2" "$1/hidden" && '
                     'exec "$1/hidden" chain 60000', 'sh', lab.path('own'), lab.program('stacks'))
    wait_for(lambda: os.readlink(f'/proc/{load.pid}/exe').endswith('/hidden'), what='the program')
    assert not os.listdir(lab.path('own'))
    err = lab.run('record', '-o', 'p.data', *RATE, '-p', load.pid, '--call-graph', 'dwarf,online', '--duration', DURATION,
                  release=True).stderr
    made, samples, *_ = said(err)
    assert samples > 20 and made > MADE * samples, err


def test_control(lab):
    """Chains are made of the samples from before and after a time in which events are disabled."""
    need_unwinder()
    pipes = Pipes()
    load = lab.spawn(lab.program('stacks'), 'chain', '60000')
    child = lab.start('record', '-o', 'p.data', *RATE, '--call-graph', 'dwarf,online', '-D', '-1', '-p', load.pid,
                      '--control', pipes.option, release=True, pass_fds=pipes.inherited)
    try:
        for command in 'ping', 'enable', 'disable', 'enable', 'stop':
            assert pipes.ask(command + '\n') == ACK
            if command != 'stop':
                work(load.pid)
        status, _, err = ended(child)
    finally:
        pipes.close()
    made, samples, *_ = said(err)
    assert status == 0 and samples > 20 and made > MADE * samples, err
    found = [c for c in chains(lab.run('script', '-i', 'p.data').stdout) if 'leaf' in c]
    assert share(found, lambda c: c[c.index('leaf'):][:4] == CHAIN) > 0.99, found[:5]


def test_overload(lab):
    """More stacks come than are unwound and written: each sample has a chain, or its stack, or is counted."""
    need_unwinder()
    load = lab.program('stacks') + ' deep 200'
    err = lab.run('record', '-o', 'p.data', '-e', 'cpu-clock:u', '-F', '20000', '--buffer-memory', '1M', '-m', '1M',
                  '--call-graph', 'dwarf,32768,online', '--', 'sh', '-c', f'{load} & {load} & wait', release=True).stderr
    made, stacks, *_ = said(err)
    kept = re.search(r'others keep their stacks \((.*)\)', err)
    others = sum(int(n) for n in re.findall(r'(\d+): ', kept[1])) if kept else 0
    cut = re.search(r'([\d,]+) without (?:its|their) whole user stacks?', err)
    cut = int(cut[1].replace(',', '')) if cut else 0
    samples = int(re.search(r'([\d,]+) samples?, [\d,]+ lost', err)[1].replace(',', ''))
    assert made + others == stacks and stacks + cut == samples == lab.samples('p.data'), err
    assert others + cut + calls_lost(err), f'no overload: {err}'
