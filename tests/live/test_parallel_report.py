# SPDX-License-Identifier: Apache-2.0
"""Reports of our recordings that are long enough for many parts, whole and damaged: one worker and all workers print
the same, and so does perf where it can read them.
"""
import os
import random
import shutil
import struct

from lab import Skip, ended, lost, need_tracefs, scaled, stat, wait_for
from test_truth import storm_filter

CPUS = os.sched_getaffinity(0)
CALLS = scaled(600000, 150000)
KEYS = [], ['-s', 'comm,pid,cpu,sym', '--children']


def record(lab, *options):
    if len(CPUS) < 2:
        raise Skip('needs two CPUs')
    need_tracefs()
    lab.run('record', '-o', 'p.data', '-e', 'raw_syscalls:sys_enter', '--filter',
            f'id == {storm_filter(lab)}', '-c', '1', *options, '--', lab.program('storm'), CALLS,
            release=True)


def data_files(lab):
    """Returns the files with the samples."""
    path = lab.path('p.data')
    if not os.path.isdir(path):
        return [path]
    return [os.path.join(path, name) for name in sorted(os.listdir(path)) if name.startswith('data.')]


def report(lab, options, cpus, status):
    p = lab.run('report', '-i', 'p.data', *options, status=status,
                preexec_fn=lambda: os.sched_setaffinity(0, cpus))
    return p.stdout, p.stderr, p.returncode


def same(lab, status=0):
    """Compares the reports. Returns stderr of the last one."""
    for options in *KEYS, ['--stats']:
        one, many = (report(lab, options, cpus, status) for cpus in ({min(CPUS)}, CPUS))
        assert one == many, (options, one, many)
    return many


def check(lab, *options):
    record(lab, *options)
    out, _, _ = same(lab)
    assert stat(out, 'SAMPLE') + lost(out) == CALLS, out
    if '-g' not in options:
        assert lab.perf_samples('p.data') == stat(out, 'SAMPLE')


def test_plain(lab):
    check(lab)


def test_compressed(lab):
    check(lab, '-z')


def test_directory(lab):
    check(lab, '--threads')


def test_compressed_directory(lab):
    check(lab, '--threads', '-z')


def test_compressed_callchains(lab):
    check(lab, '-z', '-g')


def test_programs_that_come_and_go(lab):
    """Samples are merged only where nothing changed in between; unmerged samples give the same report."""
    need_tracefs()
    script = f'i=0; while [ $i -lt {scaled(300)} ]; do /bin/true; i=$((i+1)); done'
    lab.run('record', '-o', 'p.data', '-a', '-e', 'cpu-clock', '-F', 5000, '--', 'sh', '-c', script,
            release=True)
    for keys in 'comm,dso,sym', 'pid,cpu,sym', 'tid,dso':
        merged = lab.run('report', '-i', 'p.data', '-s', keys).stdout
        assert '%' in merged
        assert merged == lab.run('report', '-i', 'p.data', '-s', keys, '--time', '0,9999999999').stdout


def test_rotated(lab):
    # The ring of the task has room for a third of the calls, so at least these are recorded, however late the reader
    # is. The task lasts until the rotation.
    if len(CPUS) < 2:
        raise Skip('needs two CPUs')
    need_tracefs()
    os.mkfifo(lab.path('end'))
    recorder = lab.start('record', '-o', 'p.data', '-e', 'raw_syscalls:sys_enter', '--filter',
                         f'id == {storm_filter(lab)}', '-c', '1', '-z', '--switch-output=256K', '-i', '-m', '32M', '--',
                         lab.program('storm'), '-e', 'end', CALLS, release=True)

    def rotated():
        return sorted(name for name in os.listdir(lab.dir) if name.startswith('p.data.2'))
    wait_for(lambda: rotated() or recorder.poll() is not None, what='a rotation')
    with open(lab.path('end'), 'wb'):
        pass
    status, _, said = ended(recorder)
    outputs = rotated()
    assert status == 0 and len(outputs) > 1, (outputs, said)
    samples = missed = 0
    for name in outputs:
        os.rename(lab.path(name), lab.path('p.data'))
        out = same(lab)[0]
        samples += stat(out, 'SAMPLE')
        missed += lost(out)
    assert samples + missed == CALLS, (samples, missed)


def starts(data):
    """Returns the offsets of the records of a data.N."""
    at = 0
    while at < len(data):
        yield at
        at += struct.unpack_from('<IHH', data, at)[2]


def cut_out(data, at, n):
    return data[:at] + data[at + n:] + data[at:at + n]


def zeros(data, at, n):
    return data[:at] + bytes(n) + data[at + n:]


def zeros_at_a_record(data, at, n):
    return zeros(data, next(start for start in starts(data) if start >= at), n)


# How bytes are damaged, and whether a reader must notice: a frame with changed bytes may still decompress.
DAMAGE = ((cut_out, True), (zeros_at_a_record, True), (zeros, False))


def test_damaged(lab):
    """Removes the middle of a frame, or changes bytes: both readers agree on the remaining and the missing records."""
    record(lab, '--threads', '-z')
    whole = lab.samples('p.data')
    shutil.copytree(lab.path('p.data'), lab.path('whole'))
    for seed in range(3 * len(DAMAGE)):
        rng = random.Random(seed)
        damage, seen = DAMAGE[seed % len(DAMAGE)]
        path = max(data_files(lab), key=os.path.getsize)
        with open(path, 'rb') as f:
            data = f.read()
        with open(path, 'wb') as f:
            f.write(damage(data, rng.randrange(len(data) // 3, len(data) // 3 * 2), rng.randrange(8, 3000)))
        _, err, status = same(lab, status=None)
        assert (status == 1 and 'data.' in err) or (status == 0 and not seen), (seed, status, err)
        assert 0 < lab.run('report', '-i', 'p.data', '--stats', status=None).stdout.count('SAMPLE')
        shutil.rmtree(lab.path('p.data'))
        shutil.copytree(lab.path('whole'), lab.path('p.data'))
    assert lab.samples('p.data') == whole
