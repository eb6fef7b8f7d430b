# SPDX-License-Identifier: Apache-2.0
"""Snapshots of a recording in memory (-M): each has the samples of its request, and the header lists it."""
import glob
import json
import os
import re
import shutil
import signal
import subprocess
import time

from calls import Calls
from lab import PATIENCE, Skip, interrupt, need_root, need_tracefs, obeyed, scaled, stat, wait_for
from memory import finish, held, memory_counts, moments, ready, start
from test_faults import FailingFs

MODES = {
    'serial': [],
    'compressed': ['-z'],
    'threads, compressed': ['--threads', '-z', '--aio'],
}
# Enough memory for all samples of a test.
COMMON = ['-a', '-e', 'cpu-clock', '-F', '999', '-M', f'{16 * max(4, os.cpu_count())}M']


def in_modes(function):
    """Makes a test for each mode."""
    for mode, options in MODES.items():
        globals()[f'{function.__name__.replace("check", "test")} ({mode})'] = \
            lambda lab, options=options: function(lab, *options)


def log(lab, data='p.data'):
    """Returns the snapshots that the file's header lists: {number: snapshot}."""
    text = lab.run('report', '-i', data, '--header-only', '--json', release=True).stdout
    snapshots = json.loads(text).get('snapshots', [])
    assert len({s['number'] for s in snapshots}) == len(snapshots)
    return {s['number']: s for s in snapshots}


ANSWER = re.compile(r'snapshot=(\d+) samples=(\d+) requests=(\d+) asked=(\d+)\.(\d{9}) file=(.*)\n')


def ask(lab, child, *words, status=0):
    """Returns (number, samples) of the snapshot that answers, or the text of the error."""
    p = lab.run('ctl', '--pid', child.pid, 'snapshot', *words, status=status, release=True)
    match = ANSWER.fullmatch(p.stdout)
    if not match:
        return p.stderr
    # The file is there, wherever who asks is, and has it.
    (data,) = glob.glob(match[6])
    assert os.path.isabs(data) and log(lab, data)[int(match[1])]['samples'] == int(match[2]), p.stdout
    return int(match[1]), int(match[2])


def times_of(lab, number, data='p.data'):
    """Returns the times (ns) of the samples of one snapshot."""
    text = lab.run('script', '-i', data, '--ns', '-G', '-F', 'time', '--snapshot', number, release=True).stdout
    return [int(line.strip().rstrip(':').replace('.', '')) for line in text.splitlines() if line.strip()]


def by_cpu(lab, number, data):
    """Returns the times of the samples of one snapshot, by CPU."""
    text = lab.run('script', '-i', data, '--ns', '-G', '-F', 'cpu,time', '--snapshot', number, release=True).stdout
    found = {}
    for cpu, time_ in re.findall(r'\[(\d+)\]\s+([\d.]+):', text):
        found.setdefault(cpu, []).append(float(time_))
    return found


def check_each_is_as_logged(lab, data='p.data'):
    """Checks that script, report, the log and perf agree on numbers, spans and sums. Returns the log."""
    snapshots = log(lab, data)
    everything = []
    for number, s in snapshots.items():
        times = times_of(lab, number, data)
        assert len(times) == s['samples'], (number, len(times), s)
        assert not times or (min(times), max(times)) == (s['first'], s['last']), (number, s)
        rows = lab.run('report', '-i', data, '--snapshot', number, '-n', '-g', 'none', '--sort', 'cpu',
                       release=True).stdout
        counted = sum(int(line.split()[1]) for line in rows.splitlines() if re.match(r'\s*\d+\.\d+%', line))
        assert counted == len(times), (number, counted, len(times))
        assert s['begun'] >= s['requests'][0]['asked'] > 0 and s['took_ns'] > 0, s
        everything += times
    assert len(everything) == len(moments(lab, data)) == lab.samples(data) == lab.perf_samples(data)
    assert lab.perf('script', '-i', data, '-F', 'time', '-G').stdout.count('\n') == len(everything)
    wrong = lab.run('report', '-i', data, '--snapshot', max(snapshots) + 1, status=1, release=True)
    assert f'no snapshot {max(snapshots) + 1}' in wrong.stderr, wrong.stderr
    return snapshots


def check_bounds(lab, *options):
    """Checks how far each snapshot goes back: the next one has the samples left out, and no sample is in two."""
    need_root()
    recorder = lab.start('record', *COMMON, '--last', '200ms', '-o', 'p.data', *options, release=True)
    ready(lab, recorder)
    time.sleep(1.2)
    told = {'time': ask(lab, recorder, '--last', '300ms', '--reason', 'the last 300 ms'),
            'size': ask(lab, recorder, '--last', '8K'),
            'rest': ask(lab, recorder, '--last', 'all')}
    time.sleep(0.3)
    asked = time.time()
    recorder.send_signal(signal.SIGUSR2)
    obeyed(lab, recorder)
    answered = time.time()
    assert "'10x' is neither" in ask(lab, recorder, '--last', '10x', status=1)
    status, _, said = interrupt(recorder)
    assert status == 0, said
    snapshots = check_each_is_as_logged(lab)
    assert sorted(snapshots) == [1, 2, 3, 4]
    assert memory_counts(said)[1:3] == (sum(s['samples'] for s in snapshots.values()), 4), said
    for i, what in enumerate(told, 1):
        assert told[what] == (i, snapshots[i]['samples']), (told, snapshots)
    requests = [s['requests'] for s in snapshots.values()]
    assert [len(r) for r in requests] == [1] * 4
    requests = [r[0] for r in requests]
    assert [r['origin'] for r in requests] == ['control'] * 3 + ['signal']
    assert requests[0]['reason'] == 'the last 300 ms' and not requests[1]['reason']
    assert (requests[0]['last_ns'], requests[1]['last_bytes']) == (300000000, 8192)
    assert (requests[2]['last_ns'], requests[3]['last_ns']) == (0, 200000000)  # the other is the option's
    assert asked - 1 < requests[3]['wall_clock'] / 1e9 < answered + 1
    assert snapshots[1]['samples'] > 0
    assert snapshots[3]['first'] < snapshots[1]['first'], snapshots
    if '-z' in options:
        return  # what was compressed together stays together
    assert snapshots[1]['first'] >= requests[0]['asked'] - 300000000, snapshots[1]
    assert snapshots[3]['last'] >= snapshots[1]['last'] or snapshots[2]['samples'], snapshots


in_modes(check_bounds)


def check_clients(lab, *options):
    """Ten clients at once: the answer to each is the snapshot that has the client's reason in the file."""
    need_root()
    recorder = lab.start('record', *COMMON, '-o', 'p.data', *options, release=True)
    ready(lab, recorder)
    answers = {}
    for rnd in range(5):
        clients = {f'client {rnd}-{i}': lab.start('ctl', '--pid', recorder.pid, 'snapshot', '--reason',
                                                  f'client {rnd}-{i}', release=True) for i in range(10)}
        for reason, client in clients.items():
            out, err = client.communicate(timeout=PATIENCE)
            assert client.returncode == 0, err
            match = ANSWER.fullmatch(out)
            assert match and match[6] == lab.path('p.data'), out
            answers[reason] = *map(int, match.groups()[:3]), int(match[4] + match[5])
    status, _, said = interrupt(recorder)
    assert status == 0, said
    snapshots = check_each_is_as_logged(lab)
    assert sorted(snapshots) == list(range(1, len(snapshots) + 1))
    logged = {r['reason']: (n, s['samples'], len(s['requests']), r['asked'])
              for n, s in snapshots.items() for r in s['requests']}
    assert logged == answers, (logged, answers)
    # Each has its line, those that share one, too.
    lines = re.findall(r'^ringtail: snapshot (\d+)(?:: [\d,]+ samples?| also): (.*)$', said, re.M)
    assert sorted((int(n), reason) for n, reason in lines) == sorted((a[0], r) for r, a in answers.items()), said
    assert sum(len(s['requests']) for s in snapshots.values()) == 50
    assert sum(s['lost'] + s['refused'] for s in snapshots.values()) == 0


in_modes(check_clients)


def test_a_command_that_crashes(lab):
    for script, data, expected, status in (('kill -SEGV $$', 'p.data', 'SIGSEGV', 128 + 11),
                                           ('kill -9 $$', 'k.data', 'SIGKILL', 128 + 9), ('exit 139', 'e.data', None, 139)):
        p = lab.run('record', '-e', 'cpu-clock', '-M', '1M', '--snapshot-on-crash', '-o', data, '--', 'sh', '-c',
                    f'i=0; while [ $i -lt {scaled(20000, 5000)} ]; do i=$((i+1)); done; {script}', status=status)
        taken, written, snapshots, _, _ = memory_counts(p.stderr)
        assert snapshots == (expected is not None) and written == (taken if expected else 0) and taken, p.stderr
        if not expected:
            assert not log(lab, data)
            continue
        (snapshot,) = check_each_is_as_logged(lab, data).values()
        (request,) = snapshot['requests']
        assert request['origin'] == 'crash' and request['reason'].startswith(expected), request
        header = lab.run('report', '-i', data, '--header-only').stdout
        assert re.search(rf'^# snapshot 1 : .*, crash: {expected} \(', header, re.M), header


def test_files_of_their_own(lab):
    """Each file has the whole window, or its new samples; numbers continue, and each file resolves by itself."""
    need_root()
    for data, options, overlap in ('p.data', [], True), ('n.data', ['--since-last'], False):
        recorder = lab.start('record', *COMMON, '-g', '--switch-output', '-o', data, *options, release=True)
        ready(lab, recorder, data)
        for i in range(3):
            time.sleep(0.4)
            ask(lab, recorder, '--reason', f'number {i}') if not options else recorder.send_signal(signal.SIGUSR2)
            wait_for(lambda: len(glob.glob(lab.path(data + '.2*'))) == i + 1, what='file')
        status, _, said = interrupt(recorder)
        assert status == 0, said
        files = sorted(os.path.basename(path) for path in glob.glob(lab.path(data + '.2*')))
        sets = []
        for i, name in enumerate(files, 1):
            assert list(check_each_is_as_logged(lab, name)) == [i]
            sets.append(set(moments(lab, name)))
            text = lab.run('script', '-i', name, '-G', '-F', 'comm', release=True).stdout
            assert ':-1' in text or not re.search(r'^\s*:\d', text, re.M), name
        assert all(sets)
        assert all(bool(a & b) == overlap for a, b in zip(sets, sets[1:]))
        assert not overlap or sets[0] < sets[1] < sets[2]
        assert memory_counts(said)[1] == len(set.union(*sets))
        for command in 'report', 'snapshots':
            said = lab.run(command, '-i', data).stderr
            assert f'{data}: the recording took no snapshot into this file; 3 other outputs are beside it, the newest: {files[-1]}' \
                in said, said


def test_a_pipe_says_it_too(lab):
    for options in [], ['--threads', '-z']:
        with open(lab.path('pipe.data'), 'wb') as f:
            record = subprocess.Popen(lab.argv(['record', '-e', 'cpu-clock', '-M', '16M', '--snapshot-on-exit',
                                                '-o', '-', *options, '--', lab.workload, scaled(400)]),
                                      cwd=lab.dir, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
            lab.children.append(record)
            f.write(record.communicate(timeout=5 * PATIENCE)[0])
        (snapshot,) = log(lab, 'pipe.data').values()
        assert snapshot['requests'][0]['origin'] == 'exit'
        assert len(times_of(lab, 1, 'pipe.data')) == snapshot['samples'] == lab.samples('pipe.data') > 0


def test_commands_by_a_fifo(lab):
    """The FIFO takes the same commands; the answer is only an ack."""
    os.mkfifo(lab.path('c'), 0o600)
    os.mkfifo(lab.path('a'), 0o600)
    recorder = lab.start('record', '-e', 'cpu-clock', '-M', '1M', '--control', 'fifo:c,a', '-o', 'p.data', '--',
                         'sleep', '600')
    wait_for(lambda: os.path.exists(lab.path('p.data')) or recorder.poll() is not None, what='file')
    with open(lab.path('a'), 'rb', buffering=0) as answers, open(lab.path('c'), 'wb', buffering=0) as commands:
        for command, expected in ((b'snapshot --reason by a fifo --last 1s\n', b'ack\n\0'),
                                  (b'snapshot --since-last\nping\n', b'ack\n\0ack\n\0'),
                                  (b'snapshot --last\n', b'error: snapshot: --last: ')):
            commands.write(command)
            got = b''
            while len(got) < len(expected):
                got += answers.read(4096)
            assert got.startswith(expected), got
    interrupt(recorder)
    requests = [s['requests'][0] for s in log(lab).values()]
    assert [r['reason'] for r in requests] == ['by a fifo', ''], requests
    assert [r['since_last'] for r in requests] == [False, True], requests


def small_disk(lab, options='size=16M'):
    os.mkdir(lab.path('small'))
    if subprocess.run(['mount', '-t', 'tmpfs', '-o', options, 'none', lab.path('small')],
                      check=False, stderr=subprocess.DEVNULL).returncode:
        raise Skip('cannot mount a tmpfs')


def fill(lab):
    rest = os.open(lab.path('small/rest'), os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    try:
        while os.write(rest, bytes(4096)):
            pass
    except OSError:
        os.close(rest)


def leave(lab):
    for child in lab.children:
        if child.poll() is None:
            child.kill()
            child.wait()
    subprocess.run(['umount', '-l', lab.path('small')], check=False)


def on_a_small_disk(lab, *options):
    """Starts a recorder that has taken a snapshot: (recorder, its (number, samples), its moments)."""
    recorder = lab.start('record', *COMMON, '-g', '--snapshot-on-exit', '-o', 'small/p.data', *options, release=True)
    ready(lab, recorder, 'small/p.data')
    time.sleep(0.3)
    return recorder, ask(lab, recorder), moments(lab, 'small/p.data')


def check_full_disk(lab, *options):
    """A snapshot without room on the disk is undone: the file is as before, and the next one has all its samples."""
    need_root()
    small_disk(lab)
    try:
        recorder, first, before = on_a_small_disk(lab, *options)
        assert len(before) == first[1] > 0
        fill(lab)
        # More than there is room for behind the end of the file, up to the next page.
        wait_for(lambda: held(lab, recorder)['samples'] > first[1] + 1000, what='samples')
        for _ in range(3):
            said = ask(lab, recorder, '--reason', 'no room', status=1)
            assert 'No space left' in said, said
            assert moments(lab, 'small/p.data') == before
            assert lab.perf_samples('small/p.data') == len(before)
        os.unlink(lab.path('small/rest'))
        again = ask(lab, recorder, '--reason', 'room again')
        assert again[0] == 2 and again[1] > 0, again
        status, _, said = interrupt(recorder)
        # Of those that come soon behind it only the first is told.
        assert status == 0 and 1 <= said.count('gives up') <= 3 and 'could not write 3 snapshots' in said, said
        snapshots = check_each_is_as_logged(lab, 'small/p.data')
        assert [s['requests'][0]['reason'] for s in snapshots.values()][:2] == ['', 'room again']
        taken, written, taken_snapshots, passed, rest = memory_counts(said)
        # Nothing was left out in between: the last one has what came behind those two, and there is no more.
        assert (written, taken_snapshots, passed, rest) == (taken, 3, 0, 0), said
        assert written == first[1] + again[1] + snapshots[3]['samples'], said
        middle, last = (by_cpu(lab, number, 'small/p.data') for number in (2, 3))
        assert all(max(middle[cpu]) < min(last[cpu]) for cpu in middle if cpu in last), (middle, last)
    finally:
        leave(lab)


in_modes(check_full_disk)


def full_disk_at_the_end(lab, *options):
    """The last snapshot is undone like those before, counts with them, and the recorder reports their reasons."""
    need_root()
    small_disk(lab)
    try:
        recorder, first, before = on_a_small_disk(lab, *options)
        fill(lab)
        # Room for what the header says at the end, and not for another snapshot.
        os.truncate(lab.path('small/rest'), os.path.getsize(lab.path('small/rest')) - (64 << 10))
        wait_for(lambda: held(lab, recorder)['held_bytes'] > 128 << 10, what='samples')
        assert 'No space left' in ask(lab, recorder, status=1)
        status, _, said = interrupt(recorder)
        assert status == 1 and 'No space left on device; ringtail gives up the last snapshot' in said, (status, said)
        assert 'could not write 2 snapshots' in said, said
        _, written, snapshots, _, rest = memory_counts(said)
        assert written == first[1] == len(before) and snapshots == 1 and rest > 0, said
        assert moments(lab, 'small/p.data') == before and len(check_each_is_as_logged(lab, 'small/p.data')) == 1
    finally:
        leave(lab)


def test_full_disk_at_the_end(lab):
    full_disk_at_the_end(lab)


def test_full_disk_at_the_end_of_several_files(lab):
    full_disk_at_the_end(lab, '--threads')


def no_room_for_the_next(lab, options, spoil, make_room):
    """Each snapshot has a file of its own. Without room for it, or for the next file, the snapshot is undone, too."""
    need_root()
    small_disk(lab, options)
    try:
        with open(lab.path('small/rest'), 'wb'):
            pass
        recorder = lab.start('record', *COMMON, '--switch-output', '-o', 'small/p.data', release=True)
        ready(lab, recorder, 'small/p.data')
        time.sleep(0.3)
        first = ask(lab, recorder)
        # The next one, which has all of this, is larger by more than a page.
        wait_for(lambda: held(lab, recorder)['samples'] > first[1] + 1000, what='samples')
        spoil()
        for _ in range(2):
            said = ask(lab, recorder, status=1)
            assert 'No space left' in said, said
            assert len(glob.glob(lab.path('small/p.data*'))) == 2, os.listdir(lab.path('small'))
            assert lab.samples('small/p.data') == 0
        make_room()
        again = ask(lab, recorder)
        assert again[0] == 2 and again[1] >= first[1], again
        status, _, said = interrupt(recorder)
        assert status == 0 and said.count('gives up') in (1, 2) and 'could not write 2 snapshots' in said, said
        files = sorted(glob.glob(lab.path('small/p.data.2*')))
        assert len(files) == 2, files
        for number, data in enumerate(files, 1):
            assert list(check_each_is_as_logged(lab, data)) == [number]
        assert memory_counts(said)[1] == len({m for data in files for m in moments(lab, data)})
    finally:
        leave(lab)


def test_no_room_for_all_of_the_next(lab):
    """Room for the first snapshot is too little for the second, which also has the samples of the first."""
    def spoil():
        (first,) = glob.glob(lab.path('small/p.data.2*'))
        fill(lab)
        os.truncate(lab.path('small/rest'), os.path.getsize(lab.path('small/rest')) - os.path.getsize(first))
    no_room_for_the_next(lab, 'size=16M', spoil, lambda: os.unlink(lab.path('small/rest')))


def test_no_room_for_the_one_behind_it(lab):
    """The disk may hold four files: the directory, the rest, the first snapshot, and the file that becomes the
    second."""
    no_room_for_the_next(lab, 'size=16M,nr_inodes=4', lambda: None, lambda: os.unlink(lab.path('small/rest')))


def test_a_directory_that_goes(lab):
    """Nothing can be written there any more: the recorder reports each snapshot, and the end, even with -q."""
    need_root()
    os.mkdir(lab.path('out'))
    recorder = lab.start('record', '-q', *COMMON, '--switch-output', '-o', 'out/p.data')
    ready(lab, recorder, 'out/p.data')
    assert ask(lab, recorder)[0] == 1
    shutil.rmtree(lab.path('out'))
    for _ in range(2):
        said = ask(lab, recorder, status=1)
        assert 'out/p.data' in said and 'No such file' in said, said
    status, _, said = interrupt(recorder)
    assert status == 0 and said.count('gives up') in (1, 2) and 'could not write 2 snapshots' in said, said


def check_perf_reads_what_runs(lab, *options):
    """ringtail and perf can read a snapshot when it is answered, while the recording goes on."""
    need_root()
    recorder = lab.start('record', *COMMON, *options, '-o', 'p.data')
    ready(lab, recorder)
    samples = 0
    for _ in range(2):
        time.sleep(0.2)
        samples += ask(lab, recorder)[1]
        lines = lab.perf('script', '-F', 'ip', '-i', 'p.data').stdout.splitlines()
        assert len([line for line in lines if line.strip()]) == samples == lab.samples('p.data') > 0, samples
    assert interrupt(recorder)[0] == 0


in_modes(check_perf_reads_what_runs)


# Rings with room for all of 100000 calls of two callers, however late they are read.
ROOM = ['-m', '8M' if os.cpu_count() > 1 else '16M']


def part_of_one_is_readable(lab, *options):
    """The disk fails in the middle of a snapshot: its flushed part is readable, and marked as a part."""
    need_tracefs()
    calls = Calls(lab, 'command', 100000)
    disk = FailingFs(lab, 6000000, '600')
    with disk:
        recorder = start(lab, calls, '-M', '64M', *ROOM, '--flush-interval', '1ms', *options, output='disk/p.data')
        calls.go()
        calls.made()
        lab.start('ctl', '--pid', recorder.pid, 'snapshot', '--reason', 'the disk dies')
        assert disk.server.stdout.readline() == 'stands still\n'
        disk.server.kill()
        assert recorder.wait(timeout=PATIENCE) == 1
    data = 'behind/p.data'
    header = lab.run('report', '-i', data, '--header-only').stdout
    assert 'it is not complete' in header, header
    (number,) = log(lab, data)
    assert 0 < len(times_of(lab, number, data)) == lab.samples(data) < 100000
    itrace = ['--no-itrace'] if options else []
    assert stat(lab.perf('report', '-i', data, '--stats', *itrace).stdout, 'SAMPLE') == lab.samples(data)
    if not options:
        with open(lab.path('said'), encoding='utf-8') as text:
            said = text.read()
        assert f': {lab.samples(data):,} samples readable' in said, said


def test_one_that_takes_long_is_readable_so_far(lab):
    part_of_one_is_readable(lab)


def test_one_that_takes_long_is_readable_so_far_in_each_file(lab):
    part_of_one_is_readable(lab, '--threads')


def full_disk_in_the_midst(lab, *options):
    """The recorder also takes back the flushed part of the snapshot."""
    need_root()
    need_tracefs()
    calls = Calls(lab, 'command', 100000)
    small_disk(lab)
    try:
        recorder = start(lab, calls, '-M', '64M', *ROOM, '--flush-interval', '1ms', *options, output='small/p.data')
        calls.go()
        calls.made()
        first = ask(lab, recorder, '--last', '64K')
        before = moments(lab, 'small/p.data')
        with open(lab.path('small/rest'), 'wb') as rest:
            room = os.statvfs(lab.path('small'))
            os.posix_fallocate(rest.fileno(), 0, room.f_bavail * room.f_bsize - (384 << 10))
        said = ask(lab, recorder, status=1)
        assert 'No space left' in said, said
        assert moments(lab, 'small/p.data') == before
        assert lab.perf_samples('small/p.data') == len(before) == first[1]
        os.unlink(lab.path('small/rest'))
        again = ask(lab, recorder)
        assert first[1] + again[1] == 100000, (first, again)
        finish(lab, calls, recorder, 'small/p.data')
        check_each_is_as_logged(lab, 'small/p.data')
    finally:
        leave(lab)


def test_full_disk_in_the_midst(lab):
    full_disk_in_the_midst(lab)


def test_full_disk_in_the_midst_with_writes_in_flight(lab):
    full_disk_in_the_midst(lab, '--aio')


def test_full_disk_in_the_midst_of_several_files(lab):
    full_disk_in_the_midst(lab, '--threads')


def test_commands_while_one_is_written(lab):
    """The pipe's reader is slow: only another snapshot waits until this one is written."""
    need_tracefs()
    calls = Calls(lab, 'command', 100000)
    with open(lab.path('said'), 'wb') as said:
        recorder = subprocess.Popen(lab.argv(['record', '-M', '64M', '-m', '16M', '-o', '-', *calls.argv]), cwd=lab.dir,
                                    stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=said)
    lab.children.append(recorder)
    calls.begin(recorder)
    calls.go()
    calls.made()
    first = lab.start('ctl', '--pid', recorder.pid, 'snapshot')
    data = recorder.stdout.read(4 << 20)
    others = [lab.start('ctl', '--pid', recorder.pid, *words)
              for words in (['snapshot'], ['stats'], ['disable'], ['ping'])]
    while any(child.poll() is None for child in others[1:]) and first.poll() is None:
        data += recorder.stdout.read(16 << 10)  # so that the rest takes a minute
        time.sleep(0.1)
    assert first.poll() is None and others[0].poll() is None, len(data)
    for child in others[1:]:
        out, err = child.communicate(timeout=PATIENCE)
        assert child.returncode == 0 and ('samples=100000' in out) == (child == others[1]), (out, err)
    others.append(lab.start('ctl', '--pid', recorder.pid, 'stop'))
    with open(lab.path('p.data'), 'wb') as whole:
        whole.write(data)
        shutil.copyfileobj(recorder.stdout, whole)
    assert recorder.wait(timeout=PATIENCE) == 0
    for child in [first, others[0], others[-1]]:
        assert child.wait(timeout=PATIENCE) == 0, child.args
    assert [s['samples'] for s in log(lab).values()] == [100000, 0]


def test_the_header_says_what_is_in_an_earlier_one(lab):
    """ringtail writes no sample twice: an hour back there are more samples than the second snapshot has."""
    need_root()
    need_tracefs()
    calls = Calls(lab, '-p', 2000)
    recorder = start(lab, calls, '-M', '4M')
    for i, words in ('0', []), ('1', ['--last', '1h']):
        calls.hold('go' + i)
        calls.close('go' + i)
        calls.hold('end' + i)
        ask(lab, recorder, *words)
    finish(lab, calls, recorder, 'p.data')
    assert [s['samples'] for s in log(lab).values()] == [1000, 1000]
    lines = re.findall('#   samples : .*', lab.run('report', '-i', 'p.data', '--header-only').stdout)
    assert ['; those before are in an earlier snapshot)' in line for line in lines] == [False, True], lines
