# SPDX-License-Identifier: Apache-2.0
"""Options of the recorder that change how it runs, not what is in the file."""
import glob
import os
import re
import resource
import signal
import subprocess
import sys
import time

from lab import PATIENCE, NOBODY, Skip, interrupt, need_root, need_tracefs, running, stat, wait_for


def storm(lab, *args):
    """Options that record each getppid of the storm, and the command."""
    need_tracefs()
    number = subprocess.run([lab.program('storm'), '--syscall'], check=True, text=True,
                            stdout=subprocess.PIPE).stdout.strip()
    return ['-e', 'raw_syscalls:sys_enter', '--filter', f'id == {number}', '-c', '1', '--',
            lab.program('storm'), *args]


def one_by_one(lab, calls, *options, wait):
    """Records calls; makes each one when the one before is readable, with `wait`. Returns the messages of -v."""
    need_tracefs()
    caller = subprocess.Popen([sys.executable, '-c', CALLER], text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    lab.children.append(caller)
    number = storm(lab)[3].split()[2]
    recorder = lab.start('record', '-v', '-o', 'p.data', '--flush-interval', '3600s', *options, '-p', caller.pid, '-e',
                         'raw_syscalls:sys_enter', '--filter', f'id == {number}', '-c', '1')
    running(lab, recorder)
    for i in range(calls):
        caller.stdin.write('\n')
        caller.stdin.flush()
        assert caller.stdout.readline()
        if wait:
            wait_for(lambda i=i: samples_of(lab) == i + 1, what=f'sample {i + 1}')
    seen = samples_of(lab)
    status, _, said = interrupt(recorder)
    assert status == 0, said
    assert lab.perf_samples('p.data') == lab.samples('p.data') == calls
    return seen, said


def samples_of(lab):
    return stat(lab.run('report', '-i', 'p.data', '--stats', release=True).stdout, 'SAMPLE')


def total(said, what):
    return sum(int(n) for n in re.findall(rf'in (\d+) {what}', said))


def test_unbuffered_each_event_wakes_the_reader(lab):
    """Each call is readable at once; with buffering, none is before the end."""
    seen, said = one_by_one(lab, 20, wait=False)
    assert seen == 0 and total(said, 'passes') < 20, (seen, said)
    for options in [], ['--threads'], ['--threads', '-z']:
        seen, said = one_by_one(lab, 20, '--no-buffering', *options, wait=True)
        assert seen == 20 and total(said, 'passes') >= 20, (seen, said)


# Calls getppid for each line that it is given.
CALLER = '''
import os, sys
for line in sys.stdin:
    os.getppid()
    print(flush=True)
'''


def threads(pid):
    """{name: (policy, real-time priority, nice)} of the threads of a process."""
    found = {}
    for path in glob.glob(f'/proc/{pid}/task/*/stat'):
        with open(path, encoding='ascii') as f:
            name, rest = f.read().split('(', 1)[1].rsplit(')', 1)
        fields = rest.split()
        found[name] = (int(fields[38]), int(fields[37]), int(fields[16]))
    return found


def check_readers(lab, expected, *options):
    """Checks the policies and priorities of the readers; other threads and the command have none."""
    recorder = lab.start('record', '-a', '-e', 'cpu-clock', '-F', '9', *options, '--', 'sleep', '600')
    running(lab, recorder)

    def commands():
        with open(f'/proc/{recorder.pid}/task/{recorder.pid}/children', encoding='ascii') as f:
            return [threads(child) for child in f.read().split()]
    # Until its exec it is one of us.
    wait_for(lambda: all('sleep' in command for command in commands()), what='the command')

    def readers():
        return sorted(scheduled[:2] for name, scheduled in threads(recorder.pid).items() if 'reader' in name)
    # Each says itself who it is, and before whom it goes, as soon as it is let run.
    wait_for(lambda: readers() == expected or recorder.poll() is not None, what=f'readers of {expected}')
    found, commands = threads(recorder.pid), commands()
    status, _, said = interrupt(recorder)
    assert status == 0, said
    # As we are, whoever runs the tests, and how nicely.
    (ours,) = {(policy, priority, nice) for policy, priority, nice in threads(os.getpid()).values()}
    assert commands == [{'sleep': ours}], (commands, ours)
    assert all(policy == ours[0] for name, (policy, _, _) in found.items() if 'reader' not in name), (found, ours)


def test_readers_run_with_a_real_time_priority(lab):
    need_root()
    fifo = os.SCHED_FIFO
    try:
        os.sched_setscheduler(0, fifo, os.sched_param(1))
        os.sched_setscheduler(0, os.SCHED_OTHER, os.sched_param(0))
    except PermissionError as reason:
        raise Skip('no real-time priorities for this cgroup') from reason
    check_readers(lab, [(fifo, 42)], '-r', '42')
    check_readers(lab, [(fifo, 7)] * os.cpu_count(), '--realtime=7', '--threads')
    p = lab.run('record', '-r', '42', '-e', 'cpu-clock:u', '-o', '/dev/null/no', '--', 'true', user=NOBODY, status=1)
    assert 'CAP_SYS_NICE' in p.stderr and 'RLIMIT_RTPRIO' in p.stderr, p.stderr
    for wrong in ('0', '100', 'high', '-1'):
        lab.run('record', '-r', wrong, '--', 'true', status=2)


def test_less_than_the_least_stays_in_its_ring(lab):
    """Without buffering each call wakes the reader; it leaves less than --mmap-flush in the ring."""
    for options, wait in (([], True), (['--mmap-flush=0'], True), (['--mmap-flush=4096'], False),
                          (['--mmap-flush', '1G', '-m', '16K'], False)):
        _, said = one_by_one(lab, 20, '--no-buffering', *options, wait=wait)
        assert ('lowered to 4 KB' in said) == ('1G' in options), said
        pieces = total(said, 'pieces')
        assert pieces >= 20 if wait else pieces < 15, (options, pieces, said)
    lab.run('record', '--mmap-flush', 'much', '--', 'true', status=2)


def allowed(pid):
    """Returns the CPUs where each reader thread may run."""
    found = []
    for path in glob.glob(f'/proc/{pid}/task/*/status'):
        with open(path, encoding='ascii') as f:
            status = dict(line.split(':\t', 1) for line in f.read().splitlines() if ':\t' in line)
        if 'reader' in status['Name']:
            found.append(status['Cpus_allowed_list'])
    return sorted(found)


def node_of(cpu):
    """Returns the CPUs of its node."""
    for path in glob.glob(f'/sys/devices/system/cpu/cpu{cpu}/node*/cpulist'):
        with open(path, encoding='ascii') as f:
            return f.read().strip()
    raise Skip('this kernel has no nodes')


def follows(lab, affinity, places, *options):
    """Makes enough calls on one CPU, then on the other, to wake the reader. (Other programs may fill a ring,
    too.)"""
    if os.cpu_count() < 2:
        raise Skip('one CPU')
    recording = storm(lab)
    recorder = lab.start('record', '-C', '0,1', '-o', 'p.data', '-m', '4K', '--flush-interval', '3600s',
                         f'--affinity={affinity}', *options, *recording[:-2], '--', 'sleep', '600')
    running(lab, recorder)
    for cpu, place in zip((0, 1, 0), places):
        def there(cpu=cpu, place=place):
            subprocess.run([lab.program('storm'), '-c', str(cpu), '100'], check=True)
            time.sleep(0.1)
            return allowed(recorder.pid) == place
        wait_for(there, what=f'{affinity}: {place}')
    status, _, said = interrupt(recorder)
    assert status == 0, said


def test_a_reader_goes_where_the_ring_is(lab):
    follows(lab, 'cpu', [['0'], ['1'], ['0']])
    follows(lab, 'cpu', [['0', '1']] * 3, '--threads')
    follows(lab, 'cpu', [['0'], ['1'], ['0']], '--threads=0-1/1')
    follows(lab, 'node', [[node_of(0)], [node_of(1)], [node_of(0)]], '--threads=0-1/1')
    follows(lab, 'sys', [['1']] * 3, '--threads=0-1/1')
    lab.run('record', '--affinity', 'core', '--', 'true', status=2)


def test_values_that_were_not_joined(lab):
    """After a space such a value would be the command."""
    for args, word in ((['--aio', '16'], '--aio=16'), (['-z', '3'], '-z3'), (['--threads', '2'], '--threads=2'),
                       (['--switch-output', '10'], '--switch-output=10')):
        assert word in lab.run('record', '-o', 'p.data', *args, '--', 'true', status=2).stderr
        assert not os.path.exists(lab.path('p.data'))


def test_nobody_could_begin(lab):
    p = lab.run('record', '-o', 'p.data', '-D', '-1', '--no-control-socket', '--', 'true', status=2)
    assert '--no-control-socket' in p.stderr, p.stderr


def test_what_a_number_may_be_is_said(lab):
    for args, says in ((['-F', 'abc'], 'from 1 to 4294967295'), (['-F', '+999'], "nor 'max'"), (['-F', '0'], 'from 1'),
                       (['-c', '0'], 'from 1 to'), (['-r', '100'], 'from 1 to 99'), (['-t', 'abc'], 'from 1 to'),
                       (['-p', ''], 'from 1 to'), (['-z0'], 'from 1 to 22'), (['--aio=0'], 'from 1 to'),
                       (['--call-graph', 'dwarf,4x'], 'from 8 to 65528'), (['--call-graph', 'dwarf,0'], 'from 8'),
                       (['--call-graph', 'dwarf,64K'], 'from 8 to 65528'), (['--call-graph', 'dwarf,'], 'from 8'),
                       (['--call-graph', 'dwarf,online,8K'], "not 'online'"), (['--call-graph', 'dwarfonline'], '[,online]')):
        said = lab.run('record', '-o', 'p.data', *args, '--', 'true', status=2).stderr
        assert says in said and args[0][:2] in said, (args, said)
    for size in '16K', '16384', '16377', '0x4000':
        lab.run('record', '-o', 'p.data', '-e', 'cpu-clock:u', '--call-graph', f'dwarf,{size}', '--', 'true')
        said = lab.run('report', '-i', 'p.data', '--header-only', '-I').stdout
        assert 'sample_stack_user = 16384' in said, (size, said)


def test_what_does_what_an_option_of_perf_does_is_said(lab):
    for command, options in (('record', {'--setup-filter=x': '--filter', '--clang-opt=x': 'no BPF programs'}),
                             ('report', {'-o': '>', '--gtk': '--html'}),
                             ('script', {'-s': '|'})):
        for option, instead in options.items():
            said = lab.run(command, option, status=2).stderr
            assert option[:2] in said.split('--help')[0] and instead in said, (option, said)
        known = lab.run(command, '--help').stdout + lab.run(command, '--usage').stdout
        assert not any(word in known for word in ('--clang-opt', '--setup-filter', '--gtk')), known


def test_what_is_done_in_any_case_may_be_asked_for(lab):
    said = lab.run('record', '-o', 'p.data', '-e', 'cpu-clock', '--buildid-all', '--tail-synthesize', '--', 'true').stderr
    assert '--' not in said, said
    maps = set(re.findall(r" MMAP2 .* file='(/[^']+)'", lab.run('dump', 'p.data').stdout))
    known = set(re.findall(r'^[0-9a-f]{40} (/.*)$', lab.perf('buildid-list', '-i', 'p.data').stdout, re.M))
    assert maps and maps == known, (maps, known)


def test_who_pipes_and_names_no_input_is_told_what_is_read(lab):
    def said(*args):
        p = subprocess.run(lab.argv(args), cwd=lab.dir, input='', text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                           timeout=5 * PATIENCE, check=False)
        assert p.returncode == 0, p.stderr
        return p.stderr
    lab.run('record', '-e', 'cpu-clock', '--', 'true')
    for command in 'report', 'script', 'dump':
        assert 'ringtail reads ./perf.data; to read the pipe on standard input' in said(command), command
        for args in ['-q'], ['-i', 'perf.data'], ['perf.data']:
            assert 'pipe' not in said(command, *args), (command, args)
        assert 'pipe' not in lab.run(command).stderr, command


def test_children_from_before_are_named_if_there_is_no_sample(lab):
    def record(pid):
        recorder = lab.start('record', '-e', 'dummy', '-o', 'p.data', '-p', pid)
        running(lab, recorder)
        status, _, said = interrupt(recorder)
        assert status == 0 and ' 0 samples' in said, said
        return said
    parent = lab.spawn('sh', '-c', 'sleep 300 & wait')
    children = f'/proc/{parent.pid}/task/{parent.pid}/children'

    if not os.path.exists(children):
        raise Skip('the kernel does not list children (CONFIG_PROC_CHILDREN)')

    def child():
        with open(children, encoding='ascii') as f:
            return f.read().strip()
    wait_for(child)
    pid = child()
    try:
        assert f'pgrep -d, -P {parent.pid}' in record(parent.pid)
        assert 'pgrep' not in record(pid)
    finally:
        os.kill(int(pid), signal.SIGKILL)


def test_the_header_goes_before_a_dump(lab):
    lab.run('record', '-o', 'p.data', '--threads', '-z', '-e', 'cpu-clock', '--', 'true')
    header = lab.run('report', '-i', 'p.data', '--header-only').stdout
    dump = lab.run('report', '-i', 'p.data', '-D').stdout
    assert header.startswith('# ====') and dump.startswith('data:0x'), (header[:100], dump[:100])
    assert lab.run('report', '-i', 'p.data', '-D', '--header').stdout == header + dump
    assert lab.run('report', '-i', 'p.data', '-D', '--header-only').stdout == header


def contents(lab, name):
    path = lab.path(name)
    if not os.path.isdir(path):
        with open(path, 'rb') as f:
            return f.read()
    return {part: contents(lab, f'{name}/{part}') for part in os.listdir(path)}


def test_a_failed_start_changes_nothing(lab):
    """Wherever the start fails, the files named p.data and p.data.old stay as they were."""
    def limits(kind, number):
        return lambda: resource.setrlimit(kind, (number, number))
    few = [limits(resource.RLIMIT_NOFILE, n) for n in range(6, 40)]
    small = [limits(resource.RLIMIT_FSIZE, n) for n in (0, 100, 5000)]
    failed = made = 0
    for options in [], ['--threads']:
        record = ['record', '-e', 'cpu-clock', *options, '-o', 'p.data', '--', 'true']
        hidden = 'kptr_restrict' in lab.run(*record).stderr
        lab.run(*record)
        for limit in few + small:
            before = {name: contents(lab, name) for name in ('p.data', 'p.data.old')}
            p = lab.run(*record, status=None, preexec_fn=limit, release=True)
            after = {name: contents(lab, name) for name in glob.glob('p.data*', root_dir=lab.dir)}
            # For want of descriptors nothing was hidden by the kernel.
            assert hidden or 'kptr_restrict' not in p.stderr, p.stderr
            if p.returncode == 0:
                assert set(after) == set(before) and after['p.data.old'] == before['p.data'], (options, p.stderr)
                made += 1
            elif after != before:
                # Its first flush failed, and not its start.
                assert limit in small and 'readable' in p.stderr, (options, set(after), p.stderr)
            else:
                failed += 1
        subprocess.run('rm -r p.data*', shell=True, cwd=lab.dir, check=True)
    assert failed > 10 and made > 10, (failed, made)


def test_a_user_namespace_is_no_root(lab):
    """The capabilities of a user namespace do not count for perf events: an ordinary user's limits hold."""
    if subprocess.run(['unshare', '-U', '-r', 'true'], check=False, stderr=subprocess.DEVNULL).returncode:
        raise Skip('no user namespaces')
    with open('/proc/sys/kernel/perf_event_paranoid', encoding='ascii') as f:
        if int(f.read()) not in (0, 1, 2):
            raise Skip('perf_event_paranoid is not 0 to 2')
    p = subprocess.run(['unshare', '-U', '-r', *lab.argv(['record', '-v', '-e', 'cpu-clock', '-o', 'p.data', 'true'])],
                       cwd=lab.dir, stderr=subprocess.PIPE, text=True, check=False)
    assert p.returncode == 0 and '1/64 of memory' not in p.stderr, p.stderr
