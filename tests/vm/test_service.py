# SPDX-License-Identifier: GPL-2.0
"""The unit on Debian's kernels with their default settings: perf_event_paranoid 3, and the controllers of
cgroup2."""
import glob
import os
import shutil

from lab import (BUILD, DIR, HERE, Guest, Skip, boot, call, check_perf_counts, kernel, path_of, said,
                 said_all, script)

SYSTEMD = '/lib/systemd'
UNITS = ['basic.target', 'sysinit.target', 'multi-user.target', 'local-fs.target', 'swap.target', 'slices.target',
         'sockets.target', 'paths.target', 'timers.target', 'shutdown.target', 'systemd-journald.service',
         'systemd-journald.socket', 'systemd-journald-dev-log.socket']
# Restarts at once, so that nobody has to wait for it, and as often as it takes until there is memory again.
DROP_IN = '[Unit]\nStartLimitIntervalSec=0\n[Service]\nRestartSec=1\n'


def found(pattern):
    paths = glob.glob(pattern)
    if not paths:
        raise Skip(f'no {pattern} (package systemd)')
    return paths[0]


def initramfs():
    """Contains systemd with the parts that it loads at run time, the unit and its drop-in."""
    out, drop_in = f'{DIR}/amd64/initramfs-systemd', f'{DIR}/amd64/ringtail.conf'
    with open(drop_in, 'w', encoding='utf-8') as f:
        f.write(DROP_IN)
    files = {f'{BUILD}/src/cli/ringtail': '/usr/local/bin/ringtail',
             f'{BUILD}/contrib/ringtail.service': '/usr/local/lib/systemd/system/ringtail.service',
             drop_in: '/etc/systemd/system/ringtail.service.d/test.conf',
             f'{BUILD}/tests/live/short': '/usr/bin/short',
             f'{HERE}/guest/systemd': '/systemd',
             shutil.which('systemctl'): '/usr/bin/systemctl', shutil.which('journalctl'): '/usr/bin/journalctl'}
    # Since version 255 systemd starts services with systemd-executor.
    executor = ['systemd-executor'] if os.path.exists(f'{SYSTEMD}/systemd-executor') else []
    for name in 'systemd', 'systemd-journald', *executor:
        files[found(f'{SYSTEMD}/{name}')] = f'/usr/lib/systemd/{name}'
    for name in 'systemd/libsystemd-shared-*.so', 'systemd/libsystemd-core-*.so', 'libseccomp.so.2', 'libmount.so.1':
        path = found(f'/usr/lib/x86_64-linux-gnu/{name}')
        files[path] = f'/usr/lib/{os.path.basename(path)}'
    for name in UNITS:
        files[found(f'{SYSTEMD}/system/{name}')] = f'/usr/lib/systemd/system/{name}'
    # First what others need.
    p = call([HERE + '/pack', out, *sorted((f'{file}={to}' for file, to in files.items()),
                                           key=lambda pair: '/usr/lib/lib' not in pair)])
    assert p.returncode == 0, p.stderr
    return out


def check_service(version):
    if not shutil.which('systemctl'):
        raise Skip('no systemctl (package systemd)')
    # A systemd that gives up restarts the machine, which ends the guest.
    argv = ('-k', kernel('amd64', version), '-i', initramfs(), '-a', 'rdinit=/systemd systemd.crash_reboot=1')
    g = boot('service-' + version, (argv, ()), script('service'))
    assert isinstance(g, Guest), g
    assert said(g, 'first') == 'systemd' and int(said(g, 'paranoid')) >= 3, g.log
    assert said(g, 'state') == 'active', g.log
    assert said(g, 'memory') == str(512 << 20)
    assert said(g, 'reload') == '0', g.log
    rows = [row.split() for row in said_all(g, 'row')]
    assert ['homely', 'homely', '[.]', 'work_0000'] in rows, rows
    assert any(row[1] == '[kernel.kallsyms]' and not row[3].startswith('0x') for row in rows), rows
    assert said(g, 'restarted') == 'active as before', g.log
    assert said(g, 'end') == 'inactive success', g.log
    assert check_perf_counts(path_of(g, 'snapshot.data')) > 0


def test_service_on_kernel_6_1():
    check_service('6.1')


def test_service_on_kernel_6_12():
    check_service('6.12')
