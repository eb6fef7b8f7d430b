# SPDX-License-Identifier: Apache-2.0
"""The unit under a real systemd: its recordings within its restrictions, and its behaviour when things go
wrong."""
import hashlib
import os
import re
import shutil

from lab import PATIENCE, need_tracefs, table, wait_for
from machine import Machine

RESTARTS_SOON = 'WatchdogSec=10\nRestartSec=100ms\n'  # longer than a machine may stand still


def wait_for_snapshots(m, number):
    wait_for(lambda: len(m.snapshots()) == number, what=f'{number} snapshots')
    return m.snapshots()


def report(m, name):
    """Returns (comm, dso, symbol) of each row."""
    text = m.run('ringtail', 'report', '-i', name, '--stdio', '-g', 'none', '--no-children').stdout
    return [tuple(row.replace(' [.] ', ' ').replace(' [k] ', ' ').split()[:3]) for _, row in table(text)]


def run_a_program_of_a_user(m, path):
    """Runs a program in a home that only its user may read; afterwards process and file are gone."""
    folder = os.path.dirname(path)
    m.shell(f'mkdir -p {folder}')
    shutil.copy(m.lab.program('short'), f'/proc/{m.first}/root{path}')
    m.shell(f'''chown -R 1000:1000 {folder}
        chmod 700 {folder}
        for i in $(seq 100); do setpriv --reuid=1000 --regid=1000 --clear-groups {path} 5; done''')


def names_of_the_kernel():
    with open('/proc/kallsyms', encoding='utf-8') as f:
        return not f.readline().startswith('0' * 8)


def test_it_records_from_the_start_of_the_machine(lab):
    """An enabled unit records when the machine is up. It names programs that have ended, in a user's home and in
    /tmp, too."""
    with Machine(lab, '-F 1999', 'WatchdogSec=10\n') as m:
        assert m.show('ActiveState') == 'active' and m.show('Result') == 'success', m.journal()
        assert m.run('ringtail', 'ctl', 'ping') and m.run('ringtail', 'ctl', '--pid', m.show('MainPID'), 'ping')
        run_a_program_of_a_user(m, '/home/somebody/bin/homely')
        run_a_program_of_a_user(m, '/tmp/private/passing')
        m.run('systemctl', 'reload', 'ringtail')
        reloaded, = m.snapshots()  # is there when reload says so
        m.run('systemctl', 'kill', '-s', 'USR2', 'ringtail')
        _, signalled = wait_for_snapshots(m, 2)
        m.run('ringtail', 'ctl', 'snapshot', '--reason', 'just so')
        for name in reloaded, signalled, m.snapshots()[2]:
            rows = report(m, f'/var/lib/ringtail/{name}')
            for comm in 'homely', 'passing':
                assert (comm, comm, 'work_0000') in rows, [row for row in rows if row[0] == comm]
            kernel = [row[2] for row in rows if row[1] == '[kernel.kallsyms]']
            assert not names_of_the_kernel() or any(not name.startswith('0x') for name in kernel), kernel
            # Files are the service's own, so copies of them are what perf takes.
            shutil.copy(m.path(name), lab.path(name))
            assert lab.samples(name) == lab.perf_samples(name) > 0
        m.shell('rm -r /home/somebody /tmp/private')
        wait_for(lambda: re.fullmatch(r'memory holds [\d.]+ s, \d+ samples; 3 snapshots', m.show('StatusText')),
                 what='status ' + m.show('StatusText'))
        assert not m.journal('-p', 'warning'), m.journal()


def test_it_leaves_others_alone(lab):
    """Another recording of root has its socket beside the service's, and takes commands when the service is
    gone."""
    with Machine(lab) as m:
        verified = m.run('systemd-analyze', '--man=no', 'verify', 'ringtail.service')
        assert not verified.stdout and not verified.stderr, verified
        other = m.start('ringtail', 'record', '-q', '-e', 'cpu-clock', '-M', '1M', '-o', '/tmp/p.data', '--', 'sleep', '600')
        wait_for(lambda: len(m.shell('ls /run/ringtail').split()) == 2, what='two sockets')
        m.run('ringtail', 'ctl', 'ping', status=1)  # which one?
        m.run('systemctl', 'stop', 'ringtail')
        m.run('ringtail', 'ctl', 'snapshot')
        m.run('ringtail', 'ctl', 'stop')
        assert other.wait(PATIENCE) == 0
        m.run('systemctl', 'start', 'ringtail')
        m.run('env', 'XDG_RUNTIME_DIR=/root', 'ringtail', 'ctl', 'ping')  # as a login has it


def test_options_behind_the_walls(lab):
    """Tries the options that open, read or call something else than a plain recording."""
    need_tracefs()
    options = ("--threads --aio -e cpu-clock -e sched:sched_process_exec/period=1/ --call-graph dwarf "
               "--trigger 'sched:sched_process_exec filename ~ \"*wanted\",after=50ms,reason=it ran' "
               "--trigger 'latency:sched:sched_process_fork..sched:sched_process_exit>1h' "
               "--trigger uprobe:/usr/local/bin/called:work_0000 --trigger load:9999")
    if os.path.exists('/proc/pressure/memory'):
        options += ' --trigger psi:memory:1900/2000'  # of CPUs it would be met on a busy machine
    with Machine(lab, options, programs={'/usr/local/bin/called': lab.program('short')}) as m:
        assert m.show('ActiveState') == 'active', m.journal()
        m.shell('cp /bin/true /tmp/wanted; /tmp/wanted')
        name, = wait_for_snapshots(m, 1)
        header = m.run('ringtail', 'report', '-i', '/var/lib/ringtail/' + name, '--header-only').stdout
        assert 'it ran' in header, header
        said = m.run('ringtail', 'script', '-i', '/var/lib/ringtail/' + name, '-G').stdout
        assert 'filename=/tmp/wanted' in said, said
        m.run('called')
        wait_for_snapshots(m, 2)
        m.run('systemctl', 'stop', 'ringtail')
        assert m.show('Result') == 'success', m.journal()
        # Recording for some seconds only costs more than the unit's --max-cpu, because it begins and ends.
        warning, = [line for line in m.journal('-p', 'warning') if '--max-cpu' not in line or 'was missed' not in line]
        assert '--max-cpu does not change sched:sched_process_exec' in warning, warning


def test_a_wall_too_many(lab):
    """The unit leaves out ProtectKernelTunables=; a user who adds it gets a message about the missing symbols."""
    with Machine(lab, service='ProtectKernelTunables=yes\n') as m:
        assert m.show('ActiveState') == 'active', m.journal()
        assert any("ringtail may not read the addresses of the kernel's symbols" in line for line in m.journal()), m.journal()


def test_the_end(lab):
    """Each sample taken is in a file or counted, and all files are whole."""
    with Machine(lab, '-F 4000') as m:
        for _ in range(3):
            m.run('systemctl', 'reload', 'ringtail')
        m.run('systemctl', 'stop', 'ringtail')
        said = '\n'.join(m.journal())
        assert (m.show('ActiveState'), m.show('Result'), m.show('ExecMainStatus')) == ('inactive', 'success', '0'), said
        taken, written, passed, held = (int(n.replace(',', '')) for n in re.search(
            r'memory: ([\d,]+) samples taken: ([\d,]+) in 3 snapshots, ([\d,]+) evicted, ([\d,]+) left', said).groups())
        assert taken == written + passed + held > 0 and not re.search(r'\blost [1-9]', said), said
        for name in [*m.snapshots(), 'perf.data']:
            shutil.copy(m.path(name), lab.path(name))
            assert (lab.samples(name) > 0) == (name != 'perf.data')
            lab.perf('report', '-i', name, '--stats', quiet=name != 'perf.data')


def sums(m):
    """Returns the sums over all snapshots."""
    result = {}
    for name in m.snapshots():
        with open(m.path(name), 'rb') as f:
            result[name] = hashlib.sha256(f.read()).hexdigest()
    return result


def restarted(m, number, before):
    wait_for(lambda: m.show('NRestarts') == str(number) and m.show('ActiveState') == 'active', what='restart')
    now = sums(m)
    assert before.items() <= now.items(), (before, now)
    m.run('systemctl', 'reload', 'ringtail')
    assert len(m.snapshots()) == len(before) + 1, m.snapshots()
    return sums(m)


def test_it_comes_back(lab):
    """The watchdog restarts a service that hangs; a killed one restarts at once. The written files stay."""
    with Machine(lab, service=RESTARTS_SOON) as m:
        m.run('systemctl', 'reload', 'ringtail')
        before = sums(m)
        assert len(before) == 1
        m.run('kill', '-STOP', m.show('MainPID'))
        before = restarted(m, 1, before)
        assert any('watchdog' in line.lower() for line in m.journal()), m.journal()
        m.run('kill', '-KILL', m.show('MainPID'))
        restarted(m, 2, before)


def test_options_that_are_none(lab):
    """The start fails with ringtail's message, and systemd does not try again and again."""
    with Machine(lab, '--no-such-option', RESTARTS_SOON) as m:
        assert (m.show('ActiveState'), m.show('ExecMainStatus')) == ('failed', '2'), m.journal()
        m.run('systemctl', 'start', 'ringtail', status=1)
        assert any("unrecognized option '--no-such-option'" in line for line in m.journal()), m.journal()
        assert m.show('NRestarts') == '0'
        m.shell("echo RINGTAIL_OPTIONS=\"'-e no:such'\" >/etc/default/ringtail")
        m.run('systemctl', 'start', 'ringtail', status=1)
        assert any("'no:such'" in line for line in m.journal('-p', 'err')), m.journal()


def test_the_disk_is_bounded(lab):
    """Snapshots of earlier runs count; the service leaves other files alone."""
    with Machine(lab, '--switch-max-files 3,all', files={'/var/lib/ringtail/perf.data.2026': 'mine',
                                                         '/var/lib/ringtail/other.2020010101010101': 'mine'}) as m:
        seen = []
        for _ in range(3):
            for _ in range(2):
                m.run('systemctl', 'reload', 'ringtail')
                seen += [name for name in m.snapshots() if name not in seen]
                assert m.snapshots() == seen[-3:], (m.snapshots(), seen)
            m.run('systemctl', 'restart', 'ringtail')
        assert len(seen) == 6 and {'perf.data.2026', 'other.2020010101010101'} < set(os.listdir(m.path()))


def test_a_full_disk(lab):
    """The service reports it, goes on, and does not fill the journal; with room again it writes snapshots
    again."""
    with Machine(lab, '-F 499', RESTARTS_SOON) as m:
        m.run('systemctl', 'stop', 'ringtail')
        m.shell('mount -t tmpfs none /var/lib/ringtail -o size=16m,mode=700')
        fill = 'cat /dev/zero >/var/lib/ringtail/ballast || :'
        m.shell(fill)
        m.run('systemctl', 'start', 'ringtail', status=1)
        assert any('No space left' in line for line in m.journal('-p', 'err')), m.journal()
        m.shell('rm /var/lib/ringtail/ballast')
        wait_for(lambda: m.show('ActiveState') == 'active', what='a start with room')
        m.shell(fill)
        for _ in range(20):
            p = m.run('systemctl', 'reload', 'ringtail', status=None)
            assert p.returncode, 'there was room'
        assert m.show('ActiveState') == 'active'
        wait_for(lambda: '0 snapshots, 20 not written' in m.show('StatusText'), what='status')
        complaints = [line for line in m.journal('-p', 'warning') if 'ringtail gives up this snapshot' in line]
        # Behind the first they become ever more seldom: ten seconds, twenty, forty, and so on.
        assert 1 <= len(complaints) <= 7 and 'No space left' in complaints[0], m.journal()
        m.shell('rm /var/lib/ringtail/ballast')
        m.run('systemctl', 'reload', 'ringtail')
        name, = m.snapshots()
        shutil.copy(m.path(name), lab.path(name))
        assert lab.samples(name) == lab.perf_samples(name) > 0
        m.run('systemctl', 'stop', 'ringtail')
        assert m.show('Result') == 'success', m.journal()
