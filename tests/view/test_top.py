# SPDX-License-Identifier: Apache-2.0
"""Tests of `ringtail top`, over what this machine does."""
import glob
import json
import os
import re
import subprocess

import lab

SPIN = 'i=0; while :; do i=$((i+1)); done'


class Spinning:
    """A process that uses a CPU."""

    def __enter__(self):
        self.child = subprocess.Popen(['bash', '-c', SPIN])
        return str(self.child.pid)

    def __exit__(self, *_):
        self.child.kill()
        self.child.wait()


def check_rights(bench):
    p = subprocess.run([bench.ringtail, 'record', '-q', '-e', 'cpu-clock', '-o', bench.path('rights.data'), '-p',
                        str(os.getpid()), '--duration', '10ms'], capture_output=True, check=False, timeout=60)
    if p.returncode:
        raise lab.Skipped('this machine allows no recording: ' + p.stderr.decode()[-200:])


def leftovers():
    return set(glob.glob('/dev/shm/ringtail-top.*') + glob.glob('/tmp/ringtail-top.*'))


def test_live_view(bench):
    check_rights(bench)
    before = leftovers()
    with Spinning() as pid, bench.open([bench.ringtail, 'top', '-e', 'cpu-clock', '-F', '200', '-g', '-d', '0.3', '--window',
                                        '5', '-p', pid]) as term:
        term.wait_for('of a CPU')
        lines = term.wait_for(' bash ')

        def samples(lines):
            found = re.search(r'  (\d+) samples', lines[-2])
            return int(found[1]) if found else 0
        first = samples(lines)
        term.wait('more samples', lambda lines: samples(lines) > first + 50)
        term.wait('the window is full', lambda lines: 'last 5 s, ' in lines[0])
        term.press('Home', 'e')
        term.wait('an open chain', lambda lines: any(re.match(r' {4}[-+ ] ', line) for line in lines))
        first = samples(term.lines())
        opened = term.wait('a later table', lambda lines: samples(lines) > first)
        lab.expect('the chain stays open', any(re.match(r' {4}[-+ ] ', line) for line in opened), opened[3:8])
        term.press('Space')
        frozen = term.wait_for('frozen')
        term.press('s')
        said = term.wait_for('ringtail-top.')[-2]
        name = re.search(r'ringtail-top\.\d+\.data', said)[0]
        report = json.loads(subprocess.run([bench.ringtail, 'report', '--json', bench.path(name)], check=True,
                                           capture_output=True).stdout)
        lab.expect('the snapshot is of the process', report['tables'][0]['rows'][0]['comm'] == 'bash')
        # Of later seconds than those, in which the process may have less of a CPU.
        lab.expect('it has the samples of a window', report['stats']['samples'] >= min(samples(frozen), 500) / 10)
        os.makedirs(bench.path('empty'), exist_ok=True)
        named = subprocess.run([bench.ringtail, 'report', '--stdio', '-s', 'symbol', '--symfs', bench.path('empty'), '-k',
                                '/dev/null', '-i', bench.path(name)], check=True, capture_output=True,
                               env=dict(os.environ, HOME=bench.path('empty'), XDG_CACHE_HOME=bench.path('empty')))
        named = named.stdout.decode()
        lab.expect('it carries names', re.search(r'%  \[.\] (?!0x)', named), named)
        for _ in range(3):  # several in a second have different names
            count = len(glob.glob(bench.path('ringtail-top.*.data')))
            term.press('s')
            term.wait('one more file', lambda lines, count=count: len(glob.glob(bench.path('ringtail-top.*.data'))) == count + 1)
        term.press('-')
        term.wait_for('frozen')
        term.press('Space')
        term.wait_for('last 2 s')
        term.wait('fewer samples', lambda lines: 0 < samples(lines) <= 500)
        term.press('f')
        term.wait_for('with their callees below')
        term.press('q', 'q')
        term.wait_for('status=0')
    lab.expect('nothing is left', leftovers() == before, leftovers())


def test_young_window(bench):
    """A recording that is younger than the window says so."""
    check_rights(bench)
    with Spinning() as pid, bench.open([bench.ringtail, 'top', '-e', 'cpu-clock', '-d', '0.3', '--window', '600', '-p', pid]) as term:
        lines = term.wait_for(' bash ')
        lab.expect('the time since the start', re.search(r'last \d+(\.\d)? s of 600 s, ', lines[0]), lines[0])


def test_ends_with_the_process(bench):
    check_rights(bench)
    with Spinning() as pid, bench.open([bench.ringtail, 'top', '-e', 'cpu-clock', '-d', '0.3', '-p', pid]) as term:
        term.wait_for(' bash ')
        os.kill(int(pid), 9)
        term.wait_for('has ended')
        term.press('C-c')
        term.wait_for('status=0')


def test_tables_as_text(bench):
    check_rights(bench)
    with Spinning() as pid:
        p = subprocess.run(['timeout', '-s', 'INT', '10', bench.ringtail, 'top', '--stdio', '-e', 'cpu-clock', '-d', '1', '-n',
                            '-p', pid], capture_output=True, check=False, timeout=60)
    text = p.stdout.decode()
    lab.expect('tables', text.count('# Overhead') >= 2 and ' bash ' in text, text[-300:], p.stderr[-300:])
    lab.expect('no word of the snapshots below them', b'data.' not in p.stderr, p.stderr[-300:])


def test_options_of_perf(bench):
    """They reach the recorder and the table; others are refused with what to use."""
    check_rights(bench)
    with Spinning() as pid:
        p = subprocess.run(['timeout', '-s', 'INT', '4', bench.ringtail, 'top', '--stdio', '-e', 'cpu-clock', '-d', '1', '-z',
                            '-i', '-m', '64', '--no-bpf-event', '--fields', 'sample,comm,overhead', '--comms', 'bash,none',
                            '-w', '20', '-p', pid], capture_output=True, check=False, timeout=60)
        hidden = subprocess.run(['timeout', '-s', 'INT', '3', bench.ringtail, 'top', '--stdio', '-e', 'cpu-clock', '-d', '1',
                                 '--comms', 'none', '-p', pid], capture_output=True, check=False, timeout=60)
    text = p.stdout.decode()
    lab.expect('the columns', re.search(r'^#  {12,}Samples  Command +Overhead', text, re.M), text[-400:], p.stderr[-300:])
    lab.expect('rows of the command', ' bash ' in text, text[-300:])
    lab.expect('no row of another', b'# Overhead' in hidden.stdout and not re.search(rb'% +bash ', hidden.stdout), hidden.stdout[-300:])
    for words, said in ((['-m', 'frob'], '-m'), (['-u', 'no-such-user'], 'no-such-user'), (['-r', '100'], '-r'),
                        (['--fields', 'frob'], 'frob'), (['--children', '--fields', 'comm'], 'choose one'),
                        (['-K'], 'there is no -K, --hide_kernel_symbols: -e cycles:u')):
        p = subprocess.run([bench.ringtail, 'top', '--stdio', *words], capture_output=True, check=False, timeout=60)
        lab.expect('a usage error', p.returncode in (1, 2) and said in p.stderr.decode(), words, p.stderr)


def test_wrong_words_leave_nothing(bench):
    before = leftovers()
    for words in (['-e', 'frob'], ['-F', 'frob'], ['-a', '-p', '1'], ['-s', 'waker'], ['-p', '99999999']):
        p = subprocess.run([bench.ringtail, 'top', '--stdio', *words], capture_output=True, check=False, timeout=60)
        lab.expect('an error', p.returncode in (1, 2) and p.stderr, words, p.returncode)
        lab.expect('nothing is left', leftovers() == before, words, leftovers())


def test_needs_a_terminal(bench):
    p = subprocess.run([bench.ringtail, 'top'], capture_output=True, check=False, timeout=60)
    lab.expect('a usage error', p.returncode == 2 and b'--stdio' in p.stderr, p.stderr)
