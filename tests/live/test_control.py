# SPDX-License-Identifier: Apache-2.0
"""Commands to a running recording: --control, -D -1 and ringtail ctl."""
import json
import os
import pwd
import re
import shutil
import stat as stat_
import subprocess
import threading
import time

from lab import NOBODY, PATIENCE, Skip, cpu_time, ended, interrupt, need_root, need_tracefs, running, wait_for

ACK = b'ack\n\0'
PAGE = os.path.join(os.path.dirname(os.path.abspath(__file__)), '../../man/ringtail-ctl.1.scd')


class Pipes:
    """The controller's ends of fd:N,M. They close the recorder's ends in this process."""

    def __init__(self):
        self.theirs_in, self.to = os.pipe()
        self.answers, self.theirs_out = os.pipe()

    @property
    def option(self):
        return f'fd:{self.theirs_in},{self.theirs_out}'

    @property
    def inherited(self):
        return self.theirs_in, self.theirs_out

    def ask(self, command):
        os.write(self.to, command.encode())
        answer = b''
        while not answer.endswith(b'\0'):
            piece = os.read(self.answers, 4096)
            assert piece, 'the recording ended'
            answer += piece
        return answer

    def close(self):
        for fd in (*self.inherited, self.to, self.answers):
            try:
                os.close(fd)
            except OSError:
                pass


def storm_samples(lab):
    need_tracefs()
    number = subprocess.run([lab.program('storm'), '--syscall'], stdout=subprocess.PIPE, text=True,
                            check=True).stdout.strip()
    comm = os.path.basename(lab.own('storm'))
    return ['-e', 'raw_syscalls:sys_enter', '--filter', f'id == {number} && comm == "{comm}"', '-c', '1']


def storm(lab, calls):
    subprocess.run([lab.own('storm'), str(calls)], check=True)


def ctl(lab, child, *command, status=0):
    return lab.run('ctl', '--pid', child.pid, *command, status=status)


def check_only_while_enabled(lab, *options):
    """Records three storms, of which only the second is between enable and disable: its calls are the samples."""
    pipes = Pipes()
    child = lab.start('record', '-o', 'p.data', '-a', *storm_samples(lab), '-D', '-1', '--control',
                      pipes.option, *options, '--', 'sleep', '600', pass_fds=pipes.inherited)
    try:
        assert pipes.ask('ping\n') == ACK
        storm(lab, 1000)
        assert pipes.ask('enable\n') == ACK
        storm(lab, 2345)
        assert pipes.ask('disable\n') == ACK
        storm(lab, 1000)
        assert pipes.ask('enable raw_syscalls:sys_enter\n') == ACK
        storm(lab, 55)
        assert pipes.ask('disable raw_syscalls:sys_enter\n') == ACK
        storm(lab, 1000)
        assert pipes.ask('stop\n') == ACK
        _, _, err = ended(child)
    finally:
        pipes.close()
    assert child.returncode == 0, err
    assert lab.samples('p.data') == 2400, err
    assert lab.perf_samples('p.data') == 2400


def test_samples_only_while_enabled(lab):
    check_only_while_enabled(lab)


def test_samples_only_while_enabled_with_threads(lab):
    check_only_while_enabled(lab, '--threads')


def test_samples_only_while_enabled_with_aio_and_compression(lab):
    check_only_while_enabled(lab, '--aio', '-z')


# What perf-record(1) shows for --control=fd, with shorter times.
RECIPE = r'''
set -e
ctl_fifo=perf_ctl.fifo
mkfifo ${ctl_fifo}
exec {ctl_fd}<>${ctl_fifo}
ctl_ack_fifo=perf_ctl_ack.fifo
mkfifo ${ctl_ack_fifo}
exec {ctl_fd_ack}<>${ctl_ack_fifo}
"$@" --control OPTION -- sleep 600 &
perf_pid=$!
sleep 0.5 && echo 'enable' >&${ctl_fd} && read -t 60 -u ${ctl_fd_ack} e1 && echo "enabled(${e1})"
sleep 1 && echo 'disable' >&${ctl_fd} && read -t 60 -u ${ctl_fd_ack} d1 && echo "disabled(${d1})"
echo 'stop' >&${ctl_fd} && read -t 60 -u ${ctl_fd_ack} s1 && echo "stopped(${s1})"
exec {ctl_fd_ack}>&-
exec {ctl_fd}>&-
wait -n ${perf_pid}
exit $?
'''


def run_recipe(lab, option):
    need_root()
    argv = lab.argv(['record', '-D', '-1', '-e', 'cpu-clock', '-a', '-o', 'p.data'])
    p = subprocess.run(['bash', '-c', RECIPE.replace('OPTION', option), 'bash', *argv], cwd=lab.dir,
                       text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=5 * PATIENCE,
                       check=False)
    assert p.returncode == 0, p.stderr
    assert p.stdout == 'enabled(ack)\ndisabled(ack)\nstopped(ack)\n', (p.stdout, p.stderr)
    samples = lab.samples('p.data')
    assert samples > 0, p.stderr
    assert lab.perf_samples('p.data') == samples


def test_recipe_of_perf_with_descriptors(lab):
    run_recipe(lab, 'fd:${ctl_fd},${ctl_fd_ack}')


def test_recipe_of_perf_with_fifos(lab):
    run_recipe(lab, 'fifo:${ctl_fifo},${ctl_ack_fifo}')
    assert stat_.S_IMODE(os.stat(lab.path('perf_ctl.fifo')).st_mode) == 0o600


def test_the_command_itself_commands(lab):
    """Recorded programs enable their own recording through inherited descriptors."""
    os.mkfifo(lab.path('c'))
    os.mkfifo(lab.path('a'))
    script = ('echo enable >&8; read -u 9 a; for i in $(seq 200000); do :; done; '
              'echo disable >&8; read -u 9 b; echo "$a $b"')
    argv = lab.argv(['record', '-o', 'p.data', '-D', '-1', '-e', 'cpu-clock', '--control', 'fd:8,9'])
    p = subprocess.run(['bash', '-c', 'exec 8<>c 9<>a; exec "$@"', 'bash', *argv, '--', 'bash', '-c',
                        script], cwd=lab.dir, text=True, stdout=subprocess.PIPE,
                       stderr=subprocess.PIPE, timeout=5 * PATIENCE, check=False)
    assert p.returncode == 0 and p.stdout == 'ack ack\n', (p.stdout, p.stderr)
    assert lab.samples('p.data') > 50, p.stderr


def test_every_command_is_answered(lab):
    pipes = Pipes()
    child = lab.start('record', '-o', 'p.data', '-e', 'cpu-clock,{page-faults,context-switches}',
                      '--control', pipes.option, '--', 'sleep', '600', pass_fds=pipes.inherited)
    try:
        assert pipes.ask('ping\n') == ACK
        assert pipes.ask('enable page-faults\n') == ACK
        answer = pipes.ask('disable cycles\n').decode()
        assert re.fullmatch(r"error: no event 'cycles'; there is: cpu-clock\S*, page-faults\S*, "
                            r'context-switches\S*\n\0', answer), answer
        for command in 'snapshot', 'rotate', 'enabled', 'stop it', 'x' * 5000:
            answer = pipes.ask(command + '\n')
            assert answer.startswith(b'error: ') and answer.endswith(b'\n\0'), answer
        assert pipes.ask('evlist -g\n') == ACK
        answer = pipes.ask('stats -j\n')
        assert answer.endswith(ACK), answer
        stats = json.loads(answer[:-len(ACK)])
        assert stats['events'] == 3 and stats['enabled'] == 3 and stats['threads'] == 1, stats
        os.write(pipes.to, b'stop')  # perf ends a command with its write
        assert os.read(pipes.answers, 100) == ACK
        _, _, err = ended(child)
    finally:
        pipes.close()
    assert child.returncode == 0, err
    assert re.search(r'^ringtail: \{page-faults\S*,context-switches\S*\}$', err, re.M), err


def test_stop_that_waits_behind_a_snapshot(lab):
    """Both commands come at once; the second is taken with the answer to the first, and ends the recording."""
    pipes = Pipes()
    child = lab.start('record', '-o', 'p.data', '-e', 'cpu-clock', '-M', '4M', '--control', pipes.option, '--',
                      'sleep', '600', pass_fds=pipes.inherited)
    try:
        assert pipes.ask('ping\n') == ACK
        os.write(pipes.to, b'snapshot\nstop\n')
        _, _, err = ended(child)
    finally:
        pipes.close()
    assert child.returncode == 0 and 'snapshot 1' in err, err


def test_controller_that_leaves(lab):
    """The recording goes on without its controller, and does not spin."""
    pipes = Pipes()
    child = lab.start('record', '-o', 'p.data', '-e', 'cpu-clock', '--control', pipes.option, '--',
                      'sleep', '600', pass_fds=pipes.inherited)
    assert pipes.ask('ping\n') == ACK
    pipes.close()

    def rests():
        """Returns whether the recorder used little CPU time in a second. A spinning one never does; a sleeping one
        may be charged for time that the host took away."""
        before = cpu_time(child.pid)
        time.sleep(1)
        return cpu_time(child.pid) - before < 0.3
    wait_for(rests, what='a second of rest')
    assert ctl(lab, child, 'stop').stdout == ''
    assert child.wait(PATIENCE) == 0


def test_ten_clients_at_once(lab):
    need_root()
    child = lab.start('record', '-a', '-o', 'p.data', '-e', 'cpu-clock', '--', 'sleep', '600')
    running(lab, child)
    wrong = []

    def client(number):
        for i in range(5):
            command = ('ping',), ('stats', '-j'), ('enable', f'none{number}'), ('evlist',)
            command = command[(number + i) % 4]
            p = lab.run('ctl', '--pid', child.pid, *command, status=None, release=True)
            fine = {
                'ping': p.returncode == 0 and p.stdout == '',
                'stats': p.returncode == 0 and p.stdout.startswith('{'),
                'enable': p.returncode == 1 and f'none{number}' in p.stderr,
                'evlist': p.returncode == 0 and p.stdout == 'cpu-clock\n',
            }
            if not fine[command[0]]:
                wrong.append((command, p))

    clients = [threading.Thread(target=client, args=(i,)) for i in range(10)]
    for c in clients:
        c.start()
    for c in clients:
        c.join()
    assert not wrong, wrong[0]
    stats = {}

    def flushed():
        stats.update(json.loads(ctl(lab, child, 'stats', '-j').stdout))
        return stats['samples'] > 0 and stats['bytes'] > 0 and stats['rings'] > 0
    wait_for(flushed, what='a flush')
    ctl(lab, child, 'stop')
    assert lab.samples('p.data') >= stats['samples']  # it is complete as soon as ctl returns
    assert child.wait(PATIENCE) == 0
    p = ctl(lab, child, 'ping', status=1)
    assert str(child.pid) in p.stderr, p.stderr


def test_the_only_recording_needs_no_pid(lab):
    runtime = lab.path('runtime')
    os.mkdir(runtime, 0o700)
    env = dict(os.environ, XDG_RUNTIME_DIR=runtime)
    p = lab.run('ctl', 'ping', status=None, env=env)
    # Root's may be there, in /run, whoever has started them.
    assert p.returncode == 1 and 'recording that takes commands' in p.stderr or os.geteuid() == 0, p.stderr
    first = lab.start('record', '-o', 'a.data', '-e', 'cpu-clock', '--', 'sleep', '600', env=env)
    wait_for(lambda: os.path.exists(f'{runtime}/ringtail/{first.pid}.sock'), what='socket')
    assert stat_.S_IMODE(os.stat(f'{runtime}/ringtail').st_mode) == 0o700
    assert stat_.S_IMODE(os.stat(f'{runtime}/ringtail/{first.pid}.sock').st_mode) == 0o600
    second = lab.start('record', '-o', 'b.data', '-e', 'cpu-clock', '--', 'sleep', '600', env=env)
    wait_for(lambda: os.path.exists(f'{runtime}/ringtail/{second.pid}.sock'), what='socket')
    p = lab.run('ctl', 'ping', status=1, env=env)
    assert str(first.pid) in p.stderr and str(second.pid) in p.stderr, p.stderr
    # What a killed recorder leaves is nobody, and the next one removes it.
    first.kill()
    first.wait()
    lab.run('ctl', '--pid', first.pid, 'ping', status=1, env=env)
    third = lab.start('record', '-o', 'c.data', '-e', 'cpu-clock', '--', 'sleep', '600', env=env)
    wait_for(lambda: os.path.exists(f'{runtime}/ringtail/{third.pid}.sock'), what='socket')
    assert not os.path.exists(f'{runtime}/ringtail/{first.pid}.sock')
    for child in second, third:
        lab.run('ctl', '--pid', child.pid, 'stop', env=env)
        assert child.wait(PATIENCE) == 0
    assert os.listdir(runtime + '/ringtail') == []


def examples():
    """The code blocks of ringtail-ctl(1), in order."""
    with open(PAGE, encoding='utf-8') as f:
        return re.findall(r'^```\n(.*?)^```$', f.read(), re.M | re.S)


class Shell:
    """Runs an example of the page where `ringtail ctl` finds only that example's recording."""

    def __init__(self, lab, name):
        self.folder = lab.path(name)
        os.makedirs(self.folder + '/bin')
        os.mkdir(self.folder + '/run', 0o700)
        self.env = dict(os.environ, XDG_RUNTIME_DIR=self.folder + '/run', PATH=f'{self.folder}/bin:{os.environ["PATH"]}')
        ringtail = lab.argv([])[0]
        # Root's ctl would find recordings of others.
        self.write('bin/ringtail', f"""
            [ "$1" = ctl ] || exec {ringtail} "$@"
            socket=$(echo run/ringtail/*.sock); shift; pid=${{socket##*/}}
            exec {ringtail} ctl --timeout {PATIENCE} --pid ${{pid%.sock}} "$@" """)
        self.write('wait-for-socket', 'until [ -S run/ringtail/*.sock ]; do sleep 0.05; done')

    def write(self, name, text):
        with open(f'{self.folder}/{name}', 'w', encoding='utf-8') as f:
            f.write('#!/bin/bash\n' + text + '\n')
        os.chmod(f.name, 0o755)

    def run(self, text):
        # An example that fails takes its recording with it, which holds the pipes.
        text = "trap 'kill $(jobs -p) 2>/dev/null || :' EXIT\n" + text
        p = subprocess.run(['bash', '-ec', text], cwd=self.folder, env=self.env, text=True, timeout=2 * PATIENCE,
                           stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
        assert p.returncode == 0, f'exit {p.returncode}: {p.stderr[-1500:]}'
        return p.stdout


def test_examples_of_the_page(lab):
    snapshot, phase, descriptors = examples()

    shell = Shell(lab, 'snapshot')
    out = shell.run('ringtail record -M 16M --switch-output -e cpu-clock -- '
                    'bash -c "while :; do :; done" & ./wait-for-socket; sleep 0.3\n' + snapshot + 'ringtail ctl stop')
    assert re.search(r'^ +\d+\.\d+% +bash ', out, re.M), out

    shell = Shell(lab, 'phase')
    shell.write('prepare', './wait-for-socket; for i in {1..30000}; do :; done')
    shell.write('measure', 'for i in {1..300000}; do :; done')
    shell.run(phase)
    comms = shell.run('ringtail script -i main.data -F comm').split()
    assert 'measure' in comms and 'prepare' not in comms, sorted(set(comms))

    shell = Shell(lab, 'descriptors')
    if lab.run('record', '-o', 'p.data', '-e', 'cpu-cycles', 'true', status=None).returncode:
        assert 'cpu-cycles' in descriptors
        descriptors = descriptors.replace('cpu-cycles', 'cpu-clock')  # a machine without a PMU
    out = shell.run(descriptors + 'kill $!; wait $!')
    assert out == 'ack\n', out


def test_another_user_cannot_command(lab):
    need_root()
    os.chmod(lab.dir, 0o777)
    try:
        pwd.getpwuid(NOBODY)
    except KeyError as reason:
        raise Skip('no user nobody') from reason
    # Where every user looks for root's recordings.
    env = {name: value for name, value in os.environ.items() if name != 'XDG_RUNTIME_DIR'}
    child = lab.start('record', '-o', 'p.data', '-e', 'cpu-clock', '--', 'sleep', '600', env=env)
    wait_for(lambda: lab.run('ctl', '--pid', child.pid, 'ping', status=None, env=env).returncode == 0, what='ping')
    p = lab.run('ctl', '--pid', child.pid, 'stop', status=1, user=NOBODY)
    assert 'another user' in p.stderr, p.stderr
    own = lab.spawn('setpriv', f'--reuid={NOBODY}', '--clear-groups', 'sleep', '600')
    wait_for(lambda: os.stat(f'/proc/{own.pid}').st_uid == NOBODY, what='another user')
    p = lab.run('ctl', '--pid', own.pid, 'stop', status=1, user=NOBODY, env=env)
    assert 'yours need XDG_RUNTIME_DIR for that' in p.stderr, p.stderr
    lab.run('ctl', '--pid', child.pid, 'stop', env=env)
    assert child.wait(PATIENCE) == 0
    assert child.wait(PATIENCE) == 0


def test_no_control_socket(lab):
    child = lab.start('record', '-o', 'p.data', '-e', 'cpu-clock', '--no-control-socket', '--',
                      'sh', '-c', 'echo >began; exec sleep 600')
    wait_for(lambda: os.path.exists(lab.path('began')), what='the command')
    ctl(lab, child, 'ping', status=1)
    status, _, said = interrupt(child)
    assert status == 0, said


ERRORS = {
    'neither fd nor fifo': (['pipe:3'], 2, 'pipe:3'),
    'no descriptor': (['fd:'], 2, 'fd:'),
    'no number': (['fd:x,y'], 2, 'fd:x,y'),
    'three descriptors': (['fd:3,4,5'], 2, 'fd:3,4,5'),
    'descriptor that is not open': (['fd:77'], 1, '77'),
    'no FIFO there': (['fifo:nothing'], 1, 'nothing'),
    'no FIFO': (['fifo:/dev/null'], 1, 'mkfifo'),
    'FIFO others can write to': (['fifo:open'], 1, 'open'),
    'one FIFO for both': (['fifo:own,own'], 1, 'same FIFO'),
    'answers into the output': (['fd:0,1', '-o', '-'], 2, '-o -'),
}


def make_error_test(options, status, fragment):
    def test(lab):
        os.mkfifo(lab.path('open'))
        os.chmod(lab.path('open'), 0o622)
        os.mkfifo(lab.path('own'), 0o600)
        p = lab.run('record', '--control', *options, '--', 'true', status=status)
        assert fragment in p.stderr, p.stderr
        assert not os.path.exists(lab.path('perf.data'))
    return test


for _name, _row in ERRORS.items():
    globals()['test_error: ' + _name] = make_error_test(*_row)


def test_a_program_with_capabilities_takes_commands(lab):
    """The program's files in /proc belong to root, even the list of its own descriptors."""
    need_root()
    if not shutil.which('setcap'):
        raise Skip('no setcap (package libcap2-bin)')
    os.chmod(lab.dir, 0o755)
    program, runtime = lab.path('ringtail'), lab.path('runtime')
    shutil.copy(lab.argv([], release=True)[0], program)
    os.chmod(program, 0o755)
    if subprocess.run(['setcap', 'cap_perfmon,cap_ipc_lock=ep', program], check=False).returncode:
        raise Skip('no file capabilities here')
    with open('/proc/sys/kernel/perf_event_paranoid', encoding='ascii') as f:
        if int(f.read()) > 2:
            raise Skip('kernel.perf_event_paranoid is above 2, where CAP_PERFMON may not be enough')
    for path in runtime, lab.path('own'):
        os.mkdir(path, 0o700)
        os.chown(path, NOBODY, NOBODY)
    nobody = {'cwd': lab.path('own'), 'env': {**os.environ, 'XDG_RUNTIME_DIR': runtime}, 'text': True,
              'stderr': subprocess.PIPE, 'user': NOBODY, 'group': NOBODY, 'extra_groups': []}
    recorder = subprocess.Popen([program, 'record', '-a', '-e', 'cpu-clock', '-o', 'p.data'], **nobody)
    lab.children.append(recorder)

    def answers(*argv, **kw):
        return recorder.poll() is not None or subprocess.run([*argv, 'ctl', *wanted, 'ping'], check=False,
                                                             **kw).returncode == 0
    for wanted in ['--pid', str(recorder.pid)], []:
        wait_for(lambda: answers(program, **nobody), what='an answer to its user')
    assert recorder.poll() is None, recorder.stderr.read()
    # Root finds it where users have such directories.
    there = f'/run/user/{NOBODY}'
    if os.path.isdir('/run/user') and not os.path.exists(there):
        os.symlink(runtime, there)
        try:
            wanted = ['--pid', str(recorder.pid)]
            wait_for(lambda: answers(*lab.argv([])), what='an answer to root')
        finally:
            os.unlink(there)
    subprocess.run([program, 'ctl', 'stop'], check=True, **nobody)
    assert recorder.wait(timeout=PATIENCE) == 0, recorder.stderr.read()
