# SPDX-License-Identifier: Apache-2.0
"""Recordings by several threads: directories that perf reads, and that hold what they should."""
import os
import re
import shutil
import signal
import stat as stat_
import subprocess
import time

from calls import Calls
from lab import PATIENCE, Skip, ended, interrupt, lost, need_root, need_tracefs, running, scaled, stat, wait_for
from test_perf_reads import RATE, agree
from test_truth import storm_filter

CPUS = os.cpu_count()
CALLS = scaled(200000, 20000)

# name: (options of record, number of data.N, needs)
OPTION_SETS = {
    'no argument': (['--threads'], CPUS, None),
    'empty argument': (['--threads='], CPUS, None),
    'cpu': (['--threads=cpu'], CPUS, None),
    'core': (['--threads=core'], None, None),
    'package': (['--threads=package'], None, None),
    'socket': (['--threads=socket'], None, None),
    'numa': (['--threads=numa'], None, None),
    'one mask, and one for the rest': (['--threads=0/0'], 2, None),
    'system-wide': (['--threads', '-a'], CPUS, need_root),
    'one CPU': (['--threads', '-C', '0'], 1, need_root),
    'two CPUs': (['--threads', '-C', '0,1'], 2, need_root),
    'dwarf stacks': (['--threads', '--call-graph', 'dwarf,4096'], CPUS, None),
    'system-wide callchains': (['--threads', '-a', '-g'], CPUS, need_root),
    'compressed': (['--threads', '-z', '-g'], CPUS, None),
    'asynchronous': (['--threads', '--aio'], CPUS, None),
    'compressed, asynchronous': (['--threads', '-z', '--aio'], CPUS, None),
    'small rings': (['--threads', '-m', '16K'], CPUS, None),
    'rings of tasks': (['--threads', '-i'], CPUS, None),
}


def parts(lab, data='p.data'):
    return sorted(f for f in os.listdir(lab.path(data)) if f.startswith('data.'))


def make_test(options, files, need):
    def test(lab):
        if need:
            need()
        if CPUS < 2:
            raise Skip('needs two CPUs')
        command = [lab.workload, scaled(60)] if '-i' not in options else \
            ['sh', '-c', f'i=0; while [ $i -lt {scaled(200000)} ]; do i=$((i+1)); done']
        lab.run('record', '-o', 'p.data', '-e', 'cpu-clock', *RATE, *options, '--', *command)
        agree(lab, 'p.data')
        found = parts(lab)
        number = files or max(len(found), 1)
        # One worker writes all into "data".
        assert found == ([f'data.{i}' for i in range(number)] if number > 1 else []), found
    return test


for _name, _row in OPTION_SETS.items():
    globals()['test_' + _name] = make_test(*_row)


def file_counts(lab, data):
    """Returns (samples, lost) of the file."""
    out = lab.run('report', '-i', data, '--stats', release=True).stdout
    return stat(out, 'SAMPLE'), lost(out)


def count_calls(lab, number, *options):
    """Records a storm's own calls of getppid; returns (samples, lost) as the file has them."""
    lab.run('record', '-o', 's.data', '-e', 'raw_syscalls:sys_enter', '--filter',
            f'id == {storm_filter(lab)}', '-c', '1', '--threads', *options, '--',
            lab.program('storm'), number, release=True)
    counts = file_counts(lab, 's.data')
    shutil.rmtree(lab.path('s.data'))
    return counts


def test_every_call_is_there(lab):
    need_tracefs()
    for option in [], ['--aio'], ['-z'], ['-m', '64K']:
        samples, lost = count_calls(lab, CALLS, *option)
        assert samples + lost == CALLS, (option, samples, lost)


def test_loss_is_counted(lab):
    """The recorder is stopped for a while: it counts the samples that its rings had no room for."""
    need_tracefs()
    calls = Calls(lab, 'command', CALLS)
    child = lab.start('record', '-o', 's.data', '--threads', '-m', '64K', *calls.argv, release=True)
    calls.begin(child)
    child.send_signal(signal.SIGSTOP)
    calls.go()
    calls.made()
    child.send_signal(signal.SIGCONT)
    calls.end()
    status, _, err = ended(child)
    assert status == 0 and 'no room in the ring' in err, err
    samples, missed = file_counts(lab, 's.data')
    assert missed > 0 and samples + missed == CALLS, (samples, missed, err)


def test_masks_bind_threads(lab):
    need_root()
    if CPUS < 2:
        raise Skip('needs two CPUs')
    child = lab.start('record', '-a', '-e', 'cpu-clock', '-o', 'p.data', '--threads=0/1:1/0', '--', 'sleep', '600')
    running(lab, child)

    def allowed():
        found = {}
        for task in os.listdir(f'/proc/{child.pid}/task'):
            with open(f'/proc/{child.pid}/task/{task}/status', encoding='ascii') as f:
                status = f.read()
            name = re.search(r'Name:\s*(\S+)', status).group(1)
            found[name] = re.search(r'Cpus_allowed_list:\s*(\S+)', status).group(1)
        return {name: cpus for name, cpus in found.items() if name[:6] in ('reader', 'writer')}
    # Each gives itself its name, as soon as it is let run.
    wait_for(lambda: len(allowed()) == 4, what='four threads')
    assert allowed() == {'reader-0': '1', 'writer-0': '1', 'reader-1': '0', 'writer-1': '0'}, allowed()
    status, _, err = interrupt(child)
    assert status == 0 and 'samples' in err, err
    agree(lab, 'p.data')


def storm_recording(lab, *options):
    storm = lab.spawn(lab.program('storm'), '2000000000')
    child = lab.start('record', '-a', '-e', 'raw_syscalls:sys_enter', '-c', '1', '-o', 'p.data',
                      '--threads', *options, '--', 'sleep', '600', release=True)
    running(lab, child)
    wait_for(lambda: lab.samples('p.data') > 100, what='first flush')
    return storm, child


def test_killed_in_the_midst_of_writing(lab):
    """Whatever the recorder was writing, perf and ringtail read what was flushed."""
    need_tracefs()
    for i, options in enumerate(([], ['--aio'], ['-z'], [], ['--aio'])):
        storm, child = storm_recording(lab, '--flush-interval', '100ms', *options)
        time.sleep(0.1 + 0.037 * i)
        child.send_signal(signal.SIGKILL)
        child.wait()
        storm.kill()
        p = lab.run('report', '-i', 'p.data', '--stats', release=True)
        assert not [line for line in p.stderr.splitlines() if not re.search('samples? w.* lost', line)], p.stderr
        samples = lab.samples('p.data')
        assert samples > 100 and lab.perf_samples('p.data') == samples, samples
        shutil.rmtree(lab.path('p.data'))


def test_missing_and_truncated_files_are_noticed(lab):
    need_root()
    lab.run('record', '-a', '-e', 'cpu-clock', '-o', 'p.data', '--threads', '--', lab.workload, scaled(30))
    size = os.path.getsize(lab.path('p.data/data.0'))
    os.truncate(lab.path('p.data/data.0'), size - 100)
    p = lab.run('report', '-i', 'p.data', '--stats', status=1)
    assert f'{size} bytes' in p.stderr and str(size - 100) in p.stderr and 'data.0' in p.stderr, p.stderr
    os.remove(lab.path('p.data/data.0'))
    p = lab.run('report', '-i', 'p.data', '--stats', status=1)
    assert 'data.0 is missing' in p.stderr and f'{size} bytes' in p.stderr, p.stderr


def test_full_disk(lab):
    need_tracefs()
    os.mkdir(lab.path('small'))
    if subprocess.run(['mount', '-t', 'tmpfs', '-o', 'size=3M', 'none', lab.path('small')],
                      check=False).returncode:
        raise Skip('cannot mount a tmpfs')
    try:
        p = lab.run('record', '-a', '-o', 'small/p.data', '--threads', '-e', 'raw_syscalls:sys_enter',
                    '-c', '1', '--', lab.program('storm'), 2000000000, status=1)
        assert 'No space left' in p.stderr, p.stderr
        samples = lab.samples('small/p.data')
        assert samples > 100 and lab.perf_samples('small/p.data') == samples, samples
    finally:
        subprocess.run(['umount', '-l', lab.path('small')], check=False)


def test_a_full_disk_ends_all_files(lab):
    """One file has no room; the files of idle threads are finished, too, and no longer marked as being written."""
    need_tracefs()
    if CPUS < 2:
        raise Skip('takes two CPUs')
    os.mkdir(lab.path('small'))
    if subprocess.run(['mount', '-t', 'tmpfs', '-o', 'size=3M', 'none', lab.path('small')],
                      check=False).returncode:
        raise Skip('cannot mount a tmpfs')
    try:
        for options in [], ['--aio'], ['-z', '--aio=1']:
            p = lab.run('record', '-o', 'small/p.data', '--threads', '-e', 'raw_syscalls:sys_enter', '-R', *options,
                        '--', lab.program('storm'), '-c', 0, 2000000000, status=1)
            assert 'No space left' in p.stderr, p.stderr
            samples = lab.samples('small/p.data')
            lines = lab.perf('script', '-F', 'ip', '-i', 'small/p.data').stdout.splitlines()
            assert len([line for line in lines if line.strip()]) == samples > 100, (options, len(lines), samples)
            subprocess.run(['rm', '-rf', lab.path('small/p.data')], check=True)
    finally:
        subprocess.run(['umount', '-l', lab.path('small')], check=False)


def test_directories_and_files_replace_each_other(lab):
    def record(*options):
        lab.run('record', '-o', 'p.data', '-e', 'cpu-clock', *options, '--', 'true')
    for options in ['--threads'], ['--threads'], ['--threads'], [], [], ['--threads'], []:
        record(*options)
    assert os.path.isfile(lab.path('p.data')) and os.path.isdir(lab.path('p.data.old'))
    record('--threads')
    assert stat_.S_IMODE(os.stat(lab.path('p.data')).st_mode) == 0o700
    for name in os.listdir(lab.path('p.data')):
        assert stat_.S_IMODE(os.stat(lab.path('p.data/' + name)).st_mode) == 0o600, name
    # perf can move ours away and delete them.
    for _ in range(2):
        lab.perf_record('-o', 'p.data', '-e', 'cpu-clock', '--', 'true')


def test_other_directories_are_left_alone(lab):
    os.mkdir(lab.path('mine'))
    with open(lab.path('mine/notes'), 'w', encoding='ascii') as f:
        f.write('data')
    for options in ['--threads'], []:
        p = lab.run('record', '-o', 'mine', '-e', 'cpu-clock', *options, '--', 'true', status=1)
        assert 'not a recording' in p.stderr, p.stderr
    assert os.listdir(lab.path('mine')) == ['notes']
    with open(lab.path('mine/data.0'), 'wb'):
        pass
    lab.run('record', '-o', 'mine', '--threads', '-e', 'cpu-clock', '--', 'true', status=1)
    assert sorted(os.listdir(lab.path('mine'))) == ['data.0', 'notes']


def test_one_that_was_killed_at_once_is_replaced(lab):
    for number, sizes in enumerate(([], [0, 0], [48, 0])):
        data = f'{number}.data'
        os.mkdir(lab.path(data))
        for part, size in enumerate(sizes):
            with open(lab.path(f'{data}/data.{part}'), 'wb') as f:
                f.write(bytes(size))
        for _ in range(2):
            lab.run('record', '-o', data, '--threads', '-e', 'cpu-clock', '--', 'true')
            assert os.path.getsize(lab.path(data + '/data')) > 0


def test_bad_masks_are_usage_errors(lab):
    """A CPU that this machine lacks is none: another machine may have it."""
    for spec, status in ('foo', 2), ('4095/0', 1), ('0', 2), ('0/0:0/1', 2):
        p = lab.run('record', '--threads=' + spec, '-o', 'p.data', '--', 'true', status=status)
        assert '--threads' in p.stderr and not os.path.exists(lab.path('p.data')), p.stderr


def test_one_pipe_for_all_threads(lab):
    need_tracefs()
    for options in [], ['-z'], ['--aio']:
        with open(lab.path('p.data'), 'wb') as f:
            subprocess.run(lab.argv(['record', '-o', '-', '-e', 'raw_syscalls:sys_enter', '--filter',
                                     f'id == {storm_filter(lab)}', '-c', '1', '--threads', *options, '--',
                                     lab.program('storm'), CALLS]), stdout=f, check=True,
                           stderr=subprocess.PIPE, timeout=5 * PATIENCE)
        assert sum(file_counts(lab, 'p.data')) == CALLS


def test_dump_names_the_file(lab):
    lab.run('record', '-o', 'p.data', '-e', 'cpu-clock', '--threads=0/0', '--', lab.workload, 20)
    out = lab.run('dump', 'p.data').stdout
    assert re.search(r'^data:0x[0-9a-f]+ ', out, re.M) and re.search(r'^data\.[01]:0x[0-9a-f]+ SAMPLE', out, re.M)
