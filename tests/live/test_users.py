# SPDX-License-Identifier: Apache-2.0
"""What perf's users type, on real recordings: times of day, several snapshots, all tracepoints."""
import datetime
import glob
import json
import os
import re
import signal
import subprocess
import sys
import time

from lab import Skip, need_mount_namespaces, need_root, need_tracefs, running, scaled, wait_for

BUSY = 'import time\nt = time.time()\nwhile time.time() - t < {}: pass\n'


def busy(seconds):
    return [sys.executable, '-c', BUSY.format(seconds)]


def rows(text):
    return [line for line in text.splitlines() if line.strip()]


def test_times_of_day(lab):
    """A span of times of day has exactly the samples whose time of day lies in it, in each command."""
    lab.run('record', '-q', '-e', 'cpu-clock', '-F', '499', '-k', 'mono', '-o', 'p.data', '--', *busy(1.5), release=True)
    times = [datetime.datetime.strptime(line.strip().rstrip(':'), '%Y-%m-%d %H:%M:%S.%f')
             for line in rows(lab.run('script', '-i', 'p.data', '-F', 'tod', release=True).stdout)]
    if len(times) < 20:
        raise Skip(f'the program got little CPU: {len(times)} samples')
    start, stop = times[len(times) // 4], times[len(times) // 2]
    wanted = sum(start <= t <= stop for t in times)
    for form in '%H:%M:%S.%f', '%Y-%m-%dT%H:%M:%S.%f':
        span = f'{start:{form}},{stop:{form}}'
        shown = rows(lab.run('script', '-i', 'p.data', '-F', 'time', '--time', span, release=True).stdout)
        assert abs(len(shown) - wanted) <= 2, (span, len(shown), wanted)  # digits beyond microseconds
        table = json.loads(lab.run('report', '-i', 'p.data', '--time', span, '--json', '--sort', 'comm', release=True).stdout)
        assert sum(row['samples'] for row in table['tables'][0]['rows']) == len(shown), span
        folded = rows(lab.run('export', '--to', 'folded', '-i', 'p.data', '--time', span, release=True).stdout)
        assert folded and sum(int(line.rsplit(' ', 1)[1]) for line in folded) <= len(times), span
        code = lab.run('annotate', '-i', 'p.data', '--time', span, '-n', release=True, status=None)
        assert 'matches' not in code.stderr, code.stderr
    after = times[-1] + datetime.timedelta(seconds=5)
    for command in ['report'], ['script'], ['annotate'], ['export', '--to', 'folded']:
        said = lab.run(*command, '-i', 'p.data', '--time', f'{after:%H:%M:%S},', release=True, status=None).stderr
        assert f'--time {after:%H:%M:%S},' in said, (command, said)


def test_several_snapshots_at_once(lab):
    """--snapshot A-B has the samples of all of them, each once."""
    child = lab.start('record', '-q', '-e', 'cpu-clock', '-F', '499', '-M', '8M', '-o', 'p.data', '--', *busy(60), release=True)
    running(lab, child)
    for _ in range(4):
        time.sleep(0.3)
        lab.run('ctl', '--pid', child.pid, 'snapshot', release=True)
    child.terminate()
    child.wait(timeout=60)
    listed = lab.run('snapshots', 'p.data', release=True).stdout

    def times(which):
        return rows(lab.run('script', '-i', 'p.data', '-F', 'time', '--ns', '--snapshot', which, release=True).stdout)
    single = [times(str(number)) for number in range(1, 5)]
    assert all(single), listed
    for first, last in (1, 4), (2, 3), (3, 3):
        together = times(f'{first}-{last}')
        every = {t for one in single[first - 1:last] for t in one}
        assert set(together) == every and len(together) == len(every), (first, last, len(together), len(every))
    assert lab.run('report', '-i', 'p.data', '--snapshot', '5-9', release=True, status=None).returncode == 1


def test_switched_off_alone(lab):
    """Samples end at the first one of the event. perf leaves out that sample alone, whatever its manual says."""
    need_tracefs()
    lab.run('record', '-q', '-a', '-e', 'sched:sched_switch,sched:sched_wakeup', '--duration', '300ms', '-o', 'p.data')
    every = rows(lab.run('script', '-i', 'p.data', '-F', 'event').stdout)
    for event in 'sched:sched_switch', 'sched:sched_wakeup':
        before = next(number for number, line in enumerate(every) if event + ':' in line)
        shown = rows(lab.run('script', '-i', 'p.data', '-F', 'event', '--switch-off', event).stdout)
        assert shown == every[:before], (event, len(shown), before)
        shown = rows(lab.run('script', '-i', 'p.data', '-F', 'event', '--switch-off', event, '--show-on-off-events').stdout)
        assert shown == every[:before + 1], (event, len(shown), before)


def frames(text):
    """Returns the frames of `script -F ip,sym,dso` by line, as name, file and offset in it; None for other lines."""
    found = [re.match(r'\s+[0-9a-f]+ (.*) \((.*?)(?:\+0x([0-9a-f]+))?\)$', line) for line in text.splitlines()]
    return [match and (re.sub(r'\S*@plt$', '@plt', match[1]), match[2], match[3]) for match in found]


def in_plt_got(file, offset):
    """Returns whether an offset in a file lies in its section .plt.got."""
    text = subprocess.run(['readelf', '--wide', '--sections', file], check=True, text=True, stdout=subprocess.PIPE).stdout
    section = re.search(r' \.plt\.got +PROGBITS +[0-9a-f]+ ([0-9a-f]+) ([0-9a-f]+) ', text)
    return section is not None and 0 <= int(offset, 16) - int(section[1], 16) < int(section[2], 16)


def test_chains_end_where_those_of_perf_do(lab):
    """Names, files and ends of chains are those of perf. Of entries of a PLT perf 6.1 knows no names: it writes "@plt",
    which counts as the name of all of them; and [unknown] for those in .plt.got, which perf 7.2 knows."""
    lab.run('record', '-q', '-g', '-F', scaled(4000, 500), '-e', 'cpu-clock', '-o', 'p.data', '--', *busy(0.3), release=True)

    def shown(*options):
        command = ['script', '-i', 'p.data', '--no-inline', *options, '-F']
        mine = frames(lab.run(*command, 'ip,sym,dso,dsoff', release=True).stdout)
        perfs = frames(lab.perf(*command, 'ip,sym,dso').stdout)
        assert len(mine) == len(perfs) and any(mine), (options, len(mine), len(perfs))
        for ours, theirs in zip(mine, perfs):
            if (ours and ours[:2]) != (theirs and theirs[:2]):
                assert ours[0] == '@plt' and theirs[:2] == ('[unknown]', ours[1]) and in_plt_got(*ours[1:]), \
                    (options, ours, theirs)
        return mine
    names = sorted({frame[0] for frame in shown() if frame and '@' not in frame[0]} - {'[unknown]'})
    for name in names[::max(1, len(names) // 6)]:
        shown('--stop-bt', name)


def test_what_a_dry_run_checks(lab):
    need_root()
    said = lab.run('record', '--dry-run', '-a', '-e', 'cpu-clock', '-G', 'no/such/cgroup', status=1).stderr
    assert "there is no cgroup 'no/such/cgroup'" in said, said
    lines = lab.run('record', '--dry-run', '-v', '-b', '-e', 'cpu-clock/branch_type=no/', '-e', 'cpu-clock', '--', 'true') \
        .stdout.splitlines()
    assert 'branch_sample_type' not in lines[0] and 'branch_sample_type = ANY' in lines[1], lines


def test_formats_of_all_tracepoints_are_parsed(lab):
    """list -v names the fields that each format of the running kernel has."""
    need_root()
    need_tracefs()
    events = json.loads(lab.run('list', '--json', 'tracepoint', release=True).stdout)['events']
    fields = {event['name']: event for event in events}
    root = next(path for path in ('/sys/kernel/tracing', '/sys/kernel/debug/tracing') if os.path.isdir(path + '/events/sched'))
    count = 0
    for path in glob.glob(root + '/events/*/*/format'):
        name = ':'.join(path.split('/')[-3:-1])
        if not os.path.exists(os.path.dirname(path) + '/id'):
            continue  # it cannot be opened
        with open(path, encoding='utf-8') as f:
            text = f.read()
        wanted = re.findall(r'^\tfield:(.*?);', text, re.MULTILINE)
        assert name in fields, name
        found = json.dumps(fields[name])
        missing = [field for field in wanted if not field.split()[-1].split('[')[0].strip('*') in found]
        assert not [field for field in missing if 'common_' not in field], (name, missing)
        count += 1
    assert count > 500, count


def test_all_tracepoints_at_once(lab):
    """'*:*' of a modest load for some seconds ($TRACEPOINT_SECONDS) is recorded, and its samples are shown, without an error."""
    need_root()
    need_tracefs()
    seconds = float(os.environ.get('TRACEPOINT_SECONDS', '2'))
    load = f'end=$(($(date +%s) + {int(seconds) or 1})); while [ $(date +%s) -lt $end ]; do ls / >/dev/null; sleep 0.1; done'
    p = lab.run('record', '-e', '*:*', '-o', 'p.data', '--', 'sh', '-c', load, release=True, timeout=900)
    assert ' 0 lost' in p.stderr, p.stderr
    shown = lab.run('script', '-i', 'p.data', '--ns', release=True)
    assert not shown.stderr, shown.stderr
    lines = rows(shown.stdout)
    kinds = {match[1] for match in (re.search(r'\d:\s+(\S+?:\S+?):', line) for line in lines) if match}
    assert len(lines) > 1000 and len(kinds) > 20, (len(lines), len(kinds))
    assert 'ftrace:function' not in kinds
    assert not [line for line in lines if 'FAILED TO PARSE' in line or '[unknown format]' in line]


IN_VERSION_1 = '''
mount=$1; mkdir -p "$1" && mount -t cgroup -o perf_event none "$1" || exit 77
mkdir "$1/inside"
sh -c 'echo $$ >"$0/inside/cgroup.procs"; exec "$@"' "$1" "$2" -c "$3" & load=$!
shift 3
"$@"
status=$?
kill $load; wait $load
rmdir "$mount/inside"
exit $status
'''


def hierarchy():
    """Returns the number of the hierarchy that perf_event is in; 0 is that of version 2."""
    with open('/proc/cgroups', encoding='ascii') as f:
        return next(int(line.split()[1]) for line in f if line.startswith('perf_event\t'))


def give_back(mount):
    """
    Once mounted, perf_event stays in version 1 while a cgroup there is being removed, and no mount is left to see it: then
    another mount and its end give it back. A hierarchy takes a while to go, and mounting it keeps it.
    """
    def is_back():
        until = time.monotonic() + 3
        while hierarchy() and time.monotonic() < until:
            time.sleep(0.05)
        if hierarchy():
            subprocess.run(['mount', '-t', 'cgroup', '-o', 'perf_event', 'none', mount], check=True)
            subprocess.run(['umount', mount], check=True)
        return not hierarchy()
    wait_for(is_back, what='perf_event in version 2')


def test_a_cgroup_of_version_1(lab):
    """-G finds the hierarchy of perf_event, in a mount namespace of its own, and records its tasks alone."""
    need_root()
    need_mount_namespaces()
    lab.have_alone('cgroups-of-events')  # a mount takes them from version 2, for all
    mount = lab.path('v1')
    argv = lab.argv(['record', '-q', '-a', '-e', 'cpu-clock', '-F', '199', '-G', 'inside', '--duration', '500ms', '-o', 'p.data'],
                    release=True)
    if hierarchy():
        raise Skip('perf_event is in a hierarchy of version 1 that is not of this test')
    p = subprocess.run(['unshare', '--mount', 'sh', '-c', IN_VERSION_1, 'sh', mount,
                        sys.executable, BUSY.format(60), *argv], cwd=lab.dir, capture_output=True, text=True, check=False)
    give_back(mount)
    if p.returncode == 77:
        raise Skip(f'the kernel mounts no hierarchy of version 1: {p.stderr.strip()[-100:]}')
    assert p.returncode == 0, p.stderr
    lines = {tuple(line.split()) for line in rows(lab.run('script', '-i', 'p.data', '-F', 'comm,event', release=True).stdout)}
    assert lines == {(os.path.basename(sys.executable)[:15], 'cpu-clock:')}, lines


def test_a_cgroup_of_version_1_elsewhere(lab):
    """-G says what to mount if the hierarchy of perf_event is mounted in another mount namespace alone."""
    need_root()
    need_mount_namespaces()
    lab.have_alone('cgroups-of-events')
    mount = lab.path('v1')
    os.mkdir(mount)
    if hierarchy():
        raise Skip('perf_event is in a hierarchy of version 1 that is not of this test')
    holder = lab.spawn('unshare', '--mount', 'sh', '-c', 'mount -t cgroup -o perf_event none "$0" && exec sleep 600', mount)
    try:
        wait_for(lambda: hierarchy() or holder.poll() is not None, what='perf_event in version 1')
        if not hierarchy():
            raise Skip('the kernel mounts no hierarchy of version 1')
        said = lab.run('record', '-a', '-e', 'cpu-clock', '-G', '/', '-o', 'p.data', '--duration', '100ms', status=1).stderr
        assert "'mount -t cgroup -o perf_event none DIRECTORY'" in said, said
    finally:
        holder.kill()
        holder.wait()
        give_back(mount)


def test_groups_of_software_events(lab):
    """:S samples the whole group with its leader; :W keeps a group that fits."""
    lab.run('record', '-q', '-e', '{task-clock,page-faults}:S', '-c', '1000000', '-o', 's.data', '--', sys.executable, '-c',
            'for i in range(100): b"x" * (10**7 + i)', release=True)

    def counts(text):
        return [int(count) for count in re.findall(r'^# Event count \(approx\.\): (\d+)', text, re.MULTILINE)]
    ours = counts(lab.run('report', '-i', 's.data', '-g', 'none', release=True).stdout)
    perfs = counts(lab.perf('report', '--stdio', '-i', 's.data', quiet=False).stdout)
    assert len(ours) == 2 and min(ours) > 100, ours
    assert sum(ours) == sum(perfs), (ours, perfs)  # perf shows one table, which has both
    lab.run('record', '-q', '-e', '{task-clock,page-faults}:W', '-o', 'w.data', '--', *busy(0.2), release=True)
    assert '{task-clock,page-faults}' in lab.run('evlist', '-g', 'w.data', release=True).stdout


def test_filters_of_several_events(lab):
    """Each --filter is of the events of the -e before it; two of one event must both hold."""
    need_root()
    need_tracefs()
    lab.run('record', '-q', '-e', 'syscalls:sys_enter_write', '--filter', 'fd == 1', '--filter', 'count > 3', '-e',
            'syscalls:sys_enter_close', '--filter', 'fd == 999', '-o', 'p.data', '--', 'sh', '-c',
            'echo; echo long; exec 9>/dev/null 9>&-', release=True)
    lines = rows(lab.run('script', '-i', 'p.data', '-F', 'event,trace', release=True).stdout)
    assert [line.split()[0] for line in lines] == ['syscalls:sys_enter_write:'] and 'count: 0x00000005' in lines[0], lines
    said = lab.run('record', '--filter', 'fd == 1', '-e', 'cpu-clock', 'true', status=2).stderr
    assert '--filter' in said, said


def test_a_process_that_waits_all_the_time(lab):
    """--off-cpu has no sample of it, because it is never switched, and says so; other events have none either."""
    need_root()
    need_tracefs()
    sleeper = lab.spawn('sleep', '600')
    wait_for(lambda: open(f'/proc/{sleeper.pid}/stat', encoding='utf-8').read().split()[2] == 'S', what='a sleeping process')
    said = lab.run('record', '-p', str(sleeper.pid), '--duration', '200ms', '-o', 'p.data').stderr
    assert f'process {sleeper.pid} had no event in that time; if it waits, --off-cpu records for what' in said, said
    # One that is gone when the recorder looks still has its number.
    recorder = lab.start('record', '-e', 'page-faults', '-p', str(sleeper.pid), '-o', 'gone.data')
    wait_for(lambda: os.path.exists(lab.path('gone.data')), what='a recording')
    time.sleep(0.5)
    recorder.send_signal(signal.SIGSTOP)
    sleeper.kill()
    sleeper.wait()
    recorder.send_signal(signal.SIGCONT)
    said = recorder.communicate(timeout=60)[1]
    assert f'process {sleeper.pid} ended, and had no event until then' in said, said
    sleeper = lab.spawn('sleep', '600')
    wait_for(lambda: open(f'/proc/{sleeper.pid}/stat', encoding='utf-8').read().split()[2] == 'S', what='a sleeping process')
    said = lab.run('record', '--off-cpu', '-i', '-p', str(sleeper.pid), '--duration', '200ms', '-o', 'p.data', release=True).stderr
    if ' 0 samples' not in said:
        raise Skip(f'the process was switched: {said}')
    assert f"'cat /proc/{sleeper.pid}/stack' shows where it waits" in said, said


def test_user_overrides_the_whole_system(lab):
    """As with perf, -u counts beside -a, in either order, with a line that says so."""
    for words in ['-a', '-u', str(os.getuid())], ['-u', str(os.getuid()), '-a']:
        said = lab.run('record', '--dry-run', '-e', 'cpu-clock', *words).stderr
        assert '-a has no effect' in said, said
    said = lab.run('record', '--dry-run', '-e', 'cpu-clock', '-a', '-p', str(os.getpid()), status=2).stderr
    assert 'choose one' in said, said


def test_command_beside_a_user(lab):
    """As with perf 6.1, -u's processes are recorded while the command runs; a line says that it is not recorded."""
    user = ['-e', 'cpu-clock', '-F', '99', '-o', 'p.data', '-u', str(os.getuid())]
    load = lab.spawn(sys.executable, '-c', 'while True: pass')
    said = lab.run('record', *user, '--', sys.executable, '-c', 'import os; print(os.getpid()); sum(range(30000000))')
    assert ' ends; to record that itself, leave out -u' in said.stderr, said.stderr
    pids = set(lab.run('script', '-i', 'p.data', '-F', 'pid').stdout.split())
    assert str(load.pid) in pids and said.stdout.strip() not in pids, (said.stdout, pids)
    for words in (['-q', *user, '--', 'true'], [*user, '--duration', '100ms']):
        assert 'leave out -u' not in lab.run('record', *words).stderr


def test_list_without_probes(lab):
    """A kind of events that has none here is said in a line."""
    p = lab.run('list', 'uprobe', status=None)
    assert p.stdout or len(p.stderr.splitlines()) == 1, (p.stdout, p.stderr)
