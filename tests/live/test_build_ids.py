# SPDX-License-Identifier: Apache-2.0
"""Build-ids of mapped files; ringtail's reading of them has no effect on other recorders."""
import os
import re
import shutil
import struct
import subprocess

from lab import Skip, ended, interrupt, need_mount_namespaces, need_root, running, wait_for

# name: options of record; the output is a file, a directory or a pipe
MODES = {
    'default': [],
    'threads': ['--threads'],
    'compressed': ['-z'],
    'memory': ['-M', '8M', '--snapshot-on-exit'],
    'overwrite': ['--overwrite'],
    'aio': ['--aio'],
    'switch': ['--switch-output=200K'],
    'pipe': ['-o', '-'],
}
MMAP2 = 10
MISC_BUILD_ID = 1 << 14
LOAD = 'ls / > /dev/null; cat /dev/null; uname > /dev/null'


def maps_in(path):
    """Returns the MMAP2 records of a file of perf: [(misc, name, (major, minor, inode))]."""
    with open(path, 'rb') as f:
        data = f.read()
    at, size = struct.unpack_from('<QQ', data, 40)
    found, end = [], at + size
    while at < end:
        kind, misc, size = struct.unpack_from('<IHH', data, at)
        if kind == MMAP2:
            name = data[at + 72:at + size].split(b'\0')[0].decode()
            found.append((misc, name, struct.unpack_from('<IIQ', data, at + 40)))
        at += size
    return found


def perf_alone(lab):
    """Returns the maps of a `perf record` that asks for no build-ids; None if it crashed or another program asked
    for them."""
    p = lab.perf('record', '-q', '--no-buildid-mmap', '-e', 'cpu-clock', '-o', 'perf.data', '--', 'sh', '-c', LOAD,
                 quiet=False)
    if p.returncode:
        assert 'build-id' in p.stderr or 'stack smashing' in p.stderr, p.stderr
        return None
    found = maps_in(lab.path('perf.data'))
    if any(misc & MISC_BUILD_ID for misc, _, _ in found):
        return None
    lab.perf('script', '-i', 'perf.data')
    return {(name, file) for _, name, file in found if name.startswith('/')}


def start(lab, options, *command):
    """Starts a recording of all CPUs with the output ours.data."""
    options = list(options)
    with open(lab.path('ours.data' if '-o' in options else 'stdout'), 'wb') as out:
        if '-o' not in options:
            options += ['-o', 'ours.data']
        child = subprocess.Popen(lab.argv(['record', '-v', '-a', '-e', 'cpu-clock', '-F', '99', *options, *command]),
                                 cwd=lab.dir, text=True, stdin=subprocess.DEVNULL, stdout=out,
                                 stderr=subprocess.PIPE, start_new_session=True)
    child.leads = True
    lab.children.append(child)
    running(lab, child)
    return child


def remove_output(lab):
    for name in os.listdir(lab.dir):
        if name.startswith('ours.data'):
            path = lab.path(name)
            shutil.rmtree(path) if os.path.isdir(path) else os.unlink(path)


def test_perf_record_beside_us_is_as_alone(lab):
    """ringtail must not ask the kernel for build-ids: that breaks the files of all other recorders; perf 6.1 and
    6.12 crash."""
    need_root()
    # Others may record build-ids on this machine, but not each time.
    alone = wait_for(lambda: perf_alone(lab), what='a perf that nobody disturbs')
    for name, options in MODES.items():
        child = start(lab, options)
        beside = wait_for(lambda: perf_alone(lab), seconds=30, what=f'{name}: a perf that is as alone')
        assert beside == alone, (name, beside ^ alone)
        status, _, said = interrupt(child)
        assert status == 0, (name, said)
        remove_output(lab)


def test_a_recorder_beside_us_marks_nothing_of_ours(lab):
    """Another program that asks for build-ids changes ringtail's records, too; ringtail's file has them
    unchanged."""
    need_root()
    shown = []
    for options in [], ['--buildid-mmap']:
        other = start(lab, options)
        lab.run('record', '-q', '-e', 'cpu-clock', '-o', 'mine.data', '--', 'sh', '-c', LOAD)
        found = maps_in(lab.path('mine.data'))
        assert not any(misc & MISC_BUILD_ID for misc, _, _ in found), options
        shown.append({(name, file) for _, name, file in found if name.startswith('/')})
        lab.perf('script', '-i', 'mine.data')
        status, _, said = interrupt(other)
        assert status == 0, said
        remove_output(lab)
    assert shown[0] == shown[1], shown[0] ^ shown[1]


def test_buildid_mmap_is_what_it_says(lab):
    lab.run('record', '-q', '--buildid-mmap', '-e', 'cpu-clock', '-o', 'p.data', '--', 'true')
    found = [misc & MISC_BUILD_ID for misc, name, _ in maps_in(lab.path('p.data')) if name.endswith('/libc.so.6')]
    assert found and all(found), found
    lab.perf('script', '-i', 'p.data')


def with_build_id(lab, name, byte):
    """Makes a copy of `sleep` with its own build-id. Returns the path and the id."""
    with open(shutil.which('sleep'), 'rb') as f:
        program = f.read()
    note = re.search(rb'\x04\0\0\0\x14\0\0\0\x03\0\0\0GNU\0', program)
    if not note:
        raise Skip('sleep has no build-id')
    path, build_id = lab.path(name), os.urandom(19) + bytes([byte])
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, 'wb') as f:
        f.write(program[:note.end()] + build_id + program[note.end() + 20:])
    os.chmod(path, 0o755)
    return path, build_id


def runs(child, path):
    """Waits until the task has mapped the file's code: its name is another before that, and no record has the file."""
    def there():
        with open(f'/proc/{child.pid}/maps', encoding='utf-8') as f:
            mapped = any(' r-xp ' in line and line.endswith(f'/{os.path.basename(path)}\n') for line in f)
        return mapped and child.poll() is None
    wait_for(there, what=path)


def build_ids_in(lab):
    """Returns all bytes of the newest output: the table of build-ids is the same in each mode."""
    names = [name for name in os.listdir(lab.dir) if name.startswith('ours.data') and not name.endswith('.old')]
    found = b''
    for name in names:
        path = lab.path(name)
        with open(path + '/data' if os.path.isdir(path) else path, 'rb') as f:
            found += f.read()
    return found


def test_files_that_have_no_name_of_ours(lab):
    """One file is deleted while it runs; the name of another means a different file in its mount namespace."""
    need_mount_namespaces()
    for name, options in MODES.items():
        prog, deleted = with_build_id(lab, f'{name}/prog', 1)
        other, hidden = with_build_id(lab, f'{name}-other', 2)
        first = start(lab, options)
        one = lab.spawn(prog, '1000')
        runs(one, prog)
        os.unlink(prog)
        two = lab.spawn('unshare', '-m', 'sh', '-c', 'mount -t tmpfs none "$1" && cp "$2" "$3" && exec "$3" 1000', 'sh',
                        os.path.dirname(prog), other, prog)
        runs(two, prog)
        status, _, said = interrupt(first)
        assert status == 0, said
        found = build_ids_in(lab)
        assert deleted in found, f'{name}: the deleted one is missing: {said}'
        assert hidden in found, f'{name}: the one of the namespace is missing: {said}'
        # Which is whose: by device and inode, since both have one name.
        if name not in ('switch', 'memory'):
            lab.run('report', '-i', 'ours.data')
            lab.perf('report', '-i', 'ours.data', '--stdio')
        for child in one, two:
            child.kill()
            child.wait()
        remove_output(lab)


def test_what_is_gone_before_the_snapshot(lab):
    """With -M ringtail reads the build-id when the file is mapped, not when it takes the snapshot."""
    need_root()
    files = [with_build_id(lab, f'copy-{i}', i) for i in range(5)]
    child = start(lab, MODES['memory'])
    for path, _ in files:
        lab.spawn(path, '2')
    for sleeper in lab.children[-len(files):]:
        sleeper.wait()
    for path, _ in files:
        os.unlink(path)
    status, _, said = interrupt(child)
    assert status == 0, said
    found = build_ids_in(lab)
    # A machine that stands still may have been too late for some.
    assert any(build_id in found for _, build_id in files), said


def test_short_lived_files_are_read_long_before_the_flush(lab):
    """The record of a map wakes the reader: a file that is there for 0.3 s has its build-id."""
    need_root()
    for name, options in MODES.items():
        files = [with_build_id(lab, f'short-{name}-{i}', i) for i in range(5)]
        child = start(lab, [*options, '--flush-interval', '60s'])
        for path, _ in files:
            lab.spawn(path, '0.3')
        for sleeper in lab.children[-len(files):]:
            sleeper.wait()
        for path, _ in files:
            os.unlink(path)
        status, _, said = interrupt(child)
        assert status == 0, said
        found = build_ids_in(lab)
        # A machine that stands still may have been too late for some.
        assert any(build_id in found for _, build_id in files), (name, said)
        remove_output(lab)


def test_without_build_ids(lab):
    lab.run('record', '-q', '-B', '-a', '-e', 'cpu-clock', '-o', 'p.data', '--', 'sh', '-c', LOAD)
    dump = lab.run('dump', '-i', 'p.data').stdout
    assert 'MMAP2' in dump and 'build_id' not in dump.lower()
    assert not any(misc & MISC_BUILD_ID for misc, _, _ in maps_in(lab.path('p.data')))
    lab.perf('script', '-i', 'p.data')


def test_short_lived_processes_are_read_or_counted(lab):
    """Hundreds of programs run, each from its own file, which is deleted at once."""
    path, build_id = with_build_id(lab, 'one', 1)
    with open(path, 'rb') as f:
        program = f.read()
    load = lab.path('load')
    os.mkdir(load)
    for i in range(300):
        with open(f'{load}/{i}', 'wb') as f:
            f.write(program.replace(build_id, struct.pack('<I', i) + build_id[4:]))
        os.chmod(f'{load}/{i}', 0o755)
    child = lab.start('record', '-v', '-e', 'cpu-clock', '-o', 'ours.data', '--', 'sh', '-c',
                      f'for i in {load}/*; do $i 0; rm $i; done')
    status, _, said = ended(child)
    assert status == 0, said
    read, gone, full = map(int, re.search(r'build-ids: (\d+) files? read, (\d+) gone before, (\d+) times? no room',
                                          said).groups())
    found = build_ids_in(lab)
    there = sum(struct.pack('<I', i) + build_id[4:] in found for i in range(300))
    assert there <= read and there + gone + full >= 300, (there, said)
