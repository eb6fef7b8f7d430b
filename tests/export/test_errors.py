# SPDX-License-Identifier: Apache-2.0
"""Outputs that fail, and wrong options, of every format."""
import os
import signal
import shutil
import subprocess

from lab import expect

FORMATS = ['folded', 'speedscope', 'pprof', 'otlp', 'chrome', 'perfetto', 'firefox']


def test_full_disk(bench):
    for name in FORMATS:
        bench.run('plain', '--to', name, '-o', '/dev/full', status=1)
        expect('/dev/full is there', os.path.exists('/dev/full'))
        argv = [bench.ringtail, 'export', '--to', name, '-i', bench.recording('plain')[0]]
        with open('/dev/full', 'wb') as full:
            p = subprocess.run(argv, stdout=full, stderr=subprocess.PIPE, check=False)
        expect(f'{name}: status', p.returncode == 1 and b'No space left' in p.stderr, p.returncode, p.stderr)


def test_closed_pipe(bench):
    for name in FORMATS:
        argv = [bench.ringtail, 'export', '--to', name, '-i', bench.recording('plain')[0]]
        reading, writing = os.pipe()
        os.close(reading)
        p = subprocess.run(argv, stdout=writing, stderr=subprocess.PIPE, check=False)
        os.close(writing)
        expect(f'{name}: ended by SIGPIPE, as other tools', p.returncode == -signal.SIGPIPE, p.returncode, p.stderr)


def test_output_file(bench):
    for name in FORMATS:
        path = bench.path('out')
        bench.run('plain', '--to', name, '-o', path)
        with open(path, 'rb') as f:
            expect(f'{name}: the same as on standard output', f.read() == bench.run('plain', '--to', name, '-o', '-'))
        os.remove(path)
        bench.run('plain', '--to', name, '-o', bench.path('none/out'), status=1)


def test_output_file_is_private(bench):
    path, link = bench.path('private'), bench.path('link')
    bench.run('plain', '--to', 'folded', '-o', path, umask=0)
    expect('mode', os.stat(path).st_mode & 0o777 == 0o600, oct(os.stat(path).st_mode))
    os.truncate(path, 0)
    os.symlink(path, link)
    bench.run('plain', '--to', 'folded', '-o', link, status=1)
    expect('a link is not followed, and stays', os.path.getsize(path) == 0 and os.path.islink(link))
    os.remove(path)


def test_input_is_no_output(bench):
    data = bench.recording('plain')[0]
    size = os.path.getsize(data)
    bench.run('plain', '--to', 'folded', '-o', data, status=1)
    expect('the recording is as it was', os.path.getsize(data) == size)


def test_a_part_of_a_directory_is_no_output(bench):
    folder = bench.path('folder')
    os.mkdir(folder)
    shutil.copy(bench.recording('plain')[0], folder + '/data')
    p = subprocess.run([bench.ringtail, 'export', '--to', 'folded', '-o', folder + '/data.0', '-i', folder],
                       capture_output=True, text=True, check=False)
    expect('status', p.returncode == 1 and 'the recording itself' in p.stderr, p.returncode, p.stderr)
    expect('no part was made', os.listdir(folder) == ['data'], os.listdir(folder))


def test_wrong_options(bench):
    for args in [[], ['--to', 'frob'], ['--to', 'folded', '--max-stack', 'x'], ['--to', 'folded', '--value', 'x']]:
        bench.run('plain', *args, status=2)
    bench.run('plain', '--to', 'folded', '-e', 'frob', status=1)


def test_damaged_recording(bench):
    """A recording that is cut short gives an output that is whole, and status 1."""
    path = bench.path('cut.data')
    with open(bench.recording('plain')[0], 'rb') as f, open(path, 'wb') as out:
        out.write(f.read()[:-4000])
    for name in FORMATS:
        p = subprocess.run([bench.ringtail, 'export', '--to', name, '-i', path], capture_output=True, check=False)
        expect(f'{name}: status', p.returncode == 1, p.returncode, p.stderr)
        expect(f'{name}: output', len(p.stdout) > 50)
