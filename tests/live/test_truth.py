# SPDX-License-Identifier: Apache-2.0
"""A known workload shows its known shape, as it does to perf; a known number of events is all there."""
import math
import re
import subprocess
import time

from lab import need_root, need_tracefs, stat, table

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
    """Five recordings each, in turns; the shares agree within the error of sampling."""
    mine, theirs, samples = [], [], 0
    for _ in range(5):
        lab.run('record', '-o', 'r.data', '-e', 'cpu-clock:u', '-F', '2000', '--', lab.workload, 100,
                release=True)
        mine.append(shares(lab.run('report', '-i', 'r.data', '--sort', 'sym').stdout))
        samples += lab.samples('r.data')
        lab.perf('record', '-q', '-o', 'p.data', '-e', 'cpu-clock:u', '-F', '2000', '--', lab.workload,
                 100, quiet=False)
        theirs.append(shares(lab.perf('report', '-i', 'p.data', '--stdio', '--sort', 'sym').stdout))
    for name in SHARES:
        ours = sum(m[name] for m in mine) / len(mine)
        perfs = sum(t[name] for t in theirs) / len(theirs)
        p = perfs / 100
        # Four standard errors of the difference of two binomial shares: wrong once in 15,000.
        limit = 100 * 4 * math.sqrt(2 * p * (1 - p) / samples)
        assert abs(ours - perfs) <= limit, f'{name}: {ours:.2f} % and perf {perfs:.2f} % (± {limit:.2f})'


def storm_filter(lab):
    """The number of getppid here, from the storm itself."""
    return subprocess.run([lab.program('storm'), '--syscall'], check=True, text=True,
                          stdout=subprocess.PIPE).stdout.strip()


def count_storm(lab, number, *options, status=0):
    """Records `number` calls of getppid; returns (samples, lost) as the file has them."""
    lab.run('record', '-o', 's.data', '-a', '-e', 'raw_syscalls:sys_enter', '--filter',
            f'id == {storm_filter(lab)} && common_pid != 0', '-c', '1', *options, '--',
            lab.program('storm'), number, status=status, release=True)
    out = lab.run('report', '-i', 's.data', '--stats', release=True).stdout
    lost = re.search(r'^\s*lost samples:\s*(\d+)', out, re.M | re.I)
    return stat(out, 'SAMPLE'), int(lost.group(1)) if lost else 0


def test_every_event_of_a_storm_is_there(lab):
    need_tracefs()
    samples, lost = count_storm(lab, 200000)
    # Others may call getppid too, but rarely.
    assert 200000 <= samples + lost <= 200050, (samples, lost)


def test_loss_in_a_ring_too_small_is_counted(lab):
    need_tracefs()
    samples, lost = count_storm(lab, 1000000, '-m', '4K')
    assert lost > 0, 'nothing lost in a ring of one page?'
    assert 1000000 <= samples + lost <= 1000050, (samples, lost)


def test_loss_is_told_by_cpu(lab):
    """Of a command and of -p too, as the last lines said it."""
    need_tracefs()
    storm = [lab.program('storm'), '1000000']
    p = lab.run('record', '-o', 'l.data', '-e', 'raw_syscalls:sys_enter', '-c', '1', '-m', '4K', '--',
                *storm, release=True)
    told = {cpu: int(n.replace(',', ''))
            for n, cpu in re.findall(r'lost ([\d,]+) of raw_syscalls:sys_enter on CPU (\d+)', p.stderr)}
    assert told, p.stderr
    out = lab.run('report', '-i', 'l.data').stdout
    found = {cpu: int(n) for cpu, n in re.findall(r'^#\s+CPU (\d+): (\d+) lost', out, re.M)}
    assert found == told and 'unknown CPU' not in out, (told, out[:1000])
    assert lab.perf_samples('l.data') == lab.samples('l.data')


def test_fail_on_loss(lab):
    need_tracefs()
    samples, lost = count_storm(lab, 1000000, '-m', '4K', '--fail-on-loss', status=3)
    assert lost > 0, (samples, lost)


def test_short_lived_processes_have_symbols(lab):
    lab.run('record', '-o', 'p.data', '-e', 'page-faults:u', '-c', '1', '--', 'sh', '-c',
            'for i in 1 2 3 4 5 6 7 8; do ls / >/dev/null; done')
    rows = table(lab.run('report', '-i', 'p.data', '--sort', 'comm,dso').stdout)
    named = sum(p for p, row in rows if row.split()[0] in ('ls', 'sh', 'ringtail'))
    assert named > 95, rows
    assert sum(p for p, row in rows if '[unknown]' in row) < 1, rows


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
    """A file of another kernel (its build-ids changed) must not be named with this host's symbols."""
    need_root()
    lab.run('record', '-a', '-o', 'k.data', '-e', 'cpu-clock:k', '--', lab.workload, 60)
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
    """Sample lines of script, and those of them with a task that has no name or no map."""
    lines = lab.run('script', '-i', data, '-F', 'comm,tid,time,ip,sym,dso').stdout.splitlines()
    return len(lines), [line for line in lines if re.match(r'\s*:\d+', line) or '([unknown])' in line]


def test_children_born_while_events_are_opened_are_known(lab):
    """A process that forks all the time: whatever child has samples has its FORK, COMM and maps."""
    samples = 0
    for _ in range(50):
        child = lab.spawn('sh', '-c', 'while :; do (:); done')
        lab.run('record', '-q', '-o', 'f.data', '-F', '4000', '-p', child.pid, '--', 'sleep', '0.05',
                release=True)
        child.kill()
        child.wait()
        count, unknown = unknown_tasks(lab, 'f.data')
        samples += count
        assert not unknown, unknown[:5]
    assert samples > 50, samples


def test_workload_attached_to_at_its_start(lab):
    """`workload & ringtail record -p $!`: it forks its three children in these milliseconds."""
    for i in range(20):
        child = lab.spawn(lab.workload, '20')
        time.sleep(0.0003 * i)
        lab.run('record', '-q', '-o', 'w.data', '-p', child.pid, release=True, status=None)
        child.wait()
        _, unknown = unknown_tasks(lab, 'w.data')
        assert not unknown, unknown[:5]
