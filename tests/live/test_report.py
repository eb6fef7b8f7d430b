# SPDX-License-Identifier: Apache-2.0
"""Reports of recordings that are made here: their cost and their content."""
import os
import re
import resource
import signal
import struct
import subprocess

from lab import Skip, need_mount_namespaces, wait_for

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
        return re.search(r'\] [a-z_]+$', lab.run('report', '-i', data, '-s', 'sym').stdout, re.M)
    exe = f'/proc/{child.pid}/exe'
    wait_for(lambda: os.readlink(exe).endswith(program) and jobs(), what='the program')
    # In a chroot the kernel names files of another mount namespace from the root of that namespace.
    if os.readlink(exe) != program:
        raise Skip(f'a chroot, in which {program} is {os.readlink(exe)}')
    assert not os.path.exists(program)
    for data, *options in ('p.data',), ('b.data', '-B'):
        lab.run('record', '-o', data, *options, '-e', 'cpu-clock:u', '-p', ','.join(jobs()), '--', 'sleep', '1')
        assert names(data), lab.last.stdout
    os.killpg(child.pid, signal.SIGKILL)
    child.wait()
    wait_for(lambda: not names('p.data'), what='the end of the program')


def test_output_on_a_full_disk(lab):
    """More lines than a buffer holds, and fewer: that they cannot be written is said, and the exit status is 1."""
    lab.run('record', '-o', 'full.data', '-F', '1000', '-e', 'cpu-clock:u', '--', lab.workload, '1000')
    for command in ['script'], ['script', '--deltatime'], ['report'], ['annotate'], ['dump']:
        with open('/dev/full', 'w', encoding='utf-8') as full:
            p = subprocess.run(lab.argv([*command, '-i', 'full.data'], False, None), cwd=lab.dir, stdout=full,
                               stderr=subprocess.PIPE, text=True, check=False)
        assert p.returncode == 1 and 'No space left on device' in p.stderr, (command, p.returncode, p.stderr)
