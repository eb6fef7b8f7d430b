# SPDX-License-Identifier: Apache-2.0
"""A machine whose first process is systemd, with ringtail installed and its unit enabled; see boot-systemd."""
import os
import re
import shlex
import shutil
import signal
import subprocess

from lab import PATIENCE, Skip, need_root, wait_for

HERE = os.path.dirname(os.path.abspath(__file__))
UNIT = '/etc/systemd/system/ringtail.service.d/test.conf'
OPTIONS = '/etc/default/ringtail'


class Machine:
    """`with Machine(lab) as m:` waits until every enabled unit has started or failed."""

    def __init__(self, lab, options=None, service='', files=None, programs=None):
        """`options` are added by /etc/default/ringtail, `service` has lines of a drop-in, `files` is {path: text},
        `programs` is {path: program to copy there}."""
        need_root()
        for program, package in ('setpriv', 'util-linux'), ('systemctl', 'systemd'), ('meson', 'meson'):
            if not shutil.which(program):
                raise Skip(f'no {program} (package {package})')
        self.lab, self.first = lab, None
        self.layer, self.dir = lab.path('layer'), lab.path('machine')
        os.makedirs(self.dir, exist_ok=True)
        self.install()
        files = dict(files or {})
        if options is not None:
            files[OPTIONS] = f'RINGTAIL_OPTIONS={shlex.quote(options)}\n'
        if service:
            files[UNIT] = '[Service]\n' + service
        for path, text in files.items():
            os.makedirs(os.path.dirname(self.layer + path), exist_ok=True)
            with open(self.layer + path, 'w', encoding='utf-8') as f:
                f.write(text)
        for path, program in (programs or {}).items():
            os.makedirs(os.path.dirname(self.layer + path), exist_ok=True)
            shutil.copy(program, self.layer + path)

    def install(self):
        """Installs as `make install` does, and enables the unit as an administrator would."""
        p = subprocess.run(['meson', 'install', '-C', self.lab.release, '--no-rebuild', '--destdir', self.layer],
                           stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                           check=False)
        assert p.returncode == 0, p.stdout
        subprocess.run(['systemctl', '--quiet', f'--root={self.layer}', 'enable', 'ringtail'], check=True,
                       stderr=subprocess.DEVNULL)

    def __enter__(self):
        # It ends with us, whatever ends us. Its output is no pipe, which all that runs there would keep open.
        with open(self.lab.path('console'), 'w', encoding='utf-8') as console:
            self.outside = subprocess.Popen(
                ['setpriv', '--pdeathsig', 'KILL', HERE + '/boot-systemd', self.dir, self.layer],
                stdin=subprocess.DEVNULL, stdout=console, stderr=subprocess.STDOUT)
        self.lab.children.append(self.outside)
        wait_for(self.is_up, what='systemd')
        self.run('systemctl', 'is-system-running', '--wait', status=None)
        return self

    def __exit__(self, *_):
        os.kill(self.first, signal.SIGKILL)
        self.outside.wait(PATIENCE)

    def is_up(self):
        if self.outside.poll() is not None:
            with open(self.lab.path('console'), encoding='utf-8') as f:
                said = f.read().strip()
            if self.outside.returncode == 77:
                raise Skip(said.split('\n')[-1])
            raise AssertionError(f'no systemd: exit {self.outside.returncode}: {said}')
        pid = self.outside.pid
        for _ in range(2):
            with open(f'/proc/{pid}/task/{pid}/children', encoding='utf-8') as f:
                children = f.read().split()
            if len(children) != 1:
                return False
            pid = int(children[0])
        self.first = pid
        return self.run('systemctl', 'show', '-P', 'Version', status=None).returncode == 0

    def argv(self, argv):
        return ['nsenter', '-t', str(self.first), '-m', '-p', '-C', '-u', '-i', '-n', '-r', '-w', 'env', '-i',
                'PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin', 'HOME=/root', 'SYSTEMD_PAGER=',
                'SYSTEMD_COLORS=0', *map(str, argv)]

    def start(self, *argv):
        """Starts a program in the machine, in the background."""
        return self.lab.spawn(*self.argv(argv))

    def run(self, *argv, status=0, timeout=5 * PATIENCE):
        """Runs a program in the machine and checks the exit status (None: any)."""
        p = subprocess.run(self.argv(argv), text=True, errors='replace', stdin=subprocess.DEVNULL,
                           stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=timeout, check=False)
        if status is not None:
            assert p.returncode == status, f'{argv}: exit {p.returncode}: {p.stdout} {p.stderr}'
        return p

    def shell(self, script, **kw):
        return self.run('sh', '-ec', script, **kw).stdout

    def show(self, name):
        """Returns a property of the service."""
        return self.run('systemctl', 'show', '-P', name, 'ringtail').stdout.rstrip('\n')

    def journal(self, *options):
        """Returns each line that the service wrote, and each that systemd wrote about it."""
        self.run('journalctl', '--sync')
        return self.run('journalctl', '-u', 'ringtail', '-o', 'cat', '--no-pager', *options).stdout.splitlines()

    def path(self, name=''):
        """Returns the path of a file of the service as seen from outside."""
        return f'/proc/{self.first}/root/var/lib/ringtail/{name}'

    def snapshots(self):
        return sorted(name for name in os.listdir(self.path()) if re.fullmatch(r'perf\.data\.\d{16}', name))
