# SPDX-License-Identifier: Apache-2.0
"""What `list` prints of this machine is what perf prints, and can be recorded."""
import contextlib
import fcntl
import glob
import json
import os
import pty
import re
import shutil
import signal
import struct
import subprocess
import termios

from lab import NOBODY, Skip, need_root, need_tracefs, wait_for


def test_list_has_the_tracepoints_that_perf_has(lab):
    """The names of tracepoints are perf's; files of tracefs are not among them."""
    need_tracefs()
    names = lab.run('list', '--raw-dump', 'tracepoint', release=True).stdout.split()
    by_perf = re.findall(r'^  (\S+:\S+) +\[Tracepoint event\]', lab.perf('list', 'tracepoint', quiet=False).stdout, re.M)
    assert sorted(names) == sorted(by_perf), set(names) ^ set(by_perf)
    assert len(names) > 100


def test_each_listed_software_event_can_be_recorded(lab):
    """Each name and each alias of software events and of PMUs' events opens, or the kernel forbids its samples."""
    need_root()
    events = json.loads(lab.run('list', '--json', 'sw', 'hw', 'cache', release=True).stdout)['events']
    assert len(events) >= 10
    for event in events:
        for name in event['name'], event.get('alias'):
            if name:
                lab.run('record', '-o', 'l.data', '-e', name, '-c', '100000', '--', 'true', release=True)
                assert name in lab.run('evlist', 'l.data', release=True).stdout


def test_list_writes_a_file(lab):
    """-j -o FILE, as perf's users type it; a link is not followed."""
    lab.run('list', '-j', '-o', 'l.json', 'sw', release=True)
    with open(lab.path('l.json'), encoding='utf-8') as f:
        assert json.load(f) == json.loads(lab.run('list', '--json', 'sw', release=True).stdout)
    assert os.stat(lab.path('l.json')).st_mode & 0o777 == 0o600
    os.symlink('l.json', lab.path('link'))
    assert 'link: ' in lab.run('list', '-o', 'link', 'sw', release=True, status=1).stderr
    assert lab.run('list', '-o', 'nowhere/x', 'sw', release=True, status=1).stderr == \
        'ringtail: nowhere/x: No such file or directory\n'


def test_list_names_the_fields_of_a_tracepoint(lab):
    """-v prints the fields that a filter takes."""
    need_tracefs()
    said = lab.run('list', '-v', 'sched:sched_switch', release=True).stdout
    assert 'prev_comm: char prev_comm[16];prev_pid: pid_t prev_pid' in said, said
    assert lab.run('list', 'sched_swich', release=True, status=1).stderr == \
        "ringtail: no event matches 'sched_swich'; did you mean 'sched:sched_switch'?\n"


def test_list_says_what_the_machine_does_not_count(lab):
    """A known event that no counter here counts is not misspelt; who finds a name hears nothing of tracepoints."""
    p = lab.run('list', 'cycles', release=True, status=None)
    if p.returncode:
        assert "no counter of this machine counts 'cycles'" in p.stderr and 'did you mean' not in p.stderr, p.stderr
    p = lab.run('list', 'page', release=True, user=NOBODY)
    assert 'page-faults' in p.stdout and not p.stderr, p
    if os.geteuid() == 0:
        p = lab.run('list', 'sched_switch', release=True, user=NOBODY, status=None)
        assert not p.returncode or 'ringtail: tracepoints are not listed: ' in p.stderr, p.stderr
        assert '*:*' not in p.stderr, p.stderr


def test_doctor_says_what_can_be_recorded(lab):
    """What doctor calls possible is: root records; another user has limits, each with a remedy."""
    found = json.loads(lab.run('doctor', '--json', release=True).stdout)
    assert found['recording_possible'] and len(found['checks']) >= 13
    for check in found['checks']:
        assert check['found'] and bool(check['cost']) == bool(check['mend']) == (check['state'] != 'fine'), check
    p = lab.run('doctor', '--json', release=True, user=NOBODY, status=None)
    found = json.loads(p.stdout)
    assert p.returncode == (0 if found['recording_possible'] else 1)
    states = {check['about']: check['state'] for check in found['checks']}
    assert states['capabilities'] == 'limited', states


def test_doctor_takes_the_command_of_a_record_line(lab):
    """'doctor record -e X -- COMMAND' tries the command; options alone are refused with the right line."""
    p = lab.run('doctor', 'record', '-e', 'cycles', '-g', '--', 'sleep', '0.1', release=True)
    assert 'doctor makes a recording of its own, and leaves out the options of record' in p.stderr, p.stderr
    assert [line for line in p.stdout.splitlines() if line.startswith('samples ')], p.stdout
    p = lab.run('doctor', 'record', 'sleep', '0.1', release=True)
    assert 'leaves out' not in p.stderr and 'samples ' in p.stdout, p
    for words in ['record'], ['record', '-p', '1'], ['record', '-e', 'cycles', '--']:
        assert "without options of record: 'ringtail doctor -- COMMAND'" in lab.run('doctor', *words, status=2).stderr
    os.symlink('/bin/true', lab.path('record'))
    p = lab.run('doctor', 'record', 'x', '--', 'y', release=True, env={**os.environ, 'PATH': lab.dir})
    assert 'leaves out' not in p.stderr, p.stderr


def doctor(lab, *command, **options):
    """{about: check} of a trial; several files of debug info count as the first."""
    found = {}
    for check in json.loads(lab.run('doctor', '--json', '--', *command, release=True, **options).stdout)['checks']:
        found.setdefault(check['about'], check)
        assert check['found'] and bool(check['cost']) == bool(check['mend']) == (check['state'] != 'fine'), check
    return found


def test_doctor_tries_a_command(lab):
    """Frame pointers, names and lines are found as the program was built; the command's output is not doctor's."""
    source = lab.path('work.c')
    with open(source, 'w', encoding='utf-8') as f:
        f.write('volatile double x; '
                '__attribute__((noinline)) double inner(int n) { for (int i = 0; i < n; i++) x += i * x; return x; } '
                '__attribute__((noinline)) double outer(int n) { return inner(n) + 1; } '
                'int main(void) { for (;;) x = outer(100000); }')
    for flags, state, choice in (['-fno-omit-frame-pointer', '-g'], 'fine', '-g'), (['-fomit-frame-pointer', '-s'], 'limited',
                                                                                    '--call-graph dwarf'):
        subprocess.run(['gcc', '-O2', *flags, '-o', lab.path('work'), source], check=True)
        found = doctor(lab, lab.path('work'))
        if found['samples']['state'] != 'fine':
            raise Skip(f"the program got little CPU: {found['samples']['found']}")
        assert found['frame pointers']['state'] == state, found
        assert found['call-graph']['state'] == 'fine', found
        assert f'take: ringtail record {choice} -- ' in found['call-graph']['found'], found
        assert found['debug info']['state'] == state and found['names']['state'] == state, found
    assert 'do not strip' in found['debug info']['mend'], found
    text = lab.run('doctor', '-q', 'sh', '-c', 'echo $((3 * 14)); exit 3', release=True, env={**os.environ, 'TMPDIR': lab.path('.')})
    assert text.stderr == '42\n' and '42' not in text.stdout, text
    assert text.stdout.startswith('samples') and '--off-cpu' in text.stdout, text.stdout
    assert 'frob' in lab.run('doctor', 'frob', release=True, status=1).stderr
    assert not [name for name in os.listdir(lab.path('.')) if name.startswith('ringtail-doctor.')]


def test_doctor_is_told_to_end(lab):
    """A signal ends the trial, its command and the program, which leaves no files behind."""
    for number in signal.SIGTERM, signal.SIGHUP, signal.SIGINT:
        os.mkdir(lab.path('trial'))
        child = lab.start('doctor', 'sleep', '100.5', release=True, env={**os.environ, 'TMPDIR': lab.path('trial')})
        wait_for(lambda: glob.glob(lab.path('trial/*/data')), what='the recording of a trial')
        (os.killpg if number == signal.SIGINT else os.kill)(child.pid, number)
        # Ctrl-C, which all processes of a terminal get, ends the trial early: what was recorded is judged.
        assert (child.wait(timeout=60) == -number) == (number != signal.SIGINT), (number, child.returncode)
        assert not os.listdir(lab.path('trial')), number
        os.rmdir(lab.path('trial'))


def test_doctor_knows_runtimes(lab):
    """Python and Node.js without and with the options that name their functions."""
    loop = 'function f(n) { let s = 0; for (let i = 0; i < n; i++) s += i % 7; return s } for (;;) f(1e6)'
    tried = 0
    if shutil.which('node'):
        for options, state in ([], 'limited'), (['--perf-basic-prof', '--interpreted-frames-native-stack'], 'fine'):
            found = doctor(lab, 'node', *options, '-e', loop)['Node.js']
            assert found['state'] == state and (state == 'fine' or '--perf-basic-prof' in found['mend']), found
        tried += 1
    python = shutil.which('python3', path='/usr/bin:/bin')
    if python:
        found = doctor(lab, python, '-c', 'def f():\n  while True: pass\nf()')['Python']
        assert found['state'] == 'limited' and 'PYTHONPERFSUPPORT=1' in found['mend'], found
        tried += 1
    if not tried:
        raise Skip('neither Node.js nor Python is installed')


def on_terminal(lab, columns, *args):
    """Returns what ringtail prints on a terminal of that width."""
    lead, end = pty.openpty()
    fcntl.ioctl(end, termios.TIOCSWINSZ, struct.pack('HHHH', 24, columns, 0, 0))
    text = b''
    with subprocess.Popen(lab.argv(args, False, None), cwd=lab.dir, stdin=subprocess.DEVNULL, stdout=end, stderr=end):
        os.close(end)
        with contextlib.suppress(OSError):  # EIO: nobody has the terminal open any more
            while part := os.read(lead, 65536):
                text += part
    os.close(lead)
    return text.decode().replace('\r', '')


def test_help_fits_a_narrow_terminal(lab):
    """Lines of --help end before the edge, but for words longer than a column; the command sees no trace of it."""
    for columns in 50, 60, 70:
        lines = on_terminal(lab, columns, 'report', '--help').splitlines()
        long = [line for line in lines if len(line) > columns and ' ' in line.strip()]
        assert len(lines) > 100 and len(long) < len(lines) / 50, long
        broken = [line for line in lines[5:-5] if line and line[0] != ' ' and not line.startswith(('Mandatory', 'Report'))]
        assert not broken, broken
    said = on_terminal(lab, 50, 'record', '-q', '-o', 'p.data', '--', 'sh', '-c', 'echo "[$ARGP_HELP_FMT]"')
    assert '[]' in said, said
