# SPDX-License-Identifier: Apache-2.0
"""`recover` completes what killed recorders leave, so that perf reads it."""
import hashlib
import os
import re
import signal
import struct

from lab import Skip, perf_samples, running, wait_for

RATE = ['-e', 'cpu-clock', '-F', '1999']
FORMS = {'file': [], 'compressed': ['-z'], 'directory': ['--threads'], 'compressed directory': ['--threads', '-z'],
         'directory of one file': ['-o', 'directory-of-one-file.data/']}


def contents(path):
    """Returns {path: checksum} of a file, or of the files in a directory."""
    files = [os.path.join(path, name) for name in os.listdir(path)] if os.path.isdir(path) else [path]
    found = {}
    for name in files:
        with open(name, 'rb') as f:
            found[name] = hashlib.sha256(f.read()).hexdigest()
    return found


def kill(lab, name, *options):
    """Records until something is in the file, kills the recorder, and returns the recording's path."""
    recorder = lab.start('record', '-o', name, *options, '--', lab.workload, '100000', release=True)
    running(lab, recorder)
    return recorder


def check(lab, name):
    """perf and ringtail find the same samples in the recovered recording, and it is whole."""
    samples = lab.samples(name)
    assert perf_samples(lab, name, False, False) == samples
    lines = [line for line in lab.perf('script', '-F', 'comm', '-G', '-i', name, quiet=False).stdout.splitlines() if line]
    assert len(lines) == samples, (name, len(lines), samples)
    before = contents(lab.path(name))
    assert 'is whole' in lab.run('recover', name).stderr
    assert contents(lab.path(name)) == before
    return samples


def test_perf_reads_what_a_killed_recorder_left(lab):
    """All samples that ringtail finds in a file, compressed or not, and in a directory."""
    for form, options in FORMS.items():
        name = form.replace(' ', '-') + '.data'
        recorder = kill(lab, name, *RATE, *options)
        wait_for(lambda name=name: lab.samples_so_far(name) > 500, what=f'samples in {name}')
        os.killpg(recorder.pid, signal.SIGKILL)
        recorder.wait()
        seen = lab.samples_so_far(name)
        before = contents(lab.path(name))
        assert 'recorder was killed' in lab.run('recover', '-n', name).stderr
        lab.run('recover', '-o', 'new-' + name, name)
        assert contents(lab.path(name)) == before, name
        assert check(lab, 'new-' + name) >= seen
        said = lab.run('recover', name).stderr
        assert 'is complete now' in said, said
        assert check(lab, name) >= seen


def test_records_behind_the_last_flush_are_found(lab):
    """A recorder that never flushed has written records, which only recover shows."""
    for form, options in FORMS.items():
        name = form.replace(' ', '-') + '.data'
        recorder = kill(lab, name, '-e', 'cpu-clock', '-F', '20000', '--call-graph', 'dwarf,32768', '--flush-interval', '3600s',
                        *options)
        path = lab.path(name) + ('/data' if 'one file' in form else '/data.0' if 'directory' in form else '')
        wait_for(lambda path=path: os.path.getsize(path) > 4 << 20, what=f'bytes in {name}')
        os.killpg(recorder.pid, signal.SIGKILL)
        recorder.wait()
        seen = lab.samples_so_far(name)
        said = lab.run('recover', name).stderr
        assert "behind the recorder's last flush" in said, said
        assert check(lab, name) > seen + 20, said


def test_a_recording_in_progress_is_left_alone(lab):
    """recover refuses while the recorder runs, and changes nothing."""
    for form in 'file', 'directory':
        recorder = kill(lab, form + '.data', *RATE, *FORMS[form])
        wait_for(lambda form=form: lab.samples_so_far(form + '.data') > 100, what='samples')
        said = lab.run('recover', form + '.data', status=1).stderr
        assert 'is open for writing' in said and 'killed' not in said, said
        assert not [name for name in os.listdir(lab.dir) if name.startswith(form + '.data.')]
        os.killpg(recorder.pid, signal.SIGKILL)
        recorder.wait()


def test_a_cut_file_has_the_names_of_this_machine(lab):
    """A copy that broke off has no description of its machine. Names come from the files here; recover keeps them."""
    # On one CPU, so that maps stand before the samples.
    command = ['taskset', '-c', str(min(os.sched_getaffinity(0))), lab.workload, '200']
    lab.perf('record', '-q', '-e', 'cpu-clock', '-o', 'perf.data', *command, quiet=False)
    lab.run('record', '-q', '-e', 'cpu-clock', '-o', 'ours.data', '--', *command)
    for name in 'perf.data', 'ours.data':
        os.truncate(lab.path(name), os.path.getsize(lab.path(name)) * 2 // 3)
        p = lab.run('report', '-i', name, '--stdio', '-s', 'dso,sym', status=1)
        assert "the file ends before the description of its machine" in p.stderr, p.stderr
        assert f"'ringtail recover {name}' completes it" in p.stderr, p.stderr
        assert 'another machine' not in p.stdout + p.stderr, p.stdout
        assert '[.] scan_tokens' in p.stdout, p.stdout
        assert 'the file ends' not in lab.run('report', '-q', '-i', name, '--stdio', status=1).stderr
        lab.run('recover', name)
        said = lab.run('report', '-i', name, '--stdio', '-s', 'dso,sym')
        assert not said.stderr and '[.] scan_tokens' in said.stdout, said
        lines = [line for line in p.stdout.splitlines() if '[k]' in line]
        assert lines and [line for line in said.stdout.splitlines() if '[k]' in line] == lines, (lines, said.stdout)


def change_maps(path, change):
    """Lets @change(user, body, at) write into the bodies of the MMAP2 records of a file that is cut."""
    with open(path, 'r+b') as f:
        data = bytearray(f.read())
        at, = struct.unpack_from('=Q', data, 40)
        while at + 8 <= len(data):
            kind, misc, size = struct.unpack_from('=IHH', data, at)
            if size < 8 or at + size > len(data):
                break
            if kind in (1, 10):
                change(misc & 7 == 2, kind, data, at + 8)
            at += size
        f.seek(0)
        f.write(data)


def change_inodes(user, kind, data, at):
    if user and kind == 10 and any(data[at + 40:at + 48]):
        data[at + 40] ^= 0x55


def move_kernel(user, kind, data, at):
    """Start and reference symbol of the kernel's image are 32 MB higher."""
    if not user and b'[kernel.kallsyms]' in data[at:at + 128]:
        for field in at + 8, at + 24:
            struct.pack_into('=Q', data, field, struct.unpack_from('=Q', data, field)[0] + (32 << 20))


def test_a_cut_file_has_no_names_without_evidence(lab):
    """The kernel, and the code of a JIT, have names of this machine only if the maps show that they are of it."""
    if os.uname().machine not in ('x86_64', 'aarch64'):
        raise Skip(f'the JIT makes no code for {os.uname().machine}')
    command = ['taskset', '-c', str(min(os.sched_getaffinity(0))), lab.program('jit-map'), 'keep']

    def names(why, *named):
        p = lab.run('report', '-v', '-i', 'cut.data', '--stdio', '-s', 'dso,sym', status=1)
        assert ('generated_' in p.stdout, bool(re.search(r'\[k\] [a-z_]', p.stdout))) == named, p
        assert not why or why in p.stderr, p.stderr

    for record in lab.perf, lab.run:
        record('record', '-q', '-e', 'cpu-clock', '-F', '4000', '-o', 'p.data', *command)
        pid, = set(re.findall(r'jit-map +(\d+)', lab.run('script', '-i', 'p.data', '-F', 'comm,pid').stdout))
        jit = f'/tmp/perf-{pid}.map'
        try:
            with open(lab.path('p.data'), 'rb') as f:
                whole = f.read()

            def cut(change=None, length=len(whole) * 2 // 3):
                with open(lab.path('cut.data'), 'wb') as f:
                    f.write(whole[:length])
                if change:
                    change_maps(lab.path('cut.data'), change)

            cut()
            names('it is of this machine', True, True)
            cut(change_inodes)
            names('has files with other inodes than here', False, False)
            cut(move_kernel)
            names('was not at the address of the running one', False, False)
            cut()
            lab.run('recover', 'cut.data')
            p = lab.run('report', '-i', 'cut.data', '--stdio', '-s', 'dso,sym')
            assert 'generated_' in p.stdout and not p.stderr, p
            # The table of features is whole, but not what it is of, which stands before the data in ringtail's file.
            at, size, *bits = struct.unpack_from('=2Q16x4Q', whole, 40)
            cut(length=at + size + 16 * sum(word.bit_count() for word in bits) + 8)
            names('it is of this machine' if record == lab.perf else '', True, True)
            # Another process had the number later.
            cut()
            os.utime(lab.path('cut.data'), (os.stat(jit).st_mtime - 100,) * 2)
            names('made after the recording, whose process has ended', False, True)
        finally:
            os.unlink(jit)
