#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Completes command lines as shells do, with the files of contrib/completion.

usage: completion.py RINGTAIL

bash's function is called with the words that bash makes of a line, fish is asked, zsh reads its file alone.
Prints `ok NAME`, `FAIL NAME reason` or `skip NAME reason`; exit status 1 on failure.
"""
import os
import re
import shutil
import subprocess
import sys
import tempfile

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


def check(shell, folder):
    for line, expected in LINES.items():
        found = shell(folder, line)
        if found != expected:
            raise Failure(f"'{line}' is completed as {sorted(found)}, not as {sorted(expected)}")


def bash(folder):
    check(in_bash, folder)
    found = in_bash(folder, '~/bin/ringtail re')
    if found != {'record', 'recover', 'report'}:
        raise Failure(f'a program below the home folder completes {found}')
    found = in_bash(folder, 'ringtail record -o x ls -')
    if found != {'command at 4'}:
        raise Failure(f'the words of a command are completed as {found}')


def fish(folder):
    check(in_fish, folder)


def zsh(folder):
    said(folder, shutil.which('zsh'), '-fn', FILES + '_ringtail')


def main():
    failed = False
    with tempfile.TemporaryDirectory() as folder:
        for name in 'bin', 'here', 'here/traces':
            os.mkdir(f'{folder}/{name}')
        with open(folder + '/here/traces.data', 'w', encoding='utf-8'):
            pass
        os.symlink(os.path.abspath(sys.argv[1]), folder + '/bin/ringtail')
        for tool in 'sort', 'uname', 'sed', 'grep', 'cat', 'ls':  # shells' own functions want them
            os.symlink(shutil.which(tool), f'{folder}/bin/{tool}')
        for shell in bash, fish, zsh:
            name = 'completion in ' + shell.__name__
            if not shutil.which(shell.__name__):
                print('skip', name, 'is not installed')
                continue
            try:
                shell(folder)
                print('ok', name)
            except Failure as reason:
                print('FAIL', name, reason)
                failed = True
    sys.exit(failed)


main()
