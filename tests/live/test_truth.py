# SPDX-License-Identifier: Apache-2.0
"""A known workload has the shape that perf shows, and each of a known number of events is recorded."""
import math
import os
import re
import shutil
import signal
import struct
import subprocess
import time

from calls import Calls
from lab import Skip, calls_lost, ended, need_root, need_tracefs, of_kernel, scaled, table
from test_eviction import NOTE, make_programs

CALLS = scaled(100000, 10000)
# What demo/workload.c says of itself: shares of all steps.
SHARES = {'scan_tokens': 1600, 'build_tree': 400, 'multiply_rows': 900, 'transpose': 100,
          'hash_blocks': 500, 'merge_sums': 500}


def shares(text):
    found = {}
    for percent, row in table(text):
        match = re.match(r'\[\.\] (\w+)$', row)
        if match and match.group(1) in SHARES:
            found[match.group(1)] = percent
    assert set(found) == set(SHARES), f'functions not named: {set(SHARES) - set(found)}'
    total = sum(found.values())
    return {name: 100 * value / total for name, value in found.items()}


def test_hot_functions_as_perf_names_them(lab):
    """Both record the same runs, because runs differ on a busy machine; shares agree within the error of
    sampling."""
    need_root()
    mine, theirs, samples = [], [], 0
    for _ in range(3):
        lab.perf_record('-o', 'p.data', '-e', 'cpu-clock:u', '-F', '2000', '--',
                        *lab.argv(['record', '-q', '-B', '-o', 'r.data', '-e', 'cpu-clock:u', '-F', '2000', '--',
                                   lab.workload, scaled(200)], release=True))
        mine.append(shares(lab.run('report', '-i', 'r.data', '--sort', 'sym').stdout))
        samples += lab.samples('r.data')
        theirs.append(shares(lab.perf('report', '-i', 'p.data', '--stdio', '--sort', 'sym').stdout))
    for name in SHARES:
        ours = sum(m[name] for m in mine) / len(mine)
        perfs = sum(t[name] for t in theirs) / len(theirs)
        p = perfs / 100
        # So many standard errors of the difference of two binomial shares: wrong once in four million, for all six.
        limit = 100 * 5.5 * math.sqrt(2 * p * (1 - p) / samples)
        assert abs(ours - perfs) <= limit, f'{name}: {ours:.2f} % and perf {perfs:.2f} % (± {limit:.2f})'


def test_chains_of_frame_pointers_are_whole(lab):
    """Chains of leaf functions are whole, too, where the demo is built with frame pointers in them."""
    lab.run('record', '-g', '-o', 'r.data', '-e', 'cpu-clock:u', '-F', '10000', '--', lab.workload,
            scaled(100), release=True)
    for out in (lab.run('report', '-i', 'r.data', '--sort', 'sym', '-g', 'folded,0,caller').stdout,
                lab.perf('report', '-i', 'r.data', '--stdio', '--no-children', '--sort', 'sym', '-g',
                         'folded,0,caller').stdout):
        chains = re.findall(r'main;run_job;(\w+)\b', out)
        assert set(SHARES) <= set(chains), out[:3000]


def storm_filter(lab):
    """Returns a filter for getppid, whose number on this architecture the storm prints."""
    return subprocess.run([lab.program('storm'), '--syscall'], check=True, text=True,
                          stdout=subprocess.PIPE).stdout.strip()


def test_every_event_of_a_storm_is_there(lab):
    need_tracefs()
    p = lab.run('record', '-o', 's.data', '-a', '-e', 'raw_syscalls:sys_enter', '--filter',
                f'id == {storm_filter(lab)} && comm == "{os.path.basename(lab.own("storm"))}"', '-c', '1', '--',
                lab.own('storm'), scaled(200000), release=True)
    assert lab.samples('s.data') + calls_lost(p.stderr) == scaled(200000), p.stderr


def held_while_called(lab, target, number, *options, status=0):
    """Records calls to p.data in rings of a page, while the recorder is stopped. Returns its messages.

    A running reader might lose nothing, because it preempts the caller on the same CPU."""
    need_tracefs()
    calls = Calls(lab, target, number)
    recorder = lab.start('record', '-o', 'p.data', '-m', '4K', *options, *calls.argv, release=True)
    calls.begin(recorder)
    recorder.send_signal(signal.SIGSTOP)
    calls.go()
    calls.made()
    recorder.send_signal(signal.SIGCONT)
    calls.end()
    code, _, said = ended(recorder)
    assert code == status, (code, said)
    return said


def test_a_period_is_that_of_tracepoints_too(lab):
    """One event of ten is a sample and stands for ten; a tracepoint that gives each sample its period is sampled
    at each hit."""
    need_tracefs()
    syscall = subprocess.run([lab.program('storm'), '--syscall'], stdout=subprocess.PIPE, text=True, check=True).stdout
    for options, samples, period in ([], 100, 10), (['-a'], 100, 10), (['-P'], 1000, 1):
        only = f'id == {syscall.strip()} && comm == "{os.path.basename(lab.own("storm"))}"'
        lab.run('record', '-o', 'p.data', '-e', 'raw_syscalls:sys_enter', '--filter', only, '-c', '10', *options, '--',
                lab.own('storm'), '-c', '0', 1000)
        read = lab.samples('p.data'), lab.perf_samples('p.data')
        assert read == (samples, samples), (options, read)
        for read in lab.run, lab.perf:
            periods = read('script', '-i', 'p.data', '-F', 'period').stdout.split()
            assert periods == [str(period)] * samples, (options, periods[:10])


def test_loss_in_a_ring_too_small_is_counted(lab):
    missed, samples = calls_lost(held_while_called(lab, '-a', CALLS)), lab.samples('p.data')
    assert missed > 0 and samples + missed == CALLS, (samples, missed)


def test_loss_is_told_by_cpu(lab):
    """The last lines report the losses of a command and of -p by CPU, too."""
    for target in 'command', '-p':
        said = held_while_called(lab, target, CALLS)
        told = {cpu: int(n.replace(',', ''))
                for n, cpu in re.findall(r'lost ([\d,]+) of raw_syscalls:sys_enter on CPU (\d+)', said)}
        assert told, said
        out = lab.run('report', '-i', 'p.data').stdout
        found = {cpu: int(n) for cpu, n in re.findall(r'^#\s+CPU (\d+): (\d+) lost', out, re.M)}
        assert found == told and 'unknown CPU' not in out, (told, out[:1000])
        assert lab.perf_samples('p.data') == lab.samples('p.data')


def test_fail_on_loss(lab):
    held_while_called(lab, 'command', CALLS, '--fail-on-loss', status=3)
    assert lab.lost('p.data') > 0


def test_short_lived_processes_have_symbols(lab):
    lab.run('record', '-o', 'p.data', '-e', 'page-faults:u', '-c', '1', '--', 'sh', '-c',
            'for i in 1 2 3 4 5 6 7 8; do ls / >/dev/null; done')
    rows = table(lab.run('report', '-i', 'p.data', '--sort', 'comm,dso').stdout)
    named = sum(p for p, row in rows if row.split()[0] in ('ls', 'sh', 'ringtail'))
    assert named > 95, rows
    assert sum(p for p, row in rows if '[unknown]' in row) < 1, rows


def test_a_program_that_is_rebuilt_meanwhile(lab):
    """Two builds have one path: the second never names samples of the first. The first does, if it is found or the
    recording has kept its names."""
    make_programs(lab, 2)
    with open(lab.path('bin/prog0000'), 'rb') as f:
        first = f.read()
    note = NOTE.search(first)
    if not note:
        raise Skip('programs have no build-ids here')
    build_id = first[note.start(1):][:20].hex()
    run = 'for i in 1 2 3 4 5 6 7 8 9 10; do ./prog & echo $!; wait; done;'
    cache = lab.path(f'.debug/.build-id/{build_id[:2]}/{build_id[2:]}')
    env = dict(os.environ, HOME=lab.dir)
    for symbols, found in ('names', False), ('none', False), ('none', True):
        # A build-id is read when the map of its file is seen, which is at a flush at the latest.
        p = lab.run('record', '-o', 'p.data', '-e', 'cpu-clock:u', '-F', '20000', '--flush-interval', '20ms',
                    '--symbols', symbols, '--', 'sh', '-c',
                    f'rm -f prog; cp bin/prog0000 prog; {run} sleep 1; rm prog; cp bin/prog0001 prog; {run}')
        pids = [int(pid) for pid in p.stdout.split()]
        build = {pid: i // 10 for i, pid in enumerate(pids)}
        assert len(build) == 20, p.stdout
        if found:
            os.makedirs(cache)
            os.link(lab.path('bin/prog0000'), cache + '/elf')
        text = lab.run('script', '-i', 'p.data', '-F', 'pid,ip,sym,dso', env=env).stdout
        seen = {(build.get(int(words[0])), words[2]) for words in map(str.split, text.splitlines())
                if words[2].startswith('work_')}
        known = symbols == 'names' or found
        assert seen == {(1, 'work_0001')} | ({(0, 'work_0000')} if known else set()), (symbols, found, seen)


def test_tracepoint_fields_are_printed(lab):
    need_tracefs()
    lab.run('record', '-a', '-o', 't.data', '-e', 'sched:sched_switch', '-c', '1', '--', 'sleep', '0.3')
    mine = lab.run('script', '-i', 't.data').stdout
    assert re.search(r'sched:sched_switch:.*prev_comm=\S+.*==> next_comm=', mine), mine[:500]
    theirs = lab.perf('script', '-i', 't.data').stdout
    fields = [re.sub(r'.*sched_switch: ', '', line) for line in theirs.splitlines()]
    ours = [re.sub(r'.*sched_switch: ', '', line) for line in mine.splitlines()]
    assert [' '.join(f.split()) for f in fields] == [' '.join(f.split()) for f in ours]


def test_kernel_symbols_without_kallsyms_of_another_kernel(lab):
    """This host's symbols must not name addresses in a file of another kernel (its build-ids changed)."""
    need_root()
    lab.run('record', '-a', '-o', 'k.data', '--symbols=none', '-e', 'cpu-clock:k', '--', lab.workload, scaled(60))
    with open('/sys/kernel/notes', 'rb') as f:
        notes = f.read()
    at = notes.index(b'GNU\0') + 4
    build_id = notes[at:at + 20]
    with open(lab.path('k.data'), 'rb') as f:
        content = f.read()
    assert build_id in content, 'the build-id of the kernel is not in the file'
    with open(lab.path('k.data'), 'wb') as f:
        f.write(content.replace(build_id, bytes(20 * [0xab])))
    rows = table(lab.run('report', '-i', 'k.data', '--sort', 'sym').stdout)
    named = [row for _, row in rows if re.match(r'\[k\] [a-z_]', row)]
    assert not named, named[:5]


def unknown_tasks(lab, data):
    """Returns the number of sample lines of script, and those whose task has no name or no map."""
    lines = lab.run('script', '-i', data, '-F', 'comm,tid,time,ip,sym,dso').stdout.splitlines()
    nowhere = [re.search(r'\s([0-9a-f]+) \S+ \(\[unknown\]\)$', line) for line in lines]
    return len(lines), [line for line, ip in zip(lines, nowhere)
                        if re.match(r'\s*:\d+', line) or ip and not of_kernel(ip[1])]


def test_code_behind_the_end_of_the_kernels_map_has_names(lab):
    """Code that runs only at boot is at the bottom of some chains for ever, but other tools end the kernel's map
    before it."""
    need_tracefs()
    lab.run('record', '-e', 'raw_syscalls:sys_enter', '-g', '-c', '1', '-o', 'k.data', '--', 'ls')

    def shown():
        return lab.run('script', '-i', 'k.data', '-F', 'ip,sym').stdout
    whole = shown()
    assert re.search(r'^\s+ffff\w+ [a-z]\w+$', whole, re.M), whole[:500]
    with open(lab.path('k.data'), 'r+b') as f:
        data = f.read()
        # arm64 has no _text, and its kernel begins at _stext.
        at = re.search(rb'\[kernel\.kallsyms\]_s?text\0', data).start() - 40
        kind, _, _, _, _, start, length = struct.unpack_from('<IHHIIQQ', data, at)
        assert kind == 1 and start >> 63 and length > 4096, (kind, start, length)
        f.seek(at + 24)
        f.write(struct.pack('<Q', 4096))
    assert shown() == whole


def test_children_born_while_events_are_opened_are_known(lab):
    """A process forks all the time: each child with samples has its FORK, COMM and maps."""
    samples = 0
    for _ in range(scaled(50, 15)):
        child = lab.spawn('sh', '-c', 'while :; do (:); done')
        lab.run('record', '-q', '-o', 'f.data', '-F', '4000', '-p', child.pid, '--', 'sleep', '0.05',
                release=True)
        child.kill()
        child.wait()
        count, unknown = unknown_tasks(lab, 'f.data')
        samples += count
        assert not unknown, unknown[:5]
    assert samples > scaled(50, 15), samples


def test_workload_attached_to_at_its_start(lab):
    """`workload & ringtail record -p $!`: the workload forks its three children while the recorder starts."""
    attached = 0
    for i in range(scaled(20, 8)):
        child = lab.spawn(lab.workload, '20')
        time.sleep(0.0003 * i)
        p = lab.run('record', '-q', '-o', 'w.data', '-p', child.pid, release=True, status=None)
        child.wait()
        if p.returncode:  # we stood still until there was nothing left to record
            assert re.search(rf'\b{child.pid}\b|have ended', p.stderr), p.stderr
            assert not os.path.exists(lab.path('w.data')), p.stderr
            continue
        _, unknown = unknown_tasks(lab, 'w.data')
        assert not unknown, unknown[:5]
        os.unlink(lab.path('w.data'))
        attached += 1
    assert attached, 'too late for all of them'


def test_tracepoints_name_functions_of_the_kernel(lab):
    """script prints a name for %pS of a format, as the kernel's own trace does."""
    need_root()
    need_tracefs()
    lab.run('record', '-e', 'kmem:kmalloc', '-o', 'p.data', '--', 'true')
    lines = lab.run('script', '-i', 'p.data', '-F', 'trace').stdout.splitlines()
    callers = {line.split()[0].removeprefix('call_site=') for line in lines}
    with open('/proc/kallsyms', encoding='ascii') as f:
        functions = {line.split()[2] for line in f}
    assert callers and {caller.partition('+0x')[0] for caller in callers} <= functions, callers


def test_copies_of_a_program_are_one(lab):
    """A function that runs in two copies, as in two containers, has one row with the samples of both."""
    for name in 'a', 'b':
        os.mkdir(lab.path(name))
        shutil.copy(lab.workload, lab.path(name + '/workload'))
    rounds = scaled(60)
    lab.run('record', '-e', 'cpu-clock:u', '-o', 'p.data', '--', 'sh', '-c', f'a/workload {rounds}; b/workload {rounds}')
    files = set(re.findall(r'\((/.*)\)', lab.run('script', '-i', 'p.data', '-F', 'ip,sym,dso', release=True).stdout))
    assert {lab.path('a/workload'), lab.path('b/workload')} <= files, files
    for key in 'sym', 'dso,sym':
        rows = [row for _, row in table(lab.run('report', '-i', 'p.data', '-g', 'none', '--sort', key).stdout)]
        found = sorted(row.split()[-1] for row in rows if row.split()[-1] in SHARES)
        assert found == sorted(SHARES), rows
