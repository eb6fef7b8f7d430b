#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares the manual with the program.

usage: manual.py RINGTAIL

A command's man page (the source, man/*.scd) describes exactly the options that `ringtail COMMAND --help` lists, with
the same arguments. A command with more than ten options has them in groups, "Most used" first, and the page has the
same groups. Each `ringtail` line in a code block of the README and of the man pages names an existing command and
options of it. scdoc and groff print no warning about the pages.
-h of each command is its --help, and so is `ringtail help COMMAND` where it cannot open the man page. ringtail refuses options that a page lists under
"Not there: ...", and perf's other commands, with a sentence. A usage error is one line, with status 2.
"""
import getopt
import os
import pty
import re
import shlex
import shutil
import subprocess
import sys
import tempfile

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
COMMANDS = ['record', 'list', 'doctor', 'report', 'view', 'top', 'annotate', 'diff', 'script', 'export', 'dump', 'snapshots', 'evlist', 'buildid-list', 'recover', 'pack', 'aux', 'stat', 'ctl', 'version']
PAGES = {None: 'ringtail.1', 'version': 'ringtail.1'}  # of the others: ringtail-COMMAND.1
DOCUMENTS = ['README.md'] + [f'man/{name}.scd' for name in (
    'ringtail.1', 'ringtail-record.1', 'ringtail-list.1', 'ringtail-doctor.1', 'ringtail-report.1', 'ringtail-view.1', 'ringtail-top.1', 'ringtail-annotate.1', 'ringtail-diff.1', 'ringtail-script.1', 'ringtail-export.1',
    'ringtail-dump.1', 'ringtail-snapshots.1', 'ringtail-evlist.1', 'ringtail-buildid-list.1', 'ringtail-recover.1', 'ringtail-pack.1', 'ringtail-stat.1',
    'ringtail-ctl.1', 'ringtail-aux.1', 'ringtail-events.5', 'ringtail.3')]
PAGE_NAMES = [os.path.basename(path).removesuffix('.scd') for path in DOCUMENTS if path.startswith('man/')]

# Commands of perf (command-list.txt, 6.1 to 7.0) that ringtail has not.
VIEWS = ['report sched', 'report latency']  # words that make a command another one
PERF_COMMANDS = ['archive', 'bench', 'buildid-cache', 'c2c', 'check', 'config', 'daemon', 'data',
                 'ftrace', 'inject', 'iostat', 'kallsyms', 'kmem', 'kvm', 'kwork', 'lock',
                 'mem', 'probe', 'sched', 'test', 'timechart', 'trace']
# Of each kind: an option that does not exist, a value that is none, what getopt and argp refuse themselves.
USAGE_ERRORS = [['frob'], ['help', 'frob'], ['--frob'], ['record', '--frob'], ['record', '-e'],
                ['record', '-F', '0', 'true'], ['record', '-F', 'a\nb', 'true'], ['record', '-D', '5-3', 'true'],
                ['record', '--quiet=1'], ['record', '--all'], ['record', '-a', '-p', '1'],
                ['record', '--aio', '2', 'true'], ['ctl'], ['ctl', '--frob', 'ping'],
                ['ctl', '--timeout', '0', 'ping'], ['report', '--pid', '1', '--frob'], ['report', 'a', 'b'],
                ['report', '--sort', 'frob/x'], ['report', 'sched', '-S', 'x'], ['top', '--stdio', '-s', 'waker'],
                ['view', '--sort', 'frob/x'], ['view', '-g', 'folded'], ['top'], ['top', '-d', '0'], ['view'], ['diff', '-c', 'frob'], ['diff', '-o', '9'], ['diff', '--sort', 'delta'],
                ['diff', '--confidence', '100'], ['diff', '--folded', '--json'], ['script', '-F', 'frob'], ['script', '--max-stack', '0'],
                ['dump', 'a', 'b'], ['evlist', 'a', 'b'], ['evlist', '-g', '-v'], ['buildid-list', 'a', 'b'], ['list', '--frob'], ['recover', 'a', 'b'], ['doctor', '--frob'], ['list', 'metric'], ['list', 'sdt'], ['export'], ['export', '--to', 'frob'], ['annotate', 'a', 'b'], ['annotate', '-M', 'frob'],
                ['annotate', '--percent-type', 'frob'], ['pack', 'a', 'b'], ['pack', '--symbols', 'frob'], ['pack', '--symbols-budget', 'a'],
                ['aux'], ['aux', 'frob'], ['aux', 'extract', '--cpu', 'a'], ['aux', 'show', '-o', 'a'], ['aux', 'table', '--cpu', '1'],
                ['stat', '-x', '', 'true'], ['stat', '-r', '2'], ['stat', '-I', '0', 'true'], ['stat', '--per-thread', 'true'],
                ['version', 'frob'], ['\x1b[2J'], ['--\x1b[2J'], ['record', '--\x1b[2J'],
                ['report', '-\x1b'], ['report', '--pid=\x1b[2J'], ['script', '--\x1b[2J'], ['dump', '--\x1b[2J'],
                ['ctl', '--\x1b[2J']]

# -x, --name=ARG, --name[=ARG]
DEFINITION = re.compile(r'(--[a-z][a-z-]*|-[A-Za-z?])(\[?=.+)?')


def read(path):
    with open(os.path.join(TOP, path), encoding='utf-8') as f:
        return f.read()


def names_of(line, whole):
    """{option: 'none', 'required' or 'optional'} of a line that defines one option.

    In a page definitions are the @whole line, in help output what the option does may follow.
    """
    names = {}
    for word in line.split():
        match = DEFINITION.fullmatch(word.rstrip(','))
        if not match and whole:
            return {}
        if not match:
            break
        argument = match.group(2) or ''
        names[match.group(1)] = {'': 'none', '=': 'required', '[': 'optional'}[argument[:1]]
    # What is said of the long name goes for the short one beside it.
    kind = next((k for k in names.values() if k != 'none'), 'none')
    return dict.fromkeys(names, kind)


def help_of(ringtail, command, option='--help'):
    argv = [ringtail] + (command.split() if command else []) + [option]
    run = subprocess.run(argv, capture_output=True, text=True, check=option == '--help')
    return run.stdout


def options_of_help(text):
    options = {}
    for line in text.splitlines():
        if re.match(r' {2,6}-', line):
            options.update(names_of(line, whole=False))
    return options


def options_of_page(text):
    """Returns the options on lines such as *-x*, *--name*=_ARG_; ++ (a line break) may follow them."""
    options = {}
    for line in text.splitlines():
        if line.startswith('*-'):
            options.update(names_of(re.sub(r'[*_]|\+\+$', '', line), whole=True))
    return options


def compare(command, options, page, path):
    """Returns a sentence for each difference."""
    for name in sorted(options.keys() - page.keys()):
        yield f'{path} does not describe {name}'
    for name in sorted(page.keys() - options.keys()):
        yield f'{path} describes {name}, which the help of {command or "ringtail"} does not list'
    for name in sorted(options.keys() & page.keys()):
        if options[name] != page[name]:
            yield (f'{path}: the argument of {name} is {page[name]}, in the help it is '
                   f'{options[name]}')


def groups_of_help(text):
    """Returns {heading: options}, in order."""
    groups = {}
    for block in text.split('\n\n'):
        match = re.match(r'\n* (\S.*):\n', block)
        if match:
            groups[match.group(1)] = set(options_of_help(block))
    return groups


def groups_of_page(text):
    """Returns {heading: options}, in order, without the sections that end every page."""
    section = re.search(r'^# OPTIONS\n(.*?)^# ', text, re.M | re.S).group(1)
    _, *parts = re.split(r'^## (.*)\n', section, flags=re.M)
    return {title: set(options_of_page(body)) - {'-h', '-?', '--help', '--usage'}
            for title, body in zip(parts[::2], parts[1::2])}


def compare_groups(command, help_text, path):
    """Returns a sentence for each difference between the groups."""
    shown, page = groups_of_help(help_text), groups_of_page(read(path))
    if list(shown)[:1] != ['Most used']:
        yield f'--help of {command} begins with {list(shown)[:1]}'
    if list(shown) != list(page):
        yield f'{path} has the groups {list(page)}, --help {list(shown)}'
    for title in shown.keys() & page.keys():
        if shown[title] != page[title]:
            yield f'{path}: {title}: only one of page and --help has {sorted(shown[title] ^ page[title])}'


def code_lines(text):
    """Yields the lines of the code blocks of Markdown and scdoc; joins continued lines."""
    for indent, block in re.findall(r'^( *)```[a-z]*\n(.*?)^ *```', text, re.M | re.S):
        for line in block.replace('\\\n', ' ').splitlines():
            yield line.removeprefix(indent)


def invocations(text):
    """Yields the arguments of each call of ringtail in a document's code blocks."""
    for line in code_lines(text):
        line = re.sub(r'^\w+=\$\((.*)\)$', r'\1', re.sub(r'^[$#] ', '', line))
        if not re.search(r'(^|[|;&] )(\S*/)?ringtail ', line):
            continue  # output, or another program
        lexer = shlex.shlex(line, posix=True, punctuation_chars='|;&<>')
        lexer.whitespace_split = True
        words, calls = list(lexer), [[]]
        for word in words:
            if set(word) <= set('|;&'):
                calls.append([])
            else:
                calls[-1].append(word)
        for call in calls:
            if call and os.path.basename(call[0]) == 'ringtail':
                yield line, call[1:]


def check_call(args, options):
    """Returns None, or the fault in the arguments of a call."""
    command = args[0] if args else None
    if ' '.join(args[:2]) in VIEWS:
        command, args = ' '.join(args[:2]), args[1:]
    if command not in options:
        return f'there is no command {command}' if command and command[0] != '-' else None
    of = options[command]
    # getopt knows no optional arguments; behind a = they are taken away.
    args = [a.split('=')[0] if of.get(a.split('=')[0]) == 'optional' else a for a in args[1:]]
    short = ''.join(n[1] + (':' if k == 'required' else '') for n, k in of.items() if len(n) == 2)
    long = [n[2:] + ('=' if k == 'required' else '') for n, k in of.items() if len(n) > 2]
    parse = getopt.getopt if command in ('record', 'ctl') else getopt.gnu_getopt  # a command follows
    try:
        given, _ = parse(args, short, long)
    except getopt.GetoptError as e:
        return str(e)
    for name, _ in given:  # getopt takes abbreviations; readers should not see them
        if name.startswith('--') and not any(a == name or a.startswith(name + '=') for a in args):
            return f'{name} is abbreviated'
    return None


def page_faults(name):
    """Returns the warnings of scdoc and groff about a page, and emphasis that is not closed."""
    source = os.path.join(TOP, 'man', name + '.scd')
    with open(source, 'rb') as f:
        made = subprocess.run([os.path.join(TOP, 'man', 'page')], stdin=f, capture_output=True, check=False)
    yield from made.stderr.decode().splitlines() or [f'scdoc: status {made.returncode}'] * bool(made.returncode)
    if not made.stdout.startswith(b"'\\\" t\n"):
        yield 'man does not know that it may have tables'
    if re.findall(rb'\\f[BIR]', made.stdout)[-1:] not in ([], [rb'\fR']):
        yield 'its last emphasis has no end'
    if shutil.which('groff'):
        read_by = subprocess.run(['groff', '-t', '-man', '-Tutf8', '-ww', '-z'], input=made.stdout, capture_output=True,
                                 check=False)
        yield from read_by.stderr.decode().splitlines()


def not_there(text):
    """Returns the options of perf that a page lists as missing."""
    found = re.search(r'^Not there: (.*?)\. ', text, re.M | re.S)
    return re.findall(r'\*(-[a-zA-Z]|--[a-z-]+)\*', found.group(1)) if found else []


def check_refused(ringtail, command, option):
    """Returns None, or the fault in the answer."""
    run = subprocess.run([ringtail, command, option], capture_output=True, text=True, stdin=subprocess.DEVNULL,
                         timeout=60, check=False)
    said = ' '.join(run.stderr.split())
    if run.returncode != 2 or run.stderr.count('\n') != 1 or \
            not re.match(rf'ringtail {command}: there is no .*{option}\b.*: \S', said):
        return f'{option}: status {run.returncode}: {said}'
    return None


def refusal(ringtail, args):
    """Returns (the line of a usage error, None), or (None, the fault in the answer)."""
    run = subprocess.run([ringtail, *args], capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=60,
                         check=False)
    if run.returncode != 2 or run.stdout or run.stderr.count('\n') != 1 or not run.stderr.endswith('\n'):
        return None, f'{args}: status {run.returncode}, not one line: {run.stdout}{run.stderr}'
    if not re.match(r'\S*ringtail( [a-z-]+){0,2}: ', run.stderr):
        return None, f'{args}: {run.stderr}'
    if not run.stderr[:-1].isprintable():
        return None, f'{args}: it could steer a terminal: {run.stderr!r}'
    return run.stderr, None


def check_perf_command(ringtail, args):
    """Returns None, or the fault in the answer to a command of perf."""
    line, problem = refusal(ringtail, args)
    if not problem and not re.match(rf"ringtail: there is no command '{args[-1]}': .*\b(use|perf|ringtail)\b", line):
        problem = f'it does not say what to use: {line}'
    return problem


def check_help(ringtail, command):
    """Returns a sentence for each fault of `ringtail help`."""
    for topic in [command] if command else [None, 'help']:
        run = subprocess.run([ringtail, 'help'] + ([topic] if topic else []), capture_output=True, text=True,
                             check=False)
        if run.returncode or run.stderr or run.stdout != help_of(ringtail, command):
            yield f'help {topic or ""}: status {run.returncode}, and not --help: {run.stderr}'
    if not command and not re.search(r'^  help  +\S', help_of(ringtail, None), re.M):
        yield 'the list of commands lacks it'


def on_terminal(argv, folder):
    """Runs a program on a terminal of its own, with PATH and HOME a folder. Returns what it writes."""
    child, terminal = pty.fork()
    if not child:
        os.execve(argv[0], argv, {'PATH': folder, 'HOME': folder, 'TERM': 'dumb'})
    text = b''
    while True:
        try:
            piece = os.read(terminal, 65536)
        except OSError:  # its end is closed
            break
        if not piece:
            break
        text += piece
    os.close(terminal)
    os.waitpid(child, 0)
    return text.decode().replace('\r\n', '\n')


def check_manual(ringtail):
    """Yields a sentence for each fault of `ringtail help` on a terminal, with a man(1) that prints its words."""
    script = '#!/bin/sh\n[ "$1" != -w ] || {{ echo hidden; exit {}; }}\necho man "$@"\n'
    for found, topic, expected in [(True, ['report'], 'man ringtail-report\n'), (True, [], 'man ringtail\n'),
                                   (True, ['version'], 'man ringtail\n'), (True, ['help'], 'man ringtail\n'),
                                   (False, ['report'], help_of(ringtail, 'report')),
                                   (None, ['report'], help_of(ringtail, 'report'))]:
        with tempfile.TemporaryDirectory() as folder:
            if found is not None:
                with open(folder + '/man', 'w', encoding='utf-8') as f:
                    f.write(script.format(0 if found else 1))
                os.chmod(folder + '/man', 0o755)
            said = on_terminal([os.path.abspath(ringtail), 'help', *topic], folder)
        if said != expected:
            yield f'help {topic}, where man {"has" if found else "lacks"} the page, prints {said[:200]!r}'


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    ringtail, failed = sys.argv[1], 0
    options = {command: options_of_help(help_of(ringtail, command)) for command in COMMANDS}
    options |= {view: options_of_help(help_of(ringtail, view)) for view in VIEWS}
    options[None] = options_of_help(help_of(ringtail, None))

    def result(name, problems):
        nonlocal failed
        problems = list(problems)
        failed += bool(problems)
        for problem in problems or [None]:
            print(f'FAIL {name} {problem}' if problem else f'ok {name}')

    for command in [None] + COMMANDS:
        path = f"man/{PAGES.get(command, f'ringtail-{command}.1')}.scd"
        page = options_of_page(read(path))
        if command == 'version':  # no page of its own: --help and --usage
            page = {n: k for n, k in page.items() if n in options[command]}
        if not command:
            page = {n: k for n, k in page.items() if n in options[None] or n not in options['version']}
        found = compare(command, options[command], page, path)
        result(f'options of {command or "ringtail"}',
               found if options[command] else ['the help lists no option'])
        if len(page) > 20:
            result(f'groups of {command}', compare_groups(command, help_of(ringtail, command), path))
        short = help_of(ringtail, command, '-h')
        result(f'-h of {command or "ringtail"}',
               [] if short == help_of(ringtail, command) else ['is not --help'])
        result(f'help of {command or "ringtail"}', check_help(ringtail, command))
    for command in 'record', 'report', 'annotate', 'diff', 'script', 'buildid-list', 'list':
        options_of_perf = not_there(read(f'man/ringtail-{command}.1.scd'))
        problems = [check_refused(ringtail, command, option) for option in options_of_perf]
        result(f'options of perf {command} ({len(options_of_perf)})',
               [problem for problem in problems if problem] if problems else ['the page names none'])
    problems = [check_perf_command(ringtail, args) for name in PERF_COMMANDS for args in ([name], ['help', name])]
    result(f'commands of perf ({len(PERF_COMMANDS)})', filter(None, problems))
    result('man pages on a terminal', check_manual(ringtail))
    problems = [refusal(ringtail, args)[1] for args in USAGE_ERRORS]
    result(f'usage errors are one line ({len(problems)})', filter(None, problems))
    for name in PAGE_NAMES:
        result(f'source of {name}', page_faults(name))
    with open(os.path.join(TOP, 'man/meson.build'), encoding='utf-8') as f:
        missing = set(re.findall(r"'(ringtail[\w.-]*\.\d)'", f.read())) - set(PAGE_NAMES)
    result('all pages are read here', [f'not {name}' for name in sorted(missing)])
    for document in DOCUMENTS:
        calls = list(invocations(read(document)))
        problems = ((line, check_call(args, options)) for line, args in calls)
        result(f'examples of {document} ({len(calls)})',
               [f'{what}: {line}' for line, what in problems if what])
    return 1 if failed else 0


sys.exit(main())
