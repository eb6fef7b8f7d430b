# SPDX-License-Identifier: Apache-2.0
"""Files of recorders that were killed, stopped, starved or hindered."""
import os
import re
import resource
import shutil
import signal
import stat as stat_
import subprocess
import time

from lab import NOBODY, PATIENCE, Skip, few_files, interrupt, need_root, need_tracefs, obeyed, running, scaled, wait_for, work


def start_recording(lab, *options, data='p.data'):
    """Starts a recording, and waits until a hundred samples are flushed."""
    child = lab.start('record', '-o', data, *options, '--', 'sleep', '600')
    running(lab, child)
    wait_for(lambda: lab.samples(data) >= 100, what='samples')
    return child


def readable(lab, data='p.data', least=1):
    samples = lab.samples(data)
    assert samples >= least, f'only {samples} samples'
    assert lab.perf_samples(data) == samples
    lab.perf('script', '-i', data)


def test_killed_recorder_leaves_a_readable_file(lab):
    need_root()
    child = start_recording(lab, '-a', '-e', 'cpu-clock', '-F', '999')
    child.send_signal(signal.SIGKILL)
    child.wait()
    readable(lab, least=100)


def test_perf_reads_what_killed_threads_leave(lab):
    need_root()
    child = start_recording(lab, '--threads', '-a', '-e', 'cpu-clock', '-F', '999')
    child.send_signal(signal.SIGKILL)
    child.wait()
    samples = lab.samples('p.data')
    assert samples >= 100, samples
    lines = lab.perf('script', '--no-itrace', '-F', 'ip', '-i', 'p.data').stdout.splitlines()
    assert len([line for line in lines if line.strip()]) == samples, (len(lines), samples)


def test_a_command_that_dies_is_said(lab):
    def said(script, *options, status=0):
        return lab.run('record', *options, '-e', 'task-clock', '-o', 'p.data', '--', 'sh', '-c', script,
                       status=status).stderr
    assert 'SIGSEGV ended the command' in said('kill -SEGV $$', status=139)
    assert 'SIGKILL ended the command' in said('kill -KILL $$', '--no-propagate-status')
    assert 'ended with status 7' in said('exit 7', status=7)
    assert 'ended with' not in said('exit 7', '-q', status=7)
    # Whose end it is, and whose not.
    recorder = lab.start('record', '-e', 'task-clock', '-o', 'p.data', '--', 'sleep', '600')
    running(lab, recorder)
    status, _, text = interrupt(recorder)
    assert status == 0 and 'ended by' not in text, (status, text)


def test_a_command_dies_by_a_closed_pipe_as_it_does_elsewhere(lab):
    """The command blocks and ignores the same signals as if the test had started it directly."""
    show = ['grep', '^Sig[BI]', '/proc/self/status']
    for kw in {}, {'preexec_fn': lambda: signal.signal(signal.SIGPIPE, signal.SIG_IGN)}:
        recorded = lab.run('record', '-e', 'task-clock', '-o', 'p.data', '--', *show, **kw).stdout
        alone = subprocess.run(show, check=True, text=True, stdout=subprocess.PIPE, **kw).stdout
        assert recorded == alone, (recorded, alone)
        assert bool(int(alone.split()[3], 16) >> signal.SIGPIPE - 1 & 1) == bool(kw), alone


def test_the_status_of_a_command_is_known_to_who_ignores_children(lab):
    p = lab.run('record', '-e', 'task-clock', '-o', 'p.data', '--', 'sh', '-c', 'exit 7',
                status=7, preexec_fn=lambda: signal.signal(signal.SIGCHLD, signal.SIG_IGN))
    assert 'does not end' not in p.stderr, p.stderr


def killed_recorder_keeps_tracepoint_formats(lab, *options):
    need_tracefs()
    child = start_recording(lab, *options, '-a', '-e', 'sched:sched_switch', '-c', '1')
    child.send_signal(signal.SIGKILL)
    child.wait()
    readable(lab)
    assert 'next_comm=' in lab.run('script', '-i', 'p.data').stdout
    assert 'next_comm=' in lab.perf('script', '-i', 'p.data').stdout


def test_killed_recorder_keeps_tracepoint_formats(lab):
    killed_recorder_keeps_tracepoint_formats(lab)


def test_killed_compressing_recorder_keeps_tracepoint_formats(lab):
    killed_recorder_keeps_tracepoint_formats(lab, '-z')


def killed_at_random_moments(lab, *options):
    need_root()
    for i in range(scaled(6, 3)):
        data = f'{i}.data'
        child = lab.start('record', *options, '-a', '-e', 'cpu-clock', '-F', '4000', '-o', data,
                          '--flush-interval', '50ms', '--', 'sleep', '600', release=True)
        running(lab, child)
        wait_for(lambda data=data: lab.samples(data), what='first flush')
        time.sleep(0.137 * i)
        child.send_signal(signal.SIGKILL)
        child.wait()
        p = lab.run('report', '-i', data, '--stats')
        assert lab.perf_samples(data) == lab.samples(data), p.stdout


def test_killed_at_random_moments(lab):
    killed_at_random_moments(lab)


def test_killed_at_random_moments_while_compressing(lab):
    killed_at_random_moments(lab, '-z')


def test_interrupt_and_terminate_end_cleanly(lab):
    need_root()
    for number in signal.SIGINT, signal.SIGTERM, signal.SIGHUP:
        child = start_recording(lab, '-a', '-e', 'cpu-clock')
        status, _, err = interrupt(child, number)
        assert status == 0, (status, err)
        assert re.search(r'samples', err), err
        readable(lab)


def test_signals_behind_the_end_change_nothing(lab):
    """Signals arrive until the recorder is gone; its status is still that of a complete recording."""
    need_root()
    for number in signal.SIGINT, signal.SIGTERM, signal.SIGUSR2:
        child = start_recording(lab, '-a', '-e', 'cpu-clock')
        child.send_signal(signal.SIGINT)
        while child.poll() is None:
            child.send_signal(number)
        assert child.returncode == 0, (number, child.stderr.read())
        readable(lab)


def test_nohup(lab):
    """The end of the terminal does not end the recording then; other signals do."""
    need_root()
    child = lab.start('record', '-o', 'p.data', '-a', '-e', 'cpu-clock', '--', 'sleep', '600',
                      preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN))
    running(lab, child)
    child.send_signal(signal.SIGHUP)
    obeyed(lab, child)
    status, _, err = interrupt(child)
    assert status == 0, (status, err)
    readable(lab)


def test_file_is_private_and_the_old_one_kept(lab):
    for _ in range(2):
        lab.run('record', '-o', 'p.data', '-e', 'cpu-clock', '--', lab.workload, 5)
    for name in 'p.data', 'p.data.old':
        assert stat_.S_IMODE(os.stat(lab.path(name)).st_mode) == 0o600, name


def test_symbolic_link_is_refused(lab):
    os.symlink(lab.path('target'), lab.path('p.data'))
    p = lab.run('record', '-o', 'p.data', '-e', 'cpu-clock', '--', 'true', status=1)
    assert not os.path.exists(lab.path('target')) and 'p.data' in p.stderr, p.stderr


FULL_DISKS = {
    # name: (size, options, least part of the disk that is used)
    'of 64 KB': ('64K', ['-e', 'cpu-clock', '-F', 'max'], 0.9),
    'of 64 KB, less than what was there before': ('64K', ['-a', '-e', 'cpu-clock'], 0),
    'of 1 MB': ('1M', ['-a', '-e', 'cpu-clock', '-F', 'max', '--flush-interval', '50ms'], 0.99),
    'of 1 MB, with a storm': ('1M', ['-a', '-e', 'raw_syscalls:sys_enter', '-c', '1'], 0.99),
    'of 16 MB, with a storm': ('16M', ['-e', 'raw_syscalls:sys_enter', '-c', '1', '-m', '16M'], 0.99),
}


def make_full_disk_test(size, options, least):
    def test(lab):
        need_tracefs()
        os.mkdir(lab.path('small'))
        if subprocess.run(['mount', '-t', 'tmpfs', '-o', 'size=' + size, 'none', lab.path('small')],
                          check=False).returncode:
            raise Skip('cannot mount a tmpfs')
        try:
            p = lab.run('record', '-o', 'small/p.data', *options, '--', lab.program('storm'), 2000000000,
                        status=1)
            assert 'No space left' in p.stderr, p.stderr
            if not least:  # what was never begun leaves nothing
                if os.listdir(lab.path('small')):
                    assert lab.perf_samples('small/p.data') == lab.samples('small/p.data')
                return
            disk = os.statvfs(lab.path('small'))
            used = os.path.getsize(lab.path('small/p.data')) / (disk.f_blocks * disk.f_frsize)
            assert used >= least, used
            told = re.search(r'small/p.data: ([\d,]+) samples? readable, .* all later ones',
                             last_line(p.stderr))
            samples = lab.samples('small/p.data')
            assert samples == int(told.group(1).replace(',', '')), (samples, p.stderr)
            assert lab.perf_samples('small/p.data') == samples > 100, samples
            lab.perf('script', '-i', 'small/p.data')
        finally:
            subprocess.run(['umount', '-l', lab.path('small')], check=False)
    return test


for _name, _row in FULL_DISKS.items():
    globals()['test_full_disk ' + _name] = make_full_disk_test(*_row)


ERRORS = {
    'unknown event with the nearest names': (['-e', 'cpu-clokc', '--', 'true'], 1, 'cpu-clock'),
    'no such process': (['-p', '999999999', '--', 'true'], 1, '999999999'),
    'unwritable output': (['-o', '/nonexistent/dir/p.data', '--', 'true'], 1, '/nonexistent/dir/p.data'),
    'command not found': (['--', '/nonexistent/program'], None, '/nonexistent/program'),
    'bad frequency': (['-F', 'often', '--', 'true'], 2, 'often'),
    'bad CPU list': (['-C', '0-', '--', 'true'], None, '0-'),
    'CPU that is not there': (['-C', '4095', '--', 'true'], None, '4095'),
    'unknown option': (['--no-such-option', '--', 'true'], 2, 'no-such-option'),
    'frequency and count at once': (['-F', '99', '-c', '1', '--', 'true'], 2, '-c'),
    'compression level below the first': (['-z0', '--', 'true'], 2, '-z'),
    'compression level above the last': (['--compression-level=23', '--', 'true'], 2, '22'),
    'all CPUs and a process': (['-a', '-p', '1', '--', 'true'], 2, 'choose one'),
    'CPUs and a thread': (['-C', '0', '-t', '1', '--', 'true'], 2, 'choose one'),
    'clock that is none': (['-k', '99', '--', 'true'], 2, "'99' is no clock"),
    'ring without a page': (['-m', '0', '--', 'true'], 2, 'at least one page'),
    'ring of a terabyte': (['-m', '1T', '--', 'true'], 2, 'the kernel cannot make a ring'),
    'ring beyond all numbers': (['-m', '99999999999999999999', '--', 'true'], 2, 'the kernel cannot make a ring'),
    'flush interval of hours': (['--flush-interval', '3601s', '--', 'true'], 2, '3600s'),
    'argument of -g': (['-g', 'dwarf', 'true'], 1, 'did you mean --call-graph dwarf?'),
    'argument of -g before --': (['-g', 'fp', '--', 'true'], 1, 'did you mean --call-graph fp?'),
    'filter for no tracepoint': (['-e', 'cpu-clock', '--filter', 'pid == 1', '--', 'true'], None,
                                 'tracepoint'),
}


def make_error_test(options, status, fragment):
    def test(lab):
        p = lab.run('record', *options, status=status)
        assert p.returncode not in (0, -6, -11), p.returncode
        assert fragment in p.stderr, p.stderr
        assert not os.path.exists(lab.path('perf.data')) or '-e' not in options
    return test


for _name, _row in ERRORS.items():
    globals()['test_error: ' + _name] = make_error_test(*_row)


def last_line(text):
    return text.strip().splitlines()[-1]


def test_choices_are_said(lab):
    p = lab.run('record', '-o', 'p.data', '-m', '3K', '-e', 'cpu-clock', '--', 'true')
    assert re.search(r'-m 3K is rounded up to 4\.0 KB', p.stderr), p.stderr
    p = lab.run('record', '-o', 'p.data', '-m', '4K', '-e', 'cpu-clock', '--', 'true')
    assert 'rounded' not in p.stderr, p.stderr
    p = lab.run('record', '-o', 'p.data', '-e', 'dummy', '--', 'true')
    assert last_line(p.stderr).startswith('ringtail: p.data: 0 samples'), p.stderr


def test_standard_output_is_named(lab):
    p = subprocess.run(lab.argv(['record', '-o', '-', '-e', 'cpu-clock', '--', 'true']), text=True,
                       cwd=lab.dir, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                       stderr=subprocess.PIPE, check=False)
    assert last_line(p.stderr).startswith('ringtail: standard output: '), p.stderr


def test_command_that_cannot_run_costs_no_recording(lab):
    lab.run('record', '-e', 'cpu-clock', '-o', 'p.data', '--', 'true')
    for name, line in (('lost', '#!/nowhere/sh -e'), ('nested', '#! ' + lab.path('lost')), ('folder', '#!/tmp')):
        with open(lab.path(name), 'w', encoding='ascii') as f:
            f.write(line + '\n')
        os.chmod(lab.path(name), 0o755)
    for command in ('./lost', './nested', './folder', './absent'):
        p = lab.run('record', '-e', 'cpu-clock', '-o', 'p.data', '--', command, status=1)
        assert 'p.data' not in p.stderr and command in p.stderr, p.stderr
        assert not os.path.exists(lab.path('p.data.old')), command
    assert '/nowhere/sh' in lab.run('record', '--', './nested', status=1).stderr


def shell(lab, line, *args):
    """Runs ringtail in a line of shell, where "$@" stands for its command line."""
    return subprocess.run(['sh', '-c', line, 'sh', *lab.argv(args)], cwd=lab.dir, text=True,
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          timeout=5 * PATIENCE, check=False)


def test_closed_descriptors(lab):
    """The recorder does not write to a closed descriptor, and no file takes its number."""
    p = shell(lab, '"$@" >&-', 'record', '-e', 'cpu-clock', '-o', '-', '--', 'true')
    assert (p.returncode, p.stderr.count('\n')) == (1, 1) and 'standard output is closed' in p.stderr, p
    for closed in ('<&-', '>&-', '2>&-', '<&- >&- 2>&-'):
        p = shell(lab, f'"$@" {closed}', 'record', '-e', 'cpu-clock', '-o', 'p.data', '--', 'sh', '-c',
                  'i=0; while [ $i -lt 50000 ]; do i=$((i + 1)); done')
        assert p.returncode == 0, p
        assert lab.perf_samples('p.data') == lab.samples('p.data') > 0


def test_bare_record_says_what_it_records(lab):
    need_root()
    child = lab.start('record')
    running(lab, child)
    status, _, err = interrupt(child)
    assert status == 0 and 'recording the whole system; Ctrl-C ends it' in err, (status, err)


def as_nobody(lab):
    need_root()
    os.chmod(lab.dir, 0o777)


def test_ordinary_user_records_own_processes(lab):
    as_nobody(lab)
    with open('/proc/sys/kernel/perf_event_paranoid', encoding='ascii') as f:
        if int(f.read()) > 2:
            raise Skip('perf_event_paranoid is above 2')
    p = lab.run('record', '-o', 'p.data', '--', lab.workload, 40, user=NOBODY)
    assert ':u' in p.stderr or 'user' in p.stderr, p.stderr
    out = lab.run('report', '-i', 'p.data', '--sort', 'sym', user=NOBODY).stdout
    assert 'scan_tokens' in out, out
    os.chown(lab.path('p.data'), 0, 0)  # perf reads nothing of others, as root either
    assert lab.perf_samples('p.data') == lab.samples('p.data')


def command_of(recorder, name):
    """Returns the process of the recorded command, once it runs its own program and not the recorder's."""
    with open(f'/proc/{recorder.pid}/task/{recorder.pid}/children', encoding='ascii') as f:
        for pid in f.read().split():
            with open(f'/proc/{pid}/comm', encoding='ascii', errors='replace') as comm:
                if comm.read().strip() == name:
                    return int(pid)
    return None


def test_small_rings_are_told_of_where_something_was_lost(lab):
    """The recorder reports them after a loss, or with -v, and not at each start."""
    as_nobody(lab)
    small = ['-o', 'p.data', '-e', 'cpu-clock:u', '-F', 1000, '--call-graph', 'dwarf,16384', '--', 'sh', '-c']

    def bounded():
        resource.setrlimit(resource.RLIMIT_MEMLOCK, (0, 0))
    p = lab.run('record', '-v', *small, 'exit', user=NOBODY, preexec_fn=bounded)
    size = re.search(r'rings? of (\d+) KB instead of 8192 KB', p.stderr)
    if not size:
        raise Skip('rings of 8192 KB may be locked by whoever likes')
    p = lab.run('record', *small, 'exit', user=NOBODY, preexec_fn=bounded)
    assert ' 0 lost' in p.stderr and 'instead' not in p.stderr, p.stderr

    recorder = lab.start('record', *small, 'while :; do :; done', user=NOBODY, preexec_fn=bounded)
    load = wait_for(lambda: command_of(recorder, 'sh'), what='load')
    work(load)
    recorder.send_signal(signal.SIGSTOP)
    work(load, seconds=int(size[1]) * os.cpu_count() / 1000 + 1)  # at a kilobyte a sample, at least
    recorder.send_signal(signal.SIGCONT)
    status, _, said = interrupt(recorder)
    assert status == 0 and ' 0 lost' not in said, (status, said)
    assert f'have {size[1]} KB instead of 8192 KB, because ringtail may lock no more memory' in said, said


def test_ordinary_user_is_told_what_system_wide_needs(lab):
    as_nobody(lab)
    p = lab.run('record', '-a', '-o', 'p.data', '--', 'true', user=NOBODY, status=1)
    assert 'perf_event_paranoid' in p.stderr or 'CAP_PERFMON' in p.stderr, p.stderr


def test_ordinary_user_is_told_whose_a_process_is(lab):
    as_nobody(lab)
    pid = os.getpid()
    for option in '-p', '-t':
        p = lab.run('record', option, pid, '-o', 'p.data', '--', 'true', user=NOBODY, status=1)
        assert f'process {pid} belongs to another user (uid 0): run as root' in p.stderr, p.stderr
        assert not os.path.exists(lab.path('p.data'))


def test_descriptor_limit_names_the_number(lab):
    need_tracefs()
    p = lab.run('record', '-a', '-o', 'p.data', '-e', 'syscalls:sys_enter_*', '--', 'true', status=1,
                preexec_fn=few_files(64))
    assert re.search(r'open files|RLIMIT_NOFILE|ulimit -n', p.stderr) and re.search(r'\d{3}', p.stderr), p.stderr


def test_descriptor_limit_names_what_is_enough(lab):
    """The limit that the message names is enough, and not much more than is used."""
    named, enough = {}, None
    for limit in range(5, 100 + 4 * os.cpu_count()):
        p = lab.run('record', '-o', 'p.data', '-e', 'cpu-clock', '--', 'true', status=None, release=True,
                    preexec_fn=few_files(limit))
        if p.returncode == 0 and 'open files' not in p.stderr:
            enough = limit
            break
        match = re.search(r"'ulimit -n (\d+)'", p.stderr)
        if match:
            named[limit] = int(match.group(1))
    assert enough and named, (enough, named)
    assert all(enough <= n <= enough + 10 for n in named.values()), (enough, named)


def test_files_of_others_need_force(lab):
    as_nobody(lab)
    lab.run('record', '-o', 'p.data', '-e', 'cpu-clock', '--', lab.workload, 5)
    os.chmod(lab.path('p.data'), 0o644)
    os.chown(lab.path('p.data'), 12345, 12345)
    p = lab.run('report', '-i', 'p.data', status=1)
    assert '--force' in p.stderr or '-f' in p.stderr, p.stderr
    lab.run('report', '-i', 'p.data', '--force')


def test_a_setuid_command_is_explained(lab):
    """The kernel ends the events of a process that becomes another user."""
    need_root()
    os.chmod(lab.dir, 0o777)
    program = lab.path('becomes-root')
    shutil.copy(shutil.which('true'), program)
    os.chmod(program, 0o4755)
    if os.statvfs(lab.dir).f_flag & os.ST_NOSUID:
        raise Skip('setuid has no effect here')
    p = lab.run('record', '-e', 'cpu-clock:u', '-o', 'p.data', '--', program, user=NOBODY)
    assert '0 samples' in p.stderr and 'becomes-root is a setuid program' in p.stderr, p.stderr
    p = lab.run('record', '-e', 'cpu-clock:u', '-c', '1000', '-o', 'q.data', '--', program)
    assert 'setuid' not in p.stderr, p.stderr
