#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Completes command lines as shells do, with the files of contrib/completion.

usage: completion.py RINGTAIL

bash's function is called with the words that bash makes of a line, and fish is asked. Then each line is typed into bash and
zsh on a terminal, and Tab behind it: what is in the line then must be as far as all that may stand there is alike.
Prints `ok NAME`, `FAIL NAME reason` or `skip NAME reason`; exit status 1 on failure.
"""
import contextlib
import os
import pty
import re
import select
import shutil
import subprocess
import sys
import tempfile
import time

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
FILES = TOP + '/contrib/completion/'

# A line, and what may stand in place of its last word. The command runs in a folder with traces/ and a file.
LINES = {
    'ringtail re': {'record', 'report', 'recover'},
    'ringtail recover -n trac': {'traces/', 'traces.data'},
    'ringtail list vendo': {'vendor'},
    'ringtail list cpu-cl': {'cpu-clock'},
    'ringtail doc': {'doctor'},
    'ringtail evlist --tr': {'--trace-fields'},
    'ringtail buildid-list --with': {'--with-hits'},
    'ringtail buildid-list trac': {'traces/', 'traces.data'},
    'ringtail report --percent-l': {'--percent-limit='},
    'ringtail report --sort=comm,symbol_f': {'--sort=comm,symbol_from'},
    'ringtail report -s dso_f': {'dso_from'},
    'ringtail report -s +comm,dso_f': {'+comm,dso_from'},
    'ringtail report -F +sam': {'+sample'},
    'ringtail report --fields=overhead,overhead_s': {'--fields=overhead,overhead_sys'},
    'ringtail annotate trac': set(),
    'ringtail record -e cpu-clo': {'cpu-clock'},
    'ringtail record -e cycles,cpu-clo': {'cycles,cpu-clock'},
    'ringtail record --event=cpu-clo': {'--event=cpu-clock'},
    'ringtail stat -e task-clo': {'task-clock'},
    'ringtail report --input=trac': {'--input=traces/', '--input=traces.data'},
    'ringtail report -i trac': {'traces/', 'traces.data'},
    'ringtail aux -o x extract trac': {'traces/', 'traces.data'},
    'ringtail export --to p': {'parquet', 'perfetto', 'pprof'},
    'ringtail export --to=f': {'--to=firefox', '--to=folded'},
    'ringtail aux ': {'extract', 'show', 'table'},
    'ringtail ctl --pid 1 sn': {'snapshot'},
    'ringtail record -F 99 -g -- ringtai': {'ringtail'},
    'ringtail nosuch -': set(),
}
BASH = r'''
. "$1"; shift
compopt() { :; }
_command_offset() { COMPREPLY=("command at $1"); }
COMP_LINE=$1; COMP_WORDS=("${@:2}"); COMP_CWORD=$((${#COMP_WORDS[@]} - 1)); COMP_POINT=${#COMP_LINE}
_ringtail
((${#COMPREPLY[@]} == 0)) || printf '%s\n' "${COMPREPLY[@]}"
'''


# What a shell that people type into is given first. Control-G writes the line into the file "line", behind it a dot.
TYPED = {
    'bash': (['bash', '--norc', '--noprofile', '-i'], """PS1=ready; bind 'set bell-style none'; . "$FILES/ringtail.bash"
bind -x '"\\C-g": printf "%s." "$READLINE_LINE" >line.new; mv line.new line'
"""),
    'zsh': (['zsh', '-fi'], """PS1=ready; unsetopt beep; fpath=("$FILES" $fpath); autoload -Uz compinit; compinit -u -D
write_line() { printf '%s.' "$BUFFER" >line.new; mv line.new line; }; zle -N write_line; bindkey '^G' write_line
bindkey '^U' kill-whole-line
"""),
}
PATIENCE = 30  # seconds for a shell to come to a line


class Failure(Exception):
    """Raised where a completion is wrong; the text says how."""


def said(folder, *argv):
    env = dict(os.environ, HOME=folder, PATH=folder + '/bin', LC_ALL='C.UTF-8', XDG_CONFIG_HOME=folder)
    p = subprocess.run(argv, cwd=folder + '/here', env=env, text=True, errors='replace', check=False,
                       stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    if p.returncode:
        raise Failure(f'status {p.returncode}: {p.stderr.strip()[:300]}')
    return p.stdout.splitlines()


def in_bash(folder, line):
    """bash takes = and : for words of their own, and replaces what is behind them alone."""
    words = [word for word in re.split(r'([=:]| )', line) if word not in (' ', '')]
    if line.endswith((' ', '=')):
        words.append('')
    last = '' if words[-1] in '=:' else words[-1]
    before = line[line.rindex(' ') + 1:len(line) - len(last)]
    return {before + text + ('/' if os.path.isdir(f'{folder}/here/{text}') else '')
            for text in said(folder, '/bin/bash', '-c', BASH, 'bash', FILES + 'ringtail.bash', line, *words)}


def in_fish(folder, line):
    return {text.split('\t')[0] for text in
            said(folder, shutil.which('fish'), '--no-config', '-c', f'source {FILES}ringtail.fish; complete -C $argv[1]', line)}


class Typed:
    """An interactive shell on a terminal."""

    def __init__(self, name, folder):
        argv, setup = TYPED[name]
        self.name, self.at = name, folder + '/here'
        pid, self.terminal = pty.fork()
        if not pid:
            os.chdir(self.at)
            # A shell's widgets want tools that the folder of programs does not have.
            env = dict(os.environ, HOME=folder, PATH=f'{folder}/bin:/usr/bin:/bin', LC_ALL='C.UTF-8', TERM='dumb', FILES=FILES)
            os.execvpe(argv[0], argv, env)
        self.pid = pid
        with open(self.at + '/setup', 'w', encoding='utf-8') as f:
            f.write(setup)
        self._send('. ./setup\n')
        self.tab('')

    def __enter__(self):
        return self

    def __exit__(self, *_):
        os.close(self.terminal)  # hangs up
        os.waitpid(self.pid, 0)

    def _send(self, text):
        os.write(self.terminal, text.encode())

    def _drain(self):
        while select.select([self.terminal], [], [], 0)[0]:
            with contextlib.suppress(OSError):
                os.read(self.terminal, 65536)

    def tab(self, line):
        """What is in the line once @line was typed, and Tab unless it is empty."""
        path, until = self.at + '/line', time.monotonic() + PATIENCE
        with contextlib.suppress(OSError):
            os.unlink(path)
        self._send(line + ('\t' if line else '') + '\a')
        while not os.path.exists(path):
            self._drain()
            time.sleep(0.01)
            if time.monotonic() > until:
                raise Failure(f"{self.name} does not come to an end of '{line}'")
        with open(path, encoding='utf-8') as f:
            found = f.read()[:-1]
        self._send('\x15')
        return found


def lone_process():
    """A process that sleeps, and whose PID is the only one with its digits but the last. It ends in 9: later ones have others."""
    for _ in range(2000):
        p = subprocess.Popen(['sleep', '1000'])  # pylint: disable=consider-using-with
        tens = str(p.pid)[:-1]
        if p.pid % 10 == 9 and [name for name in os.listdir('/proc') if name.isdigit() and name.startswith(tens)] == [str(p.pid)]:
            return p
        p.kill()
        p.wait()
    raise Failure('no process has a PID that is alone')


@contextlib.contextmanager
def lines_of_this_machine():
    """What depends on the machine: PIDs, and events of its kernel."""
    p = lone_process()
    pid, tens = str(p.pid), str(p.pid)[:-1]
    lines = {
        'ringtail record -p ' + tens: {pid},
        'ringtail record -p 1,' + tens: {'1,' + pid},
        'ringtail record --pid=' + tens: {'--pid=' + pid},
        'ringtail record -t ' + tens: {pid},
        'ringtail top -p ' + tens: {pid},
        'ringtail stat --pid=' + tens: {'--pid=' + pid},
        'ringtail ctl --pid ' + tens: {pid},
    }
    if os.path.exists('/sys/kernel/tracing/events/sched/sched_switch/format'):
        lines |= {
            'ringtail record -e sched:sched_swi': {'sched:sched_switch'},
            'ringtail record -e cpu-clock,sched:sched_swi': {'cpu-clock,sched:sched_switch'},
            'ringtail record --event=sched:sched_swi': {'--event=sched:sched_switch'},
        }
    try:
        yield lines
    finally:
        p.kill()
        p.wait()


def check_typed(name, folder, lines):
    with Typed(name, folder) as shell:
        for line, expected in lines.items():
            word = line[line.rindex(' ') + 1:]
            common = os.path.commonprefix(sorted(expected)) or word
            found, expected = shell.tab(line), line[:len(line) - len(word)] + common
            if found.rstrip() != expected.rstrip():
                raise Failure(f"'{line}' and Tab become '{found}', not '{expected}'")


def check(shell, folder, lines):
    for line, expected in lines.items():
        found = shell(folder, line)
        if found != expected:
            raise Failure(f"'{line}' is completed as {sorted(found)}, not as {sorted(expected)}")


def bash(folder, lines):
    check(in_bash, folder, lines)
    found = in_bash(folder, '~/bin/ringtail re')
    if found != {'record', 'recover', 'report'}:
        raise Failure(f'a program below the home folder completes {found}')
    found = in_bash(folder, 'ringtail record -o x ls -')
    if found != {'command at 4'}:
        raise Failure(f'the words of a command are completed as {found}')
    check_typed('bash', folder, lines)


def fish(folder, lines):
    check(in_fish, folder, lines)


def zsh(folder, lines):
    check_typed('zsh', folder, lines)


def try_shells(folder, lines):
    failed = False
    for shell in bash, fish, zsh:
        name = 'completion in ' + shell.__name__
        if not shutil.which(shell.__name__):
            print('skip', name, 'is not installed')
            continue
        try:
            shell(folder, lines)
            print('ok', name)
        except Failure as reason:
            print('FAIL', name, reason)
            failed = True
    return failed


def main():
    with tempfile.TemporaryDirectory() as folder:
        for name in 'bin', 'here', 'here/traces':
            os.mkdir(f'{folder}/{name}')
        with open(folder + '/here/traces.data', 'w', encoding='utf-8'):
            pass
        os.symlink(os.path.abspath(sys.argv[1]), folder + '/bin/ringtail')
        for tool in 'sort', 'uname', 'sed', 'grep', 'cat', 'ls':  # shells' own functions want them
            os.symlink(shutil.which(tool), f'{folder}/bin/{tool}')
        with lines_of_this_machine() as lines:
            failed = try_shells(folder, LINES | lines)
    sys.exit(failed)


main()
