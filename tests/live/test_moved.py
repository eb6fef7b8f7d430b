# SPDX-License-Identifier: Apache-2.0
"""Outputs that others move, delete or truncate while they are written, as a rotation of logs does."""
import glob
import os
import re
import shutil
import signal
import subprocess
import sys
import time

from calls import Calls, number
from lab import calls_lost, ended, interrupt, need_root, need_tracefs, obeyed, running, stands_still, stat, wait_for, work
from memory import moments, ready
from test_rotation import storm_filter


def take(lab, recorder, status=0):
    """Asks for a snapshot; returns the answer."""
    p = lab.run('ctl', '--pid', recorder.pid, 'snapshot', status=status)
    return p.stderr if status else p.stdout


def check_snapshot(lab, answer, before):
    """p.data has all samples of the memory, and names of their processes; returns the moments."""
    assert f'file={os.path.realpath(lab.path("p.data"))}\n' in answer, answer
    here = moments(lab, 'p.data')
    assert before <= set(here) and len(here) == lab.samples('p.data') == lab.perf_samples('p.data') > 0, answer
    comms = lab.perf('script', '-i', 'p.data', '-F', 'comm').stdout.split()
    assert comms.count(os.path.basename(sys.executable)[:15]) > 0, set(comms)
    return set(here)


def memory_goes_on(lab, *options):
    busy = lab.spawn(sys.executable, '-c', 'while True: pass')
    recorder = lab.start('record', '-p', busy.pid, '-e', 'cpu-clock', '-F', '999', '-M', '64M',
                         '-o', 'p.data', *options)
    ready(lab, recorder)
    work(busy.pid)
    held = check_snapshot(lab, take(lab, recorder), set())
    os.rename(lab.path('p.data'), lab.path('q.data'))
    held = check_snapshot(lab, take(lab, recorder), held)
    assert lab.samples('q.data') > 0, 'it stays as it was'
    subprocess.run(['rm', '-r', lab.path('p.data')], check=True)
    work(busy.pid)
    check_snapshot(lab, take(lab, recorder), held)
    # No sample is written twice into the new file.
    work(busy.pid)
    check_snapshot(lab, take(lab, recorder), held)
    # The recorder reports no written samples when it cannot write.
    subprocess.run(['rm', '-r', lab.path('p.data')], check=True)
    os.makedirs(lab.path('p.data/in the way'))
    assert 'p.data: is a directory and not a recording' in take(lab, recorder, status=1)
    shutil.rmtree(lab.path('p.data'))
    check_snapshot(lab, take(lab, recorder), held)
    status, _, said = interrupt(recorder)
    assert status == 0 and 'Sanitizer' not in said, said
    assert f'another program moved p.data to {os.path.realpath(lab.path("q.data"))}' in said, said


def test_snapshots_go_to_a_new_file(lab):
    memory_goes_on(lab)


def test_snapshots_go_to_a_new_file_when_it_is_truncated(lab):
    busy = lab.spawn(sys.executable, '-c', 'while True: pass')
    recorder = lab.start('record', '-p', busy.pid, '-e', 'cpu-clock', '-F', '999', '-M', '64M', '-o', 'p.data')
    ready(lab, recorder)
    work(busy.pid)
    held = check_snapshot(lab, take(lab, recorder), set())
    os.truncate(lab.path('p.data'), 0)
    check_snapshot(lab, take(lab, recorder), held)
    status, _, said = interrupt(recorder)
    assert status == 0 and 'another program truncated p.data; the recording goes on in a new one' in said, said


def test_snapshots_go_to_a_new_directory(lab):
    memory_goes_on(lab, '--threads', '-z')


def test_a_file_for_each_snapshot(lab):
    """The file that was moved away was still empty."""
    need_root()
    recorder = lab.start('record', '-a', '-e', 'cpu-clock', '-M', '4M', '--switch-output', '-o', 'p.data')
    ready(lab, recorder)
    os.unlink(lab.path('p.data'))
    file = re.search(r'file=(.*)', take(lab, recorder)).group(1)
    assert lab.samples(file) == lab.perf_samples(file) > 0
    status, _, said = interrupt(recorder)
    assert status == 0 and f'{os.path.basename(file)}: ' in said and 'before it' not in said, said


def every_call_is_in_one_file(lab, *options):
    """SIGUSR2 after the move makes a new file of the name; the moved file is complete."""
    need_tracefs()
    need_root()
    storm = [lab.own('storm'), '20000']
    recorder = lab.start('record', '-a', '-o', 'p.data', '-e', 'raw_syscalls:sys_enter', '--filter',
                         storm_filter(lab), '-c', '1', '--switch-output', *options)
    running(lab, recorder)
    for name in 'q.data', 'r.data':
        subprocess.run(storm, check=True)
        os.rename(lab.path('p.data'), lab.path(name))
        subprocess.run(storm, check=True)
        recorder.send_signal(signal.SIGUSR2)
        wait_for(lambda: os.path.exists(lab.path('p.data')) or recorder.poll() is not None, what='a new file')
        obeyed(lab, recorder)
    os.rename(lab.path('p.data'), lab.path('s.data'))
    subprocess.run(storm, check=True)
    status, _, said = interrupt(recorder)
    assert status == 0 and 'Sanitizer' not in said, said
    samples = int(re.findall(r'([\d,]+) samples, [\d,]+ lost', said)[-1].replace(',', ''))
    assert samples + calls_lost(said) == 100000, said
    counts = [lab.samples(name) for name in ('q.data', 'r.data', 's.data')]
    assert sum(counts) == samples, (counts, said)
    assert counts == [lab.perf_samples(name) for name in ('q.data', 'r.data', 's.data')]
    assert f'{os.path.realpath(lab.path("s.data"))} and 2 before it: ' in said, said


def test_every_call_is_in_one_file(lab):
    every_call_is_in_one_file(lab)


def test_every_call_is_in_one_directory(lab):
    every_call_is_in_one_file(lab, '--threads', '-z')


def end_without(lab, undo, *options):
    """Moves or deletes the output of a recording. Returns (status, stderr)."""
    recorder = lab.start('record', '-e', 'cpu-clock', '-o', 'p.data', *options, '--', 'sleep', '1000')
    ready(lab, recorder)
    undo(lab.path('p.data'))
    status, _, said = interrupt(recorder)
    return status, said


def test_a_deleted_file_is_an_error(lab):
    for options in [], ['--switch-output']:
        status, said = end_without(lab, os.unlink, *options)
        assert status == 1 and 'another program deleted p.data' in said, said
        assert 'another program deleted 1 output before the end: its samples are lost' in said, said
    # Its data are nobody's, while the name is another's.
    status, said = end_without(lab, lambda path: (os.unlink(path), os.mkdir(path)))
    assert status == 1 and 'another program deleted p.data' in said, said
    os.rmdir(lab.path('p.data'))
    # The user may delete a snapshot after reading it.
    status, said = end_without(lab, os.unlink, '-M', '1M')
    assert status == 0 and 'another program deleted p.data' in said, said


def test_samples_of_a_deleted_file_are_lost(lab):
    """All samples of the deleted file are lost; after rotations, the samples of that file alone."""
    need_tracefs()
    need_root()
    for options, gone in ([], 20000), (['--threads'], 20000), (['-z', '--switch-output'], 10000):
        recorder = lab.start('record', '-a', '-o', 'p.data', '-e', 'raw_syscalls:sys_enter', '--filter',
                             storm_filter(lab), '-c', '1', *options)
        running(lab, recorder)
        subprocess.run([lab.own('storm'), '10000'], check=True)
        if '--switch-output' in options:
            lab.run('ctl', '--pid', recorder.pid, 'rotate')
        subprocess.run(['rm', '-r', lab.path('p.data')], check=True)
        subprocess.run([lab.own('storm'), '10000'], check=True)
        status, _, said = interrupt(recorder)
        assert status == 1 and 'its output was deleted' in said, said
        assert f'{20000 - gone:,} samples, ' in said.splitlines()[-1] and calls_lost(said) == gone, said


def test_a_rotation_behind_a_deleted_file_is_answered_with_an_error(lab):
    recorder = lab.start('record', '-e', 'cpu-clock', '-o', 'p.data', '--switch-output', '--', 'sleep', '1000')
    ready(lab, recorder)
    os.unlink(lab.path('p.data'))
    answer = lab.run('ctl', '--pid', recorder.pid, 'rotate', status=1).stderr
    assert 'another program deleted or moved p.data before it was complete' in answer, answer
    answer = lab.run('ctl', '--pid', recorder.pid, 'rotate').stdout
    assert os.path.exists(re.search(r'file=(.*)', answer).group(1)), answer
    status, _, said = interrupt(recorder)
    assert status == 1 and 'Sanitizer' not in said, said


def test_a_truncated_file_is_an_error(lab):
    need_root()
    for data, options in ('a', []), ('b', ['--aio']), ('c', ['--switch-output']), ('d', ['--threads']):
        recorder = lab.start('record', '-a', '-e', 'cpu-clock', '-o', data, *options)
        ready(lab, recorder, data)
        wait_for(lambda: lab.samples(data) > 0, what='samples that can be read')
        recorder.send_signal(signal.SIGSTOP)
        wait_for(lambda: stands_still(recorder.pid), what='stop')
        for path in glob.glob(lab.path(data + '/data.*')) or [lab.path(data)]:
            os.truncate(path, 0)
        recorder.send_signal(signal.SIGCONT)
        status, _, said = interrupt(recorder)
        assert status == 1 and 'another program has truncated it; its samples are lost' in said, said
        assert ': 0 samples readable, ' in said and 'Sanitizer' not in said, said


def test_what_is_left_of_a_truncated_file_is_counted(lab):
    """Between two flushes: a flush writes again a part of the bytes truncated from its middle, so these are not missed.
    """
    need_tracefs()

    def settled(path):
        size = os.path.getsize(path)
        time.sleep(0.1)
        return size > 100000 and os.path.getsize(path) == size

    for options, path in ([], 'p.data'), (['-z'], 'p.data'), (['-z', '--threads'], 'p.data/data.0'):
        calls = Calls(lab, 'command', 300000, bursts=5, pause_us=500000)
        recorder = lab.start('record', '-m', '8M', '--flush-interval', '20ms', '-o', 'p.data', *options, *calls.argv)
        calls.begin(recorder)
        calls.go()
        wait_for(lambda path=path: settled(lab.path(path)), what='some data')
        recorder.send_signal(signal.SIGSTOP)
        wait_for(lambda: stands_still(recorder.pid), what='stop')
        os.truncate(lab.path(path), os.path.getsize(lab.path(path)) * 2 // 3)
        recorder.send_signal(signal.SIGCONT)
        calls.end()
        status, _, said = ended(recorder)
        assert status == 1 and 'another program has truncated it' in said, said
        left = number(r'at least ([\d,]+) samples readable', said)
        assert left and number(r'readable, ([\d,]+) lost', said), said
        # perf may find records behind the truncated bytes, too.
        found = stat(lab.run('report', '-i', 'p.data', '--stats', status=1).stdout, 'SAMPLE')
        assert found >= left, (options, found, said)
        subprocess.run(['rm', '-r', lab.path('p.data')], check=True)


def test_a_moved_file_is_named(lab):
    status, said = end_without(lab, lambda path: os.rename(path, lab.path('q.data')))
    assert status == 0, said
    assert f'{os.path.realpath(lab.path("q.data"))}: ' in said.splitlines()[-1], said
    lab.run('report', '-i', 'q.data', '--stats')


def test_without_a_snapshot_the_size_is_told(lab):
    p = lab.run('record', '-e', 'cpu-clock', '-M', '1M', '--switch-output', '-o', 'p.data', '--', 'true')
    assert ' 0 B,' not in p.stderr and ' KB,' in p.stderr.splitlines()[-1], p.stderr
