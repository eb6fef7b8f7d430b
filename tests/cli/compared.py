#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tries every option of perf record, report, script, top and stat, and every key of report and script (compared_keys.py), and
compares what comes with docs/COMPARED.md.

usage: compared.py [--update] RINGTAIL CORPUS

perf-options.tsv beside this file lists the options by what `perf COMMAND -h` prints; where perf is installed, its
options must all be in the list. An option works if ringtail takes it, works differently if DIFFERENT says how, is without
effect if --help ('Accepted: ...') says why, and is refused if ringtail names the reason. --update writes the document.
Prints `ok NAME` or `FAIL NAME reason`; exit status 1 on failure.
"""
import os
import re
import shutil
import subprocess
import sys
import tempfile

import compared_keys
import own_filter

HERE = os.path.dirname(os.path.abspath(__file__))
DOCUMENT = os.path.join(HERE, '..', '..', 'docs', 'COMPARED.md')
LEAST = {'record': 90, 'report': 80, 'script': 80, 'top': 50, 'stat': 50}  # percent that must work
LEAST_ACCEPTED = {'record': 90, 'report': 80, 'script': 80, 'top': 80, 'stat': 55}  # and those without effect

# What an option is tried with, where its argument or its recording must be a certain one.
VALUES = {
    'record': {
        'affinity': 'node', 'branch-filter': 'any,u', 'call-graph': 'lbr', 'clockid': 'mono', 'compression-level': '3',
        'control': 'fd:0', 'count': '1000', 'cpu': '0', 'delay': '10-20,30-40', 'event': 'task-clock', 'freq': '99',
        'filter': 'prev_pid > 0', 'intr-regs': 'ax,ip', 'user-regs': 'ax,ip', 'max-size': '10M', 'mmap-flush': '4096',
        'mmap-pages': '16', 'num-thread-synthesize': '2', 'output': 'x.data', 'pid': '{pid}', 'tid': '{pid}',
        'proc-map-timeout': '500', 'realtime': '1', 'switch-max-files': '2', 'switch-output': 'signal',
        'switch-output-event': 'page-faults', 'synth': 'task', 'threads': 'cpu', 'uid': '{uid}', 'cgroup': '/',
        'vmlinux': '{ringtail}', 'aux-sample': '', 'debuginfod': '', 'snapshot': '', 'aio': '2',
        'off-cpu-thresh': '500', 'setup-filter': 'pin', 'clang-opt': '-O2', 'clang-path': 'clang',
    },
    'report': {
        'call-graph': 'graph,0.5,caller', 'comms': 'sh', 'cpu': '0', 'dsos': 'libc.so.6', 'fields': 'overhead,comm',
        'input': '{file}', 'vmlinux': '{ringtail}', 'disassembler-style': 'intel', 'parent': 'main', 'sort': 'comm',
        'symbols': 'main', 'field-separator': ';', 'column-widths': '10,20', 'group-sort-idx': '0',
        'ignore-callees': 'main', 'itrace': 'e', 'kallsyms': '/dev/null', 'max-stack': '10', 'objdump': 'objdump',
        'percent-limit': '1', 'percent-type': 'local-period', 'percentage': 'relative', 'pid': '1', 'prefix': '/x',
        'prefix-strip': '1', 'pretty': 'raw', 'samples': '10', 'socket-filter': '0', 'stdio-color': 'never',
        'switch-off': 'cpu-clock', 'switch-on': 'cpu-clock', 'symbol-filter': 'main', 'symfs': '/', 'tid': '1',
        'time': '10%-50%', 'time-quantum': '10ms', 'addr2line': 'addr2line', 'addr2line-style': 'llvm',
        'parallelism': '1-2', 'unwind-style': 'libdw',
    },
    'script': {
        'comms': 'sh', 'cpu': '0', 'fields': 'comm,ip,sym', 'gen-script': 'python', 'input': '{file}',
        'vmlinux': '{ringtail}', 'script': 'x.py', 'symbols': 'main', 'addr-range': '10', 'dlarg': 'x', 'dlfilter': '{filter}',
        'dsos': 'libc.so.6', 'graph-function': 'main', 'guestkallsyms': 'x', 'guestmodules': 'x', 'guestmount': 'x',
        'guestvmlinux': 'x', 'itrace': 'e', 'kallsyms': '/dev/null', 'max-blocks': '10', 'max-stack': '10', 'pid': '1',
        'stop-bt': 'main', 'switch-off': 'cpu-clock', 'switch-on': 'cpu-clock', 'symfs': '/', 'tid': '1',
        'time': '10%-50%', 'addr2line': 'addr2line', 'unwind-style': 'libdw', 'insn-trace': '', 'call-trace': '',
        'call-ret-trace': '', 'xed': '',
    },
    'top': {
        'addr2line': 'addr2line', 'branch-filter': 'any,u', 'call-graph': 'fp', 'cgroup': '/', 'column-widths': '10,20',
        'comms': 'sh', 'count': '1000', 'count-filter': '5', 'cpu': '0', 'delay': '1', 'disassembler-style': 'intel',
        'dsos': 'libc.so.6', 'entries': '20', 'event': 'task-clock', 'fields': 'overhead,comm', 'filter': 'prev_pid > 0',
        'freq': '99', 'group-sort-idx': '0', 'ignore-callees': 'main', 'kallsyms': '/dev/null', 'max-stack': '10',
        'mmap-pages': '16', 'num-thread-synthesize': '2', 'objdump': 'objdump', 'percent-limit': '1',
        'percentage': 'relative', 'pid': '{pid}', 'prefix': '/x', 'prefix-strip': '1', 'proc-map-timeout': '500',
        'realtime': '1', 'sort': 'comm', 'switch-off': 'cpu-clock', 'switch-on': 'cpu-clock', 'sym-annotate': 'main',
        'symbols': 'main', 'tid': '{pid}', 'uid': '{uid}', 'vmlinux': '{ringtail}',
    },
    'stat': {
        'cgroup': '/', 'control': 'fd:0', 'cpu': '0', 'cputype': 'core', 'delay': '1', 'event': 'task-clock',
        'field-separator': ';', 'filter': 'prev_pid > 0', 'for-each-cgroup': '/', 'interval-count': '1',
        'interval-print': '100', 'iostat': '', 'log-fd': '2', 'metrics': 'ipc', 'output': 'x.txt', 'per-cache': '',
        'pid': '{pid}', 'pmu-filter': 'x', 'post': 'true', 'pre': 'true', 'repeat': '2', 'td-level': '1', 'tid': '{pid}',
        'timeout': '1000', 'tpebs-mode': 'mean',
    },
}
# Recordings whose samples have what the option is about, and other options that it needs.
FILES = {'branch-stack': 'branch', 'branch-history': 'branch', 'total-cycles': 'branch', 'mem-mode': 'memory', 'latency': 'switches', 'parallelism': 'switches',
         'threads': 'counts', 'cpu': 'cpus'}
BESIDE = {
    ('record', 'filter'): ['-e', 'sched:sched_switch'], ('record', 'cgroup'): ['-a', '-e', 'cpu-clock'],
    ('record', 'buildid-mmap'): ['-e', 'cpu-clock'], ('record', 'all-cpus'): ['--duration', '1s'],
    ('record', 'cpu'): ['--duration', '1s'], ('record', 'switch-max-files'): ['--switch-output'],
    ('report', 'exclude-other'): ['--parent', 'main'],
    ('script', 'dlarg'): ['--dlfilter', '{filter}'], ('script', 'addr-range'): ['-S', '0x1000'], ('script', 'graph-function'): ['--call-trace'],
    ('stat', 'append'): ['-o', 'y.txt'], ('stat', 'filter'): ['-e', 'sched:sched_switch'],
    ('stat', 'interval-clear'): ['-I', '100'], ('stat', 'interval-count'): ['-I', '100'],
    ('stat', 'no-aggr'): ['-a'], ('stat', 'per-core'): ['-a'], ('stat', 'per-die'): ['-a'],
    ('stat', 'per-node'): ['-a'], ('stat', 'per-socket'): ['-a'], ('stat', 'pid'): ['--timeout', '10'],
    ('stat', 'tid'): ['--timeout', '10'], ('stat', 'per-thread'): ['--timeout', '10', '-p', '{pid}'],
}
# A machine without such hardware says so.
OF_TRACES = ['snapshot', 'aux-sample']
# Letters that are another option of ringtail's.
OTHER_LETTERS = [('script', 'd'), ('top', 'M')]
# What differs from perf, where an option works. Of an option without effect --help says it.
DIFFERENT = {
    'record': {
        'aio': 'any number of writes in flight; the default is 4',
        'buildid-all': 'always',
        'cgroup': 'also after --for-each-cgroup; cgroups that are recorded side by side are in the events\' names',
        'exclude-perf': 'by the names of ringtail\'s threads, so other recorders are left out, too',
        'filter': 'one of several functions with the same name by its address, not by #N or #g',
        'freq': 'a frequency above the kernel\'s bound is lowered with a warning',
        'mmap-pages': 'rings have 8 MB by default; a number is rounded up',
        'namespaces': 'always',
        'no-buildid-cache': 'ringtail copies no files',
        'overwrite': 'the samples that were left are written at each rotation, too',
        'per-thread': 'as -i',
        'quiet': 'losses are still printed',
        'switch-events': 'the first event brings them',
        'switch-output-event': 'any event; a filter may follow',
        'tail-synthesize': 'always',
        'timestamp-boundary': 'always',
        'uid': 'processes that run already, as perf 6.1, and their children; -a has no effect; a command only says how long',
        'vmlinux': 'for the names of the kernel that the recording carries',
        'threads': 'masks as perf\'s; layouts by hwloc',
        'timestamp': 'always',
        'no-samples': 'as perf; \'ringtail stat\' counts without a file',
    },
    'report': {
        'demangle-kernel': 'on by default',
        'children': 'off by default: each sample counts once',
        'demangle': 'on by default',
        'header': 'also lists snapshots and losses',
        'inline': 'on by default',
        'max-stack': 'counted from where the graph begins',
        'modules': 'always',
        'pretty': 'counts have no column for their place in the file',
        'threads': 'counts of threads stand below the tables',
        'total-cycles': 'each block counts once for Avg Cycles%; \'?\' is a beginning that is not known',
        'stdio': 'the default where standard input or output is no terminal',
        'verbose': 'prints why a shared object has no symbols',
    },
    'script': {
        'debug-mode': 'always',
        'demangle': 'on by default',
        'demangle-kernel': 'on by default',
        'dump-raw-trace': 'as \'ringtail dump\', whose lines are ringtail\'s own',
        'dump-unsorted-raw-trace': 'as \'ringtail dump\', whose lines are ringtail\'s own',
        'graph-function': 'a call beside the one before is shown, too',
        'inline': 'on by default',
        'show-kernel-path': 'of the kernel itself only that of --vmlinux',
        'verbose': 'prints why a shared object has no symbols',
        'xed': 'ringtail decodes instructions itself; as -F +disasm',
    },
    'top': {
        'cgroup': 'with -a',
        'children': 'off by default',
        'column-widths': 'with --stdio',
        'percentage': 'with --stdio; in the view a key changes it',
        'tui': 'with the keys of \'ringtail view\'',
    },
    'stat': {
        'no-aggr': 'with -a or -C',
        'per-thread': 'with -p or -t',
        'verbose': 'always: what cannot be counted is said',
    },
}
HEAD = '''# Options of perf

What becomes of each option of `perf record`, `perf report`, `perf script`, `perf top` and `perf stat` when it is given to
the command of ringtail with the same name. `tests/cli/compared.py` writes this page: it tries each of them.

Options that perf 6.1 or 7.2 lists count. An option works; works differently, as the line says; is accepted without effect,
so that a command line for perf runs, for the reason that the line gives; or is refused for such a reason. `--no-OPTION`,
which perf takes for every option, is known for those where it has a use.

The page is made by giving each option, with a value, and reading the exit status and the message; `record` gets `--dry-run`,
and `top` ends because there is no terminal.
What an option then does is what other tests, and the man pages, say. Below are the keys of report and the fields of script.
'''


class Option:
    def __init__(self, line):
        self.command, self.name, self.letter, self.argument, versions = line.rstrip('\n').split('\t')
        self.versions = versions.split()
        self.key = self.name or self.letter

    def spelled(self):
        long = '--' + self.name + {'=': ' ARG', '?': '[=ARG]', '': ''}[self.argument] if self.name else ''
        return ', '.join(x for x in ('-' + self.letter if self.letter else '', long) if x)


def options():
    with open(os.path.join(HERE, 'perf-options.tsv'), encoding='utf-8') as f:
        return [Option(line) for line in f if not line.startswith('#')]


def run(folder, argv):
    env = dict(os.environ, HOME=folder, LC_ALL='C.UTF-8', DEBUGINFOD_URLS='')
    return subprocess.run(argv, cwd=folder, env=env, text=True, errors='replace', check=False, timeout=120,
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)


def words(option, places, short):
    """The option and its argument, as somebody types them."""
    value = VALUES[option.command].get(option.key)
    if short:
        return ['-' + option.letter, value.format(**places)] if option.argument == '=' else ['-' + option.letter]
    if option.argument == '=':
        return ['--' + option.name, value.format(**places)]
    return ['--' + option.name + (f'={value.format(**places)}' if option.argument == '?' and value else '')]


def tried(ringtail, folder, files, option, short):
    places = {'pid': os.getpid(), 'uid': os.getuid(), 'file': files['plain'], 'ringtail': ringtail, 'filter': files['filter']}
    beside = [word.format(**places) for word in BESIDE.get((option.command, option.key), [])]
    if option.command == 'record':
        last = [] if option.key in ('all-cpus', 'cpu', 'pid', 'tid', 'uid', 'cgroup') else ['--', 'true']
        return run(folder, [ringtail, 'record', '--dry-run', *beside, *words(option, places, short), *last])
    if option.command == 'stat':
        last = [] if '--timeout' in beside else ['--', 'true']
        return run(folder, [ringtail, 'stat', *beside, *words(option, places, short), *last])
    if option.command == 'top':
        return run(folder, [ringtail, 'top', *beside, *words(option, places, short), '--tui'])
    file = files[FILES.get(option.key, 'plain')]
    return run(folder, [ringtail, option.command, '-i', file, '-f', *beside, *words(option, places, short)])


def accepted_texts(ringtail, folder, command):
    """Options whose help begins with 'Accepted:', by name."""
    text = run(folder, [ringtail, command, '--help']).stdout
    text = re.sub(r'\n {10,}', ' ', text)  # the lines of a description
    return {m.group(1): m.group(2).strip() for m in re.finditer(r'--([\w-]+)[^\s]*\s+Accepted: ([^\n]*)', text)}


def judged(p, option, accepted):
    """('works' | 'differs' | 'unused' | 'refused', text), or None with the fault."""
    text = p.stderr.strip().replace('\n', ' ')
    if p.returncode == 2 and 'there is no ' in text:
        return ('refused', re.sub(r'^.*?: there is no [^:]*: ', '', text)), None
    taken = p.returncode == 2 and 'needs a terminal' in text and (option.command == 'top' or option.key == 'tui')
    if option.key in OF_TRACES and 'is about a hardware trace' in text:
        return ('works', ''), None
    root = os.getuid() == 0
    if not taken and p.returncode not in ([0] if root or option.command not in ('record', 'stat') else [0, 1]):
        return None, f'status {p.returncode}: {text[:300]}'
    if option.key in accepted:
        return ('unused', accepted[option.key]), None
    different = DIFFERENT[option.command].get(option.key)
    return (('differs', different) if different else ('works', '')), None


def table(command, rows):
    counts = {kind: sum(r[1][0] == kind for r in rows) for kind in ('works', 'differs', 'unused', 'refused')}
    share = 100 * (counts['works'] + counts['differs']) / len(rows)
    accepted = share + 100 * counts['unused'] / len(rows)
    out = [f'\n## {command}\n', f'{len(rows)} options: {counts["works"]} work, {counts["differs"]} work differently, '
           f'{counts["unused"]} are accepted without effect, {counts["refused"]} are refused: {share:.0f} % work, '
           f'{accepted:.0f} % are accepted.\n', '| option | perf | |', '| --- | --- | --- |']
    for option, (kind, text) in rows:
        say = {'works': 'works', 'differs': 'works differently: ' + text, 'unused': 'no effect: ' + text,
               'refused': 'refused: ' + text}[kind]
        out.append(f'| `{option.spelled()}` | {", ".join(option.versions)} | {say.replace("|", chr(92) + "|")} |')
    return '\n'.join(out) + '\n', share, accepted


def listed_by_perf(command):
    """Names of the installed perf's options."""
    p = subprocess.run(['perf', command, '-h'], text=True, check=False, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    return set(re.findall(r'^    (?:-\w, |    )--([\w-]+)', p.stdout, re.MULTILINE))


def main():
    update = sys.argv[1] == '--update'
    ringtail, corpus = (os.path.abspath(path) for path in sys.argv[1 + update:3 + update])
    files = {'plain': corpus + '/local/regs.data', 'branch': corpus + '/google+perf_data_converter/src/quipper/testdata/'
             'perf.data.branch-4.14', 'memory': corpus + '/google+perf_data_converter/src/quipper/testdata/perf.data.weight_struct', 'cpus': corpus + '/local/sched.data', 'switches': corpus +
             '/local/switch-ns-cg.data', 'counts': corpus + '/local/stat-s.data'}
    document, failed = HEAD, 0

    def result(name, fault):
        nonlocal failed
        failed += bool(fault)
        print(f'FAIL {name} {fault}' if fault else f'ok {name}', flush=True)

    known = options()
    with tempfile.TemporaryDirectory() as folder:
        files['plain'] = shutil.copy(files['plain'], folder)  # --per-event-dump writes beside it
        files['filter'] = own_filter.build('filter', folder)
        for command in LEAST:
            accepted, rows = accepted_texts(ringtail, folder, command), []
            for option in (o for o in known if o.command == command):
                row, fault = judged(tried(ringtail, folder, files, option, not option.name), option, accepted)
                if not fault and option.name and option.letter and (command, option.letter) not in OTHER_LETTERS:
                    letter, fault = judged(tried(ringtail, folder, files, option, True), option, accepted)
                    fault = fault or ('' if letter[0] == row[0] else f'-{option.letter} is another option')
                if fault:
                    result(f'{command} {option.spelled()}', fault)
                else:
                    rows.append((option, row))
            text, share, taken = table(command, rows)
            document += text
            result(f'{command}: {len(rows)} options', '' if share >= LEAST[command] else f'only {share:.1f} % work')
            result(f'{command}: what is accepted', '' if taken >= LEAST_ACCEPTED[command] else f'only {taken:.1f} %')
            if shutil.which('perf'):
                more = listed_by_perf(command) - {o.name for o in known if o.command == command}
                result(f'{command}: all options of the perf here', f'not in the list: {sorted(more)}' if more else '')
        document += compared_keys.compare(run, result, ringtail, folder, [path for name, path in files.items() if name != 'filter'] + [
            os.path.join(os.path.dirname(corpus), 'branches', 'chains.data')])
    if update:
        with open(DOCUMENT, 'w', encoding='utf-8') as f:
            f.write(document)
    with open(DOCUMENT, encoding='utf-8') as f:
        result('docs/COMPARED.md', '' if f.read() == document else
               'differs from the program: run tests/cli/compared.py --update RINGTAIL CORPUS')
    sys.exit(failed > 0)


if __name__ == '__main__':
    main()
