# SPDX-License-Identifier: Apache-2.0
"""Reports of recordings that are made here: their cost and their content."""
import json
import os
import re
import resource
import signal
import struct
import subprocess
import sys

from lab import LONGER, Skip, need_mount_namespaces, need_root, scaled, wait_for

MEMORY = 1500 << 20  # of address space; what it takes is a third of that

IP, TID, TIME, CALLCHAIN, CPU, PERIOD = 1, 2, 4, 32, 128, 256
SAMPLE_TYPE = IP | TID | TIME | CALLCHAIN | CPU | PERIOD
SAMPLE_ID_ALL = 1 << 18


def record(kind, body, misc=0):
    return struct.pack('<IHH', kind, misc, 8 + len(body)) + body


def text(s):
    s = s.encode() + b'\0'
    return s + bytes(-len(s) % 8)


def sample_id(pid):
    return struct.pack('<IIQII', pid, pid, 0, 0, 0)


def comm(pid, name):
    return record(3, struct.pack('<II', pid, pid) + text(name) + sample_id(pid))


def mmap(pid, start, size, path):
    body = struct.pack('<IIQQQIIQQII', pid, pid, start, size, 0, 8, 1, 1234, 0, 5, 2)
    return record(10, body + text(path) + sample_id(pid), misc=2)


def sample(pid, chain):
    """Makes a sample; its chain begins with the innermost frame."""
    return record(9, struct.pack(f'<QIIQIIQQ{len(chain)}Q', chain[0], pid, pid, 0, 0, 0, 1, len(chain), *chain), misc=2)


def write_recording(path, records):
    """Writes perf.data with one event."""
    attr = bytearray(136)
    struct.pack_into('<IIQQQQQ', attr, 0, 1, len(attr), 0, 1, SAMPLE_TYPE, 0, SAMPLE_ID_ALL)
    data = b''.join(records)
    at = 104
    with open(path, 'wb') as f:
        f.write(b'PERFILE2' + struct.pack('<12Q', at, len(attr) + 16, at, len(attr) + 16, at + len(attr) + 16,
                                          len(data), 0, 0, 0, 0, 0, 0))
        f.write(bytes(attr) + struct.pack('<QQ', 0, 0) + data)


def little_memory():
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))


def wide(outer, inner, leaf):
    """Makes chains that differ in the outer frames and in some inner frames, and share all frames between."""
    common = [0x10000000 + i for i in range(inner)]
    for i in range(20000):
        own = [0x20000000 + 16 * i + k for k in range(outer + leaf)]
        yield sample(100, own[:leaf] + common + own[leaf:])


def check_wide(lab, *shape):
    write_recording(lab.path('wide.data'), [mmap(100, 0x10000000, 0x20000000, '/x'), *wide(*shape)])
    p = lab.run('report', '--children', '-i', 'wide.data', '-s', 'sym', release=True, preexec_fn=little_memory)
    rows = [x for x in p.stdout.splitlines() if x.startswith('   100.00%')]
    assert len(rows) == shape[1], len(rows)


def test_chains_that_differ_outside(lab):
    """A caller tree stores each chain once: one copy for each of its frames would take 2.2 GB."""
    check_wide(lab, 7, 120, 0)


def test_chains_that_differ_inside(lab):
    check_wide(lab, 0, 120, 7)


def test_chains_that_differ_outside_and_inside(lab):
    check_wide(lab, 4, 119, 4)


def test_a_limit_of_memory(lab):
    """A million rows are the answer itself: the table is the same, and that it took more is said."""
    records = (sample(100, [0x20000000 + 16 * i]) for i in range(1000000))
    write_recording(lab.path('rows.data'), [mmap(100, 0x10000000, 0x20000000, '/x'), *records])
    args = 'report', '-i', 'rows.data', '--no-call-graph', '-j', '16'
    free = lab.run(*args, '-s', 'sym', release=True).stdout
    assert free.count('\n') > 1000000
    for size, more in ('64M', True), ('4G', False):
        p = lab.run(*args, '-s', 'sym', '--max-memory', size, release=True)
        assert p.stdout == free and ('more than the 64.0 MB of --max-memory' in p.stderr) == more, p.stderr
    few = lab.run(*args, '-s', 'comm', '--max-memory', '32M', release=True)
    assert few.stdout == lab.run(*args, '-s', 'comm', release=True).stdout and 'max-memory' not in few.stderr, few.stderr
    for wrong in '31M', '0', '64', 'much', '-1':
        assert "--max-memory: '" in lab.run(*args, f'--max-memory={wrong}', status=2).stderr


def test_files_of_another_mount_namespace(lab):
    """While a process with these files runs, the report finds them by build-id, else by device and inode."""
    need_mount_namespaces()
    os.mkdir(lab.path('mnt'))
    program = lab.path('mnt/hidden')
    child = lab.spawn('unshare', '--mount', 'sh', '-c', 'mount -t tmpfs none "${2%/*}" && cp "$1" "$2" && exec "$2" 1000000',
                      'sh', lab.workload, program)

    def jobs():
        with open(f'/proc/{child.pid}/task/{child.pid}/children', encoding='ascii') as f:
            return f.read().split()

    def names(data):
        # perf's cache may have the program.
        out = lab.run('--buildid-dir', lab.path('no-cache'), 'report', '-i', data, '-s', 'sym').stdout
        return re.search(r'\] [a-z_]+$', out, re.M)
    exe = f'/proc/{child.pid}/exe'
    wait_for(lambda: os.readlink(exe).endswith(program) and jobs(), what='the program')
    # In a chroot the kernel names files of another mount namespace from the root of that namespace.
    if os.readlink(exe) != program:
        raise Skip(f'a chroot, in which {program} is {os.readlink(exe)}')
    assert not os.path.exists(program)
    for data, *options in ('p.data',), ('b.data', '-B'):
        lab.run('record', '-o', data, *options, '--symbols=none', '-e', 'cpu-clock:u', '-p', ','.join(jobs()), '--', 'sleep',
                '1')
        assert names(data), lab.last.stdout
    os.killpg(child.pid, signal.SIGKILL)
    child.wait()
    wait_for(lambda: not names('p.data'), what='the end of the program')


def test_output_on_a_full_disk(lab):
    """More lines than a buffer holds, and fewer: that they cannot be written is said, and the exit status is 1."""
    lab.run('record', '-o', 'full.data', '-F', '1000', '-e', 'cpu-clock:u', '--', lab.workload, scaled(1000))
    for command in ['script'], ['script', '--deltatime'], ['report'], ['annotate'], ['dump']:
        with open('/dev/full', 'w', encoding='utf-8') as full:
            p = subprocess.run(lab.argv([*command, '-i', 'full.data'], False, None), cwd=lab.dir, stdout=full,
                               stderr=subprocess.PIPE, text=True, check=False)
        assert p.returncode == 1 and 'No space left on device' in p.stderr, (command, p.returncode, p.stderr)


def test_output_that_nobody_reads(lab):
    """As with other programs, the signal ends it, and nothing is printed."""
    lab.run('record', '-o', 'p.data', '-F', '1000', '-e', 'cpu-clock:u', '--', lab.workload, scaled(1000))
    commands = ['script', 'report', 'dump', 'annotate -i', 'diff p.data', 'export --to chrome']
    for command in commands:
        reader, writer = os.pipe()
        os.close(reader)
        p = subprocess.run(lab.argv([*command.split(), 'p.data'], False, None), cwd=lab.dir, stdout=writer,
                           stderr=subprocess.PIPE, text=True, check=False)
        os.close(writer)
        assert p.returncode == -signal.SIGPIPE and 'write' not in p.stderr, (command, p.returncode, p.stderr)


def test_a_group_in_a_part_of_the_time_counts_that_part(lab):
    """Counters that the leader reads go on where the filter leaves samples out."""
    lab.perf('record', '-q', '-o', 'g.data', '-e', '{page-faults,cpu-clock}:S', '-c', '5', '--', sys.executable, '-c', '')
    times = lab.run('script', '-i', 'g.data', '-F', 'time').stdout.split()
    middle = times[len(times) // 2].rstrip(':')
    sums = []
    for part in f',{middle}', f'{middle},':
        out = lab.run('report', '-i', 'g.data', '--time', part).stdout
        sums.append(sum(map(int, re.findall(r'^# Event count \(approx\.\): (\d+)$', out, re.M))))
    out = lab.run('report', '-i', 'g.data').stdout
    whole = sum(map(int, re.findall(r'^# Event count \(approx\.\): (\d+)$', out, re.M)))
    assert whole <= sum(sums) < 1.1 * whole and min(sums) > 0.2 * whole, (sums, whole)


def test_tasks_are_those_of_perf(lab):
    """perf keeps the maps of a program that exec replaced; the others are the same."""
    lab.run('record', '-q', '-o', 't.data', '-e', 'cpu-clock:u', '--', 'sh', '-c', 'for i in 1 2 3; do sh -c "true; true"; done',
            release=True)
    theirs = lab.perf('report', '--stdio', '--tasks', '-i', 't.data').stdout.splitlines()
    assert len(theirs) > 4 and lab.run('report', '--tasks', '-i', 't.data').stdout.splitlines() == theirs, theirs
    theirs = lab.perf('report', '--stdio', '--mmaps', '-i', 't.data').stdout.splitlines()
    ours = lab.run('report', '--mmaps', '-i', 't.data').stdout.splitlines()
    assert [x for x in ours if '|' in x] == [x for x in theirs if '|' in x], ours
    assert len(ours) > 20 and not set(ours) - set(theirs), sorted(set(ours) - set(theirs))


def rows_by_name(text):
    """Returns the share of each row; its name is all behind the number, with single spaces."""
    rows = re.findall(r'^ *([0-9.]+)% +(.*?) *$', text, re.M)
    return {' '.join(name.split()): float(share) for share, name in rows}


def test_parents_of_kernel_functions(lab):
    """perf finds the same ones in chains that the kernel recorded."""
    need_root()
    lab.run('record', '-q', '-o', 'k.data', '-e', 'cpu-clock:k', '-F', '2000', '-g', '--', 'dd', 'if=/dev/zero', 'of=/dev/null',
            'bs=1M', 'count=10000', release=True)
    for options in ('-s', 'parent,sym', '-p', 'ksys_read|^vfs'), ('-s', 'parent'), ('-s', 'sym', '-x', '-p', 'ksys_read'):
        ours = rows_by_name(lab.run('report', '-i', 'k.data', '-g', 'none', '--no-inline', *options).stdout)
        theirs = rows_by_name(lab.perf('report', '--stdio', '--no-children', '-g', 'none', '-i', 'k.data', *options).stdout)
        assert ours == theirs and ours, (options, ours, theirs)


def test_parents_in_stacks(lab):
    """Functions of chains, found by a regular expression, choose and group samples."""
    if os.uname().machine not in ('x86_64', 'aarch64'):
        raise Skip('stacks of ' + os.uname().machine + ' are not unwound')
    lab.run('record', '-q', '-o', 'p.data', '-e', 'cpu-clock:u', '-F', '1000', '--call-graph', 'dwarf', '--',
            lab.program('stacks'), 'chain', 300 * LONGER, release=True)
    for options, name in ((('-s', 'parent,sym', '-p', '^(middle|outer)$'), 'middle [.] leaf'),
                          (('-s', 'parent'), '[other]'), (('-s', 'sym', '-x', '-p', 'outer'), '[.] leaf outer')):
        rows = rows_by_name(lab.run('report', '-i', 'p.data', '-g', 'none', '--no-inline', *options).stdout)
        assert rows[name] > 80, (options, rows)
        assert '-x' not in options or all(row.endswith(' outer') for row in rows), rows
    ours = rows_by_name(lab.run('report', '-i', 'p.data', '-g', 'none', '-s', 'sym', '--ignore-callees', '^(leaf|outer)$').stdout)
    assert ours['[.] outer'] > 80 and '[.] leaf' not in ours, ours
    chains = lab.run('report', '-i', 'p.data', '-g', 'folded,callee', '-s', 'sym', '--ignore-callees', '^middle$').stdout
    assert re.search(r'^[0-9.]+% (middle;)?outer;main', chains, re.M), chains
    wrong = lab.run('report', '-i', 'p.data', '-p', '(', status=2).stderr
    assert 'is no regular expression' in wrong, wrong


def test_maps_of_threads_stand_once(lab):
    """--mmaps --json: the maps of a process are those of its first thread."""
    data = lab.path('threads.data')
    lab.run('record', '-q', '-e', 'task-clock', '-o', data, '--', sys.executable, '-c',
            'import threading, time\nfor _ in range(3): threading.Thread(target=time.sleep, args=(0.3,)).start()')
    tasks = json.loads(lab.run('report', '--mmaps', '--json', '-i', data).stdout)['tasks']
    process = max({t['pid'] for t in tasks}, key=lambda pid: sum(t['pid'] == pid for t in tasks))
    threads = [t for t in tasks if t['pid'] == process]
    assert len(threads) == 4, tasks
    assert [t['tid'] for t in threads if 'maps' in t] == [process], threads


LINES_C = '''#include <stdlib.h>
static __attribute__((noinline)) unsigned long leaf(unsigned long n)
{
	volatile unsigned long sum = 0;
	while (n--) sum += n;
	return sum;
}
int main(int argc, char **argv)
{
	unsigned long n = strtoul(argv[1], NULL, 10), sum = 0;
	sum += leaf(n);
	sum += leaf(2 * n);
	return sum == 7;
}
'''


def test_lines_of_callers(lab):
    """With --children, rows of lines are those of callers, too; what belongs to the lines themselves is as without."""
    with open(lab.path('lines.c'), 'w', encoding='ascii') as f:
        f.write(LINES_C)
    subprocess.run(['gcc', '-O0', '-g', '-fno-omit-frame-pointer', '-o', lab.path('lines'), lab.path('lines.c')], check=True)
    data = lab.path('lines.data')
    lab.run('record', '-q', '-e', 'task-clock', '-F', '2000', '-g', '-o', data, '--', lab.path('lines'), '30000000')

    def rows(*options):
        out = lab.run('report', '-q', '-i', data, '-S', 'leaf,main', '-g', 'none', '-s', 'srcline', *options).stdout
        return {words[-1]: [float(w.rstrip('%')) for w in words[:-1]]
                for words in (line.split() for line in out.splitlines() if line.strip())}
    alone, both = rows('--no-children'), rows('--children')
    first, second = both['lines.c:11'][0], both['lines.c:12'][0]
    assert first > 20 and second > 50 and abs(first + second - 100) < 5, both
    for line in alone:
        assert abs(alone[line][0] - both[line][1]) < 0.02, (line, alone, both)
    assert 'lines.c:5' in alone and 'lines.c:11' not in alone, alone
