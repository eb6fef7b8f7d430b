# SPDX-License-Identifier: Apache-2.0
"""Options that perf's users type, each with what it adds to a recording."""
import os
import re
import subprocess
import sys
import time

from lab import Skip, need_mount_namespaces, need_root, need_tracefs, registers, scaled, wait_for

BUSY = 'import time\nt = time.time()\nwhile time.time() - t < {}: pass\n'


def busy(seconds):
    return [sys.executable, '-c', BUSY.format(seconds)]


def planned(lab, *options, command=('--', 'true')):
    """Attributes that would be opened, a line each."""
    return lab.run('record', '--dry-run', '-v', *options, *command).stdout.splitlines()


def recorded(lab, *options, command=None, events=('-e', 'cpu-clock')):
    lab.run('record', *events, '-o', 'p.data', *options, '--', *(command or busy(0.1)))
    return lab.run('script', '-i', 'p.data').stdout


def count_records(lab, kind, file='p.data'):
    return len(re.findall(rf'^\S+ {kind} ', lab.run('dump', '-i', file).stdout, re.MULTILINE))


def test_each_option_is_in_the_attribute(lab):
    """What a PMU must support is at least asked of it."""
    for options, text in (
            (['-b'], 'branch_sample_type = ANY'),
            (['-j', 'any_call,u'], 'branch_sample_type = USER|ANY_CALL'),
            (['-e', 'cpu-clock/branch_type=ind_call/', '-b'], 'branch_sample_type = IND_CALL'),
            (['--call-graph', 'lbr'], 'branch_sample_type = USER|CALL_STACK'),
            (['-e', 'cpu-clock/call-graph=lbr/'], 'CALL_STACK'),
            (['-W'], 'WEIGHT'), (['--transaction'], 'TRANSACTION'), (['--phys-data'], 'PHYS_ADDR'),
            (['--data-page-size'], 'DATA_PAGE_SIZE'), (['--code-page-size'], 'CODE_PAGE_SIZE'),
            (['--sample-mem-info'], 'DATA_SRC'), (['--all-cgroups'], 'CGROUP'), (['-I'], 'sample_regs_intr = 0x'),
            (['--user-regs'], 'sample_regs_user = 0x'), (['-s'], 'inherit_stat = 1'),
            (['--running-time'], 'TOTAL_TIME_RUNNING'), (['--switch-events'], 'context_switch = 1'),
            (['-e', 'cpu-clock:D'], 'pinned = 1'), (['-e', 'cycles:ppp'], 'precise_ip = 3'),
            (['-e', 'cpu-clock/period=1234/'], '} = 1234'), (['-e', 'cpu-clock/freq=77/'], '} = 77'),
            (['-e', 'cpu-clock/max-stack=9/', '-g'], 'sample_max_stack = 9'),
            (['-e', 'cpu-clock/call-graph=dwarf,stack-size=1024/'], 'sample_stack_user = 1024'),
            (['-e', 'cpu-clock/name=mine/'], 'name = mine'), (['-e', 'cpu-clock/overwrite/'], 'write_backward = 1'),
            (['--group', '-e', 'cpu-clock', '-e', 'page-faults'], 'leader = 0')):
        lines = planned(lab, *options)
        assert any(text in line for line in lines[:-1]), (options, text, lines)
        first = planned(lab, '-e', 'cpu-clock')
        assert not any(text in line for line in first), (text, first)
    assert 'inherit = 1' not in planned(lab, '-e', 'cpu-clock/no-inherit/')[0]
    assert 'inherit = 1' not in planned(lab, '--per-thread')[0]
    assert 'bpf_event' in planned(lab)[-1] and 'bpf_event' not in planned(lab, '--no-bpf-event')[-1]
    assert 'mmap_data' in planned(lab, '--data-mmap')[-1]
    assert not os.path.exists(lab.path('perf.data'))


def test_registers_are_recorded(lab):
    first, sp, ip = registers()
    lab.run('record', '-e', 'cpu-clock', '-I', f'--user-regs={ip.lower()},{sp.lower()}', '-o', 'p.data', '--', *busy(0.1))
    ours, perfs = (command('script', '-i', 'p.data', '-F', 'ip,iregs,uregs').stdout for command in (lab.run, lab.perf))
    assert re.search(rf'ABI:2 +{first}:0x.* {ip}:0x.*ABI:2 +{sp}:0x[0-9a-f]+ +{ip}:0x', perfs), perfs[:500]
    assert ours == perfs
    names = lab.run('record', '-I?').stdout
    assert names.startswith(f'available registers: {first} ') and f' {sp} ' in names, names
    assert 'unknown register' in lab.run('record', '-Ifrob', 'true', status=2).stderr


def test_page_sizes_and_addresses(lab):
    need_root()
    lab.run('record', '-e', 'page-faults', '-c', '1', '--code-page-size', '--data-page-size', '--phys-data', '-W', '-d',
            '-o', 'p.data', '--', 'ls')
    fields = 'ip,addr,phys_addr,code_page_size,data_page_size,weight'
    ours, perfs = (command('script', '-i', 'p.data', '-F', fields).stdout for command in (lab.run, lab.perf))
    assert '4K' in ours, ours
    assert ours.split() == perfs.split()


def test_switches_and_cgroups(lab):
    need_root()
    recorded(lab, '--switch-events', '--all-cgroups', command=['sleep', '0.05'])
    assert count_records(lab, 'SWITCH(_CPU_WIDE)?') > 0
    assert 'cgroup=' in lab.run('dump', '-i', 'p.data').stdout
    recorded(lab, command=['sleep', '0.05'])
    assert not count_records(lab, 'SWITCH(_CPU_WIDE)?')


def test_spans_of_time(lab):
    recorded(lab, '-D', '200-300,600-700', '-F', '999', command=busy(1.2))
    times = [float(t) for t in re.findall(r'^ *(\d+\.\d+):', lab.run('script', '-i', 'p.data', '-F', 'time').stdout,
                                          re.MULTILINE)]
    gaps = sum(b - a > 0.2 for a, b in zip(times, times[1:]))
    assert times and gaps == 1, (len(times), gaps)
    for wrong in '5-3', '1-2,2-3', '1-', 'a-b':
        lab.run('record', '-D', wrong, 'true', status=2)


def test_duration_and_parent(lab):
    began = time.monotonic()
    lab.run('record', '-e', 'cpu-clock', '-o', 'p.data', '--duration', '300ms', '--', 'sleep', '600')
    assert time.monotonic() - began < 300
    parent = subprocess.Popen([sys.executable, '-c', 'import subprocess, sys\n'
                               'p = subprocess.Popen(sys.argv[1:])\nprint(p.pid, flush=True)\nsys.stdin.read()',
                               *lab.argv(['record', '-e', 'cpu-clock', '-o', lab.path('q.data')]),
                               '--exit-with-parent', '--', 'sleep', '600'],
                              text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    lab.children.append(parent)
    recorder = int(parent.stdout.readline())
    wait_for(lambda: os.path.exists(lab.path('q.data')), what='the recording')
    parent.kill()
    parent.wait()
    wait_for(lambda: not alive(recorder), what='the end of the recorder')


def alive(pid):
    try:
        with open(f'/proc/{pid}/stat', encoding='ascii') as f:
            return f.read().rsplit(')', 1)[1].split()[0] != 'Z'
    except (FileNotFoundError, ProcessLookupError):  # before it is opened, or before it is read
        return False


def test_a_user(lab):
    need_root()
    command = subprocess.Popen(['setpriv', '--reuid', '65534', sys.executable, '-c', BUSY.format(20)])
    lab.children.append(command)
    wait_for(lambda: os.stat(f'/proc/{command.pid}').st_uid == 65534, what='the user')
    lab.run('record', '-e', 'cpu-clock', '-o', 'p.data', '-u', '65534', '--duration', '500ms')
    pids = set(lab.run('script', '-i', 'p.data', '-F', 'pid').stdout.split())
    assert pids == {str(command.pid)}, pids
    assert 'there is no user' in lab.run('record', '-u', 'frob', status=1).stderr
    command.kill()
    command.wait()


def cgroup_mount():
    with open('/proc/self/mounts', encoding='utf-8') as f:
        mounts = [line.split() for line in f]
    for _, path, kind, options, *_ in mounts:
        if kind == 'cgroup' and 'perf_event' in options.split(','):
            return path
    for _, path, kind, *_ in mounts:
        if kind == 'cgroup2':
            return path
    raise Skip('no hierarchy of cgroups that perf events use is mounted')


def test_cgroups(lab):
    need_root()
    lab.have_alone('cgroups-of-events')
    groups = [f'{cgroup_mount()}/ringtail-{os.getpid()}-{i}' for i in range(2)]
    commands = []
    try:
        for group in groups:
            try:
                os.mkdir(group)
            except OSError as e:
                raise Skip(f'cannot make a cgroup: {e}') from e
            commands.append(subprocess.Popen(busy(60)))
            lab.children.append(commands[-1])
            with open(group + '/cgroup.procs', 'w', encoding='ascii') as f:
                f.write(str(commands[-1].pid))
        names = [os.path.basename(group) for group in groups]

        def seen(*options):
            lab.run('record', '-a', '-F', '199', '--duration', '1s', '-o', 'p.data', *options)
            lines = lab.run('script', '-i', 'p.data', '-F', 'pid,event').stdout.split('\n')
            return {tuple(line.split()) for line in lines if line}
        a, b = (str(c.pid) for c in commands)
        assert seen('-e', 'cpu-clock', '-G', names[0]) == {(a, 'cpu-clock:')}
        assert seen('-e', 'cpu-clock', '-G', groups[1]) == {(b, 'cpu-clock:')}
        each = {(a, f'cpu-clock@{names[0]}:'), (b, f'cpu-clock@{names[1]}:')}
        assert seen('-e', 'cpu-clock,cpu-clock', '-G', ','.join(names)) == each
        assert seen('-e', 'cpu-clock', '--for-each-cgroup', ','.join(names)) == each
        assert 'there is no cgroup' in lab.run('record', '-a', '-e', 'cpu-clock', '-G', 'frob', status=1).stderr
        assert 'add -a or -C' in lab.run('record', '-e', 'cpu-clock', '-G', names[0], 'true', status=1).stderr
        assert 'give the events first' in lab.run('record', '-a', '-G', names[0], status=2).stderr
    finally:
        for command in commands:
            command.kill()
            command.wait()
        for group in groups:
            if os.path.isdir(group):
                os.rmdir(group)


# A directory of a hierarchy without controllers stands where a cgroup of perf events would.
WITHOUT_PERF_EVENTS = """
mount -t cgroup -o none,name=ringtail-test none "$1" || exit 77
mkdir "$1/group" && mount --bind "$1/group" "$2" || { umount "$1"; exit 77; }
top=$1 group=$2; shift 2
"$@"; status=$?
umount "$group"; rmdir "$top/group"; umount "$top"
exit $status
"""


def test_cgroup_without_perf_events(lab):
    """The cgroup is named, not the event, which the kernel has."""
    need_root()
    need_mount_namespaces()
    group = f'{cgroup_mount()}/ringtail-{os.getpid()}-bare'
    top = lab.path('top')
    os.mkdir(top)
    try:
        os.mkdir(group)
    except OSError as e:
        raise Skip(f'cannot make a cgroup: {e}') from e
    try:
        for event in 'cpu-clock', 'cycles':
            argv = lab.argv(['record', '-a', '-e', event, '-G', os.path.basename(group), 'true'])
            p = subprocess.run(['unshare', '-m', 'sh', '-c', WITHOUT_PERF_EVENTS, 'sh', top, group, *argv], cwd=lab.dir,
                               text=True, stderr=subprocess.PIPE, check=False)
            if p.returncode == 77:
                raise Skip(f'cannot mount a hierarchy of cgroups: {p.stderr}')
            said = f"the kernel has no perf events in cgroup '{os.path.basename(group)}'"
            assert p.returncode == 1 and said in p.stderr, p
    finally:
        os.rmdir(group)


def need_counts_of_threads(lab):
    """Some kernels, 6.1 among them, write no record for a thread that ends. perf's own recording shows it."""
    lab.perf_record('-e', 'task-clock', '-s', '-o', 'theirs.data', '--', 'sh', '-c', 'ls; ls')
    if not count_records(lab, 'READ', 'theirs.data'):
        raise Skip('this kernel writes no counts of threads that end, for perf neither')


def test_counts_of_threads(lab):
    need_counts_of_threads(lab)
    lab.run('record', '-e', 'task-clock', '-s', '-n', '-o', 'p.data', '--', 'sh', '-c', 'ls; ls')
    assert count_records(lab, 'READ') >= 2 and not lab.samples('p.data')
    lab.run('record', '-e', 'task-clock', '-s', '-o', 'p.data', '--', 'sh', '-c', 'ls; ls')
    assert count_records(lab, 'READ') >= 2


def test_synthesized_records(lab):
    def counts(*options):
        lab.run('record', '-e', 'cpu-clock', '-p', os.getpid(), '--duration', '50ms', '-o', 'p.data', *options)
        return [count_records(lab, kind) for kind in ('COMM', 'MMAP2', 'CGROUP')]
    every = counts()
    assert all(every[:2]), every
    assert counts('--synth', 'no') == [0, 0, 0]
    comms, maps, _ = counts('--synth', 'task')
    assert comms and not maps
    lab.run('record', '--synth', 'frob', 'true', status=2)


def test_exclude_perf(lab):
    need_tracefs()
    comms = {}
    for options in [], ['--exclude-perf']:
        lab.run('record', '-a', '-e', 'raw_syscalls:sys_enter', *options, '--duration', '500ms', '-o', 'p.data')
        comms[len(options)] = set(lab.run('script', '-i', 'p.data', '-F', 'comm').stdout.split())
    assert {'ringtail', 'reader-0'} & comms[0], comms[0]
    assert not {'ringtail', 'reader-0', 'writer-0', 'build-ids', 'perf-maps', 'unwind-files'} & comms[1], comms[1]


def test_strict_frequency(lab):
    text = lab.run('record', '-e', 'cpu-clock', '-F', '9999999', '--strict-freq', 'true', status=1).stderr
    assert '--strict-freq' in text, text
    assert 'records at' in lab.run('record', '-e', 'cpu-clock', '-F', '9999999', '-o', 'p.data', 'true').stderr


def test_status_of_the_command(lab):
    p = lab.run('record', '-e', 'task-clock', '-o', 'p.data', '--', 'sh', '-c', 'exit 2', status=2)
    assert 'ended with status 2' in p.stderr and 'recording is complete' in p.stderr
    assert 'recording is complete' not in lab.run('record', '--frob', 'true', status=2).stderr
    lab.run('record', '-e', 'task-clock', '-o', 'p.data', '--no-propagate-status', '--', 'false')


SHOWN = ['--show-mmap-events', '--show-task-events', '--show-switch-events', '--show-lost-events',
         '--show-namespace-events', '--show-cgroup-events', '--show-bpf-events']


def test_records_between_samples(lab):
    """As perf writes them, but for the width of the task's number."""
    need_root()
    lab.run('record', '-e', 'cpu-clock', '--switch-events', '--all-cgroups', '-o', 'p.data', '--', 'sh', '-c', 'ls; ls')
    for options in [SHOWN, *([option] for option in SHOWN)]:
        ours, perfs = (sorted(re.sub(' +', ' ', line) for line in command('script', '-i', 'p.data', *options)
                              .stdout.splitlines()) for command in (lab.run, lab.perf))
        # The comm of what was written for the time before the recording.
        ours, perfs = ([re.sub(r'^.* 0\.000000:', '', line) for line in lines] for lines in (ours, perfs))
        assert ours == perfs, (options, [pair for pair in zip(ours, perfs) if pair[0] != pair[1]][:3])
    every = lab.run('script', '-i', 'p.data', *SHOWN).stdout
    for name in 'MMAP2', 'COMM exec', 'FORK(', 'EXIT(', 'SWITCH', 'NAMESPACES', 'CGROUP':
        assert f'PERF_RECORD_{name}' in every, name
    assert 'PERF_RECORD' not in lab.run('script', '-i', 'p.data').stdout


def test_switched_by_events(lab):
    need_tracefs()
    lab.run('record', '-a', '-e', 'sched:sched_switch,sched:sched_wakeup', '--duration', '300ms', '-o', 'p.data')
    every = len(lab.run('script', '-i', 'p.data').stdout.splitlines())
    for options in (['--switch-on', 'sched:sched_wakeup'], ['--switch-on', 'sched:sched_wakeup', '--switch-off', 'sched:sched_switch'],
                    ['--switch-on', 'sched:sched_wakeup', '--switch-off', 'sched:sched_switch',
                     '--show-on-off-events']):
        ours, perfs = (len(command('script', '-i', 'p.data', '-F', 'event', *options).stdout.splitlines())
                       for command in (lab.run, lab.perf))
        assert abs(ours - perfs) <= 2 and ours < every, (options, ours, perfs, every)
    assert 'no event' in lab.run('report', '-i', 'p.data', '--switch-on', 'frob', status=1).stderr


def test_counts_of_threads_are_shown(lab):
    need_counts_of_threads(lab)
    lab.run('record', '-e', 'task-clock', '-s', '-o', 'p.data', '--', 'sh', '-c', 'ls; ls')
    ours = re.findall(r'^ +(\d+) +(\d+) +(\d+)$', lab.run('report', '-T', '-i', 'p.data').stdout, re.MULTILINE)
    perfs = re.findall(r'^ +(\d+) +(\d+) +(\d+)$', lab.perf('report', '--stdio', '-T', '-i', 'p.data', quiet=False).stdout,
                       re.MULTILINE)
    assert len(ours) >= 2 and sorted(ours) == sorted(perfs), (ours, perfs)
    lab.run('record', '-e', 'task-clock', '-o', 'p.data', '--', 'ls')
    assert "'ringtail record -s'" in lab.run('report', '-T', '-i', 'p.data').stderr


def test_files_of_events_and_ends_of_chains(lab):
    # At the default frequency an emulated CPU comes to nothing else.
    lab.run('record', '-g', '-F', scaled(4000, 500), '-e', 'cpu-clock,task-clock', '-o', 'p.data', '--', *busy(0.2))
    every = lab.run('script', '-i', 'p.data').stdout
    lab.run('script', '-i', 'p.data', '--per-event-dump')
    parts = ''
    for event in 'cpu-clock', 'task-clock':
        with open(lab.path(f'p.data.{event}.dump'), encoding='utf-8') as f:
            parts += f.read()
        assert event in parts
    assert sorted(parts.splitlines()) == sorted(every.splitlines())
    lab.run('record', '-q', '-e', 'cpu-clock', '-e', 'cpu-clock', '-o', 'twice.data', '--', *busy(0.1))
    lab.run('script', '-i', 'twice.data', '--per-event-dump')
    assert all(os.path.getsize(lab.path(f'twice.data.cpu-clock{n}.dump')) for n in ('', '.2'))
    function = re.search(r'^\t +[0-9a-f]+ (\w+)\+', every, re.MULTILINE).group(1)
    ends = lab.run('script', '-i', 'p.data', '-F', 'ip,sym', '--stop-bt', function).stdout
    assert not re.search(rf'{function}\n\t', ends) and len(ends.split()) < len(every.split()), function
    # Of a sample itself, not of one of its callers.
    address = int(re.search(r'^[^\t\n].*\n\t +([0-9a-f]+) ', every, re.MULTILINE).group(1), 16)
    few = lab.run('script', '-i', 'p.data', '-G', '-F', 'ip', '-S', hex(address), '--addr-range', '16').stdout.split()
    assert few and all(address <= int(ip, 16) < address + 16 for ip in few), few


def test_instructions_of_samples(lab):
    """Bytes, length and text of the sampled instruction, from the code that is mapped there."""
    lab.run('record', '-e', 'cpu-clock:u', '-F', '2000', '-o', 'i.data', '--', *busy(0.2))
    lines = lab.run('script', '-i', 'i.data', '-F', 'ip,insn,insnlen,disasm').stdout.splitlines()
    full = [m for m in (re.search(r' ilen: (\d+) insn:((?: [0-9a-f]{2})+)\t\t[a-z]', line) for line in lines) if m]
    assert len(full) > 0.8 * len(lines) > 8, lines[:5]
    assert all(int(m.group(1)) == len(m.group(2).split()) for m in full), lines[:5]
    perf = lab.perf('script', '-i', 'i.data', '-F', 'ip,insn').stdout.splitlines()
    bytes_of = {line.split()[0]: line.partition('insn:')[2].split() for line in perf if 'insn:' in line}
    compared = 0
    for line in lab.run('script', '-i', 'i.data', '-F', 'ip,insn').stdout.splitlines():
        ip, found = line.split()[0], line.partition('insn:')[2].split()
        if found and ip in bytes_of:
            assert bytes_of[ip] == found, line
            compared += 1
    assert compared > 0.8 * len(lines) or not bytes_of and 'x86' not in os.uname().machine, (compared, len(lines))


def test_names_of_scripts_lead_to_exports(lab):
    assert 'report --html' in lab.run('script', 'report', 'flamegraph', status=2).stderr
    assert 'export --to firefox' in lab.run('script', 'report', 'gecko', status=2).stderr


def test_called_as_perf(lab):
    """By that name it takes perf's spelling, pipes without an option too."""
    perf = lab.path('perf')
    os.symlink(lab.argv([])[0], perf)
    command = f"{perf} record -q -F99 -e cpu-clock -ag sleep 0.3 | {perf} report --stdio"
    p = subprocess.run(command, cwd=lab.dir, shell=True, text=True, check=True, stdout=subprocess.PIPE)
    assert "of event 'cpu-clock'" in p.stdout, p.stdout
    assert not os.path.exists(lab.path('perf.data'))
    p = subprocess.run([perf, 'reprot'], text=True, check=False, stderr=subprocess.PIPE)
    assert p.returncode == 2 and "did you mean 'report'" in p.stderr, p.stderr
