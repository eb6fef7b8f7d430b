#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Gives options, and compares what they change: in what recordings whose every sample is known are shown as, and in
what a command prints.

usage: effects.py RINGTAIL CORPUS [NAME...]     NAME selects tests by substring

Prints `ok NAME`, `FAIL NAME reason` or `skip NAME reason`; exit status 1 on failure.
"""
import json
import os
import pty
import re
import shutil
import struct
import subprocess
import sys
import tempfile

TESTS = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, os.path.join(TESTS, 'export'))
import branch_recording  # noqa: E402 pylint: disable=wrong-import-position
import cs_recording  # noqa: E402 pylint: disable=wrong-import-position
import lab  # noqa: E402 pylint: disable=wrong-import-position
import own_filter  # noqa: E402 pylint: disable=wrong-import-position
import recording  # noqa: E402 pylint: disable=wrong-import-position

TEXT_POKE = 20
FUNCTIONS = [b'main', b'parse', b'_ZN5outer5innerEv']


class Bench(lab.Lab):
    """Runs ringtail on recordings of its own, and on those of the corpus."""

    def __init__(self, ringtail, corpus, folder):
        super().__init__(ringtail, folder)
        self.corpus = corpus

    def say(self, *args, status=0, pass_fds=(), **env):
        """Returns what a command prints on standard output, then on standard error."""
        p = subprocess.run([self.ringtail, *args], capture_output=True, check=False, timeout=120, cwd=self.folder,
                           env={**os.environ, 'LC_ALL': 'C.UTF-8', 'DEBUGINFOD_URLS': '', **env}, pass_fds=pass_fds)
        out, err = (text.decode(errors='replace') for text in (p.stdout, p.stderr))
        lab.expect(f'status {status} of {args}', p.returncode == status, p.returncode, out[-200:], err[-300:])
        return out, err

    def out(self, *args, **keys):
        return self.say(*args, **keys)[0]

    def terminal(self, *args, typed=False, **env):
        """Returns what a command writes to a terminal. @typed: it reads from it, too, and nobody types."""
        master, slave = pty.openpty()
        with subprocess.Popen(['timeout', '--foreground', '60', self.ringtail, *args], cwd=self.folder,
                              stdin=slave if typed else subprocess.DEVNULL, stdout=slave, stderr=slave,
                              env={**os.environ, 'TERM': 'xterm', 'LC_ALL': 'C.UTF-8', 'PAGER': 'cat', **env}):
            os.close(slave)
            text = b''
            while True:
                try:
                    more = os.read(master, 65536)
                except OSError:
                    break
                text += more
        os.close(master)
        return text.decode(errors='replace')

    def program(self, names=tuple(FUNCTIONS)):
        """Makes a folder for --symfs whose /program has these functions. Returns it."""
        root = self.path(f'root-{len(os.listdir(self.folder))}')
        os.mkdir(root)
        with open(os.path.join(root, 'program'), 'wb') as f:
            f.write(recording.elf(list(names)))
        return root

    def make(self, fill, events=1):
        """A recording of thread 10, which has mapped /program; fill(it) adds the rest."""
        path = self.path(f'made-{len(os.listdir(self.folder))}.data')
        rec = recording.Recording(path, events)
        rec.comm(10, 10, b'work')
        rec.map(10, b'/program')
        fill(rec)
        rec.close()
        return path

    def local(self, name):
        return os.path.join(self.corpus, 'local', name)


# --- ringtail ----------------------------------------------------------------------------------------


def test_options_before_the_command(bench):
    data, root = bench.make(lambda rec: rec.sample(10, 10, [1])), bench.program()
    cache = bench.path('cache')
    place = os.path.join(cache, '.build-id', recording.BUILD_ID.hex()[:2], recording.BUILD_ID.hex()[2:])
    os.makedirs(place)
    os.rename(os.path.join(root, 'program'), os.path.join(place, 'elf'))
    shown = ['report', '-i', data, '--stdio', '-s', 'sym']
    lab.expect('no names without', 'parse' not in bench.out(*shown))
    lab.expect('--buildid-dir', 'parse' in bench.out('--buildid-dir', cache, *shown))
    lab.expect('its variable', 'parse' in bench.out(*shown, PERF_BUILDID_DIR=cache))
    lab.expect('--list-cmds', {'record', 'report', 'help'} <= set(bench.out('--list-cmds').split()))
    versions = bench.out('version')
    for option in '-v', '-vv', '--version':
        lab.expect(option, bench.out(option) == versions)
    hwloc = subprocess.run(['pkg-config', '--modversion', 'hwloc'], capture_output=True, text=True, check=False).stdout.strip()
    lab.expect('the version of hwloc, not of its API', not hwloc or f'  hwloc {hwloc}\n' in versions, hwloc, versions)
    lab.expect('--build-options', re.search(r'^ +zstd: \[ on +\]  # HAVE_ZSTD_SUPPORT$',
                                            bench.out('version', '--build-options'), re.M))
    lab.expect('-p goes on', 'work' in bench.out('-p', 'report', '-i', data, '--stdio', '-s', 'comm'))
    for option in ('--debug', '--debug=verbose=1', '--debug-file', '--debugfs-dir', '--exec-path', '--exec-path=/x', '--html-path',
                   '--list-opts'):
        _, err = bench.say(option, status=2)
        lab.expect(f'{option} is refused by name', f'there is no {option.split("=")[0]}: ' in err, err)


# Wrong whatever the recording and the machine: {data} is a recording, {out} a new file.
WRONG = ['report -i {data} -s frob', 'report -i {data} -F frob', 'report -i {data} -F +frob', 'report -i {data} -s sym,op',
         'report -i {data} --stdio --tid x', 'report -i {data} --time x', 'report -i {data} -g x', 'report -i {data} -j x',
         'report -i {data} --html {out} -s frob', 'script -i {data} -F frob', 'script -i {data} --max-stack x',
         'annotate -i {data} -M frob', 'annotate -i {data} --percent-limit x', 'diff {data} {data} -s frob',
         'diff {data} {data} -c frob', 'diff {data} {data} --tid x', 'export -i {data} --to frob -o {out}',
         'export -i {data} --to folded --to frob -o {out}', 'export -i {data} --to folded --tid x -o {out}',
         'top --stdio -s frob', 'view -i {data} --tid x', 'dump --frob {data}', 'stat -C x true', 'stat -e cpu-clock/config=/ true',
         'record -o {out} -C x true', 'record -o {out} -p x', 'record -o {out} -e cpu-clock/config=/ true',
         'record -o {out} --threads=frob true', 'frob']
# Not in this recording, or not on this machine.
LACKING = ['report -i {data} -s frob.pid', 'report -i {data} -s weight', 'report -i {data} -b', 'report -i {data} --snapshot 1',
           'report -i {data} --switch-on frob', 'script -i {data} -F +weight', 'script -i {data} --snapshot 1',
           'annotate -i {data} frob', 'annotate -i {data} --snapshot 1', 'export -i {data} --to folded -e frob -o {out}',
           'export -i {data} --to folded --snapshot 1 -o {out}', 'diff {data} {data}.frob', 'stat -e frob true', 'stat -C 4000 true',
           'record -o {out} -e frob true', 'record -o {out} -C 4000 true', 'record -o {out} -p 2147483647',
           'record -o {out} -u frob', 'record -o {out} --threads=4000/0 true', 'list frob', 'report -i {data}.frob']


def test_status_of_wrong_values(bench):
    """Wrong usage is 2, and the command says so by its name; what the recording or the machine lacks is 1."""
    data = bench.make(lambda rec: rec.sample(10, 10, [1]))
    for status, lines in (2, WRONG), (1, LACKING):
        for line in lines:
            out = bench.path('refused')
            words = line.format(data=data, out=out).split()
            _, err = bench.say(*words, status=status)
            who = ('ringtail: ', f'ringtail {words[0]}: ')[status == 2 and len(words) > 1]
            lab.expect(f'who says it: {line}', line.startswith('record -o {out} --threads') or err.startswith(who), err)
            lab.expect(f'no output: {line}', not os.path.exists(out))


# --- record ------------------------------------------------------------------------------------------


def test_registers_listed_can_be_sampled(bench):
    for option in '--user-regs', '--intr-regs':
        names = bench.out('record', f'{option}=?').split(':')[1].split()
        lab.expect(f'{option}=? lists some', len(names) >= 8, names)
        if os.uname().machine == 'x86_64':
            lab.expect('no segments', not {'DS', 'ES', 'FS', 'GS'} & set(names), names)
            _, err = bench.say('record', '-o', 'regs.data', f'{option}=ds', 'true', status=2)
            lab.expect('one that is not listed is refused by name', 'does not sample DS' in err, err)
        bench.say('record', '-o', 'regs.data', '-e', 'task-clock:u', '-c', '100000', f'{option}={",".join(names)}', 'true')


def test_record_vmlinux(bench):
    def kernel_names(*options):
        bench.say('record', '-o', 'names.data', '-e', 'cpu-clock:k', '-c', '100000', *options, '--', sys.executable, '-c',
                  'import os\nfor _ in range(20000): os.stat("/")')
        return re.findall(r'^ +[\d.]+%  \[k\] (\w+)', bench.out('report', '-i', 'names.data', '--stdio', '-q', '-s', 'sym', '--kallsyms',
                                                                  '/dev/null'), re.M)
    if os.getuid():
        raise lab.Skipped('only root samples the kernel')
    lab.expect('the recording carries names', any(not name.startswith('0x') for name in kernel_names()))
    names = kernel_names('--vmlinux', '/dev/null')
    lab.expect('/dev/null has none', names and all(name.startswith('0x') for name in names), names)
    _, err = bench.say('record', '--vmlinux', 'nowhere', 'true', status=2)
    lab.expect('a missing file is named', '--vmlinux: nowhere: No such file' in err, err)


def test_record_timestamp_boundary(bench):
    """ringtail always does it."""
    for options in [], ['--timestamp-boundary']:
        bench.say('record', '-o', 'times.data', '-e', 'task-clock:u', *options, 'true')
        text = bench.out('report', '-i', 'times.data', '--header-only')
        lab.expect('both times', re.search('(?i)first sample', text) and re.search('(?i)last sample', text), options, text[:600])


def test_script_per_event_dump(bench):
    """Of more events than the soft limit of descriptors."""
    many = recording.Recording(bench.path('many.data'), 200)
    many.comm(10, 10, b'work')
    many.sample(10, 10, [0], event=150)
    many.close()
    subprocess.run(['sh', '-c', 'ulimit -Sn 128; exec "$0" script -q -i many.data --per-event-dump', bench.ringtail],
                   cwd=bench.folder, check=True)
    dumps = [name for name in os.listdir(bench.folder) if name.startswith('many.data.') and name.endswith('.dump')]
    lab.expect('a file for each event, one with a sample',
               len(dumps) == 200 and sum(os.path.getsize(bench.path(name)) > 0 for name in dumps) == 1, len(dumps))


def test_report_branch_history_counts(bench):
    """What is shown of a chain changes no count of its branches."""
    def at(function, offset):
        return branch_recording.BASE + recording.CODE + function * recording.FUNCTION + offset
    path, root = bench.path('branches.data'), bench.program((b'main', b'work', b'leaf'))
    branches = [branch_recording.branch(at(1, 8), at(2, 0), cycles=7)]
    branch_recording.write(path, '/program', [branch_recording.sample(10, [at(2, 4), at(1, 8), at(0, 8)], branches)])
    shown = ['report', '-i', path, '--symfs', root, '--stdio', '-q', '-g', 'none', '--branch-history']

    def counts(*options):
        return [re.split(r' {2,}', line.strip())[-3:] for line in bench.out(*shown, *options).splitlines() if '%' in line]
    lab.expect('one branch of 7 cycles', counts() == [['100.0%', '0', '7.0']], counts())
    lab.expect('--ignore-callees', counts('--ignore-callees', 'main') == counts(), counts('--ignore-callees', 'main'))


class Blocks:
    """Recordings of branch stacks in a program of three functions, whose code is 32 instructions of two bytes each."""

    def __init__(self, bench):
        self.bench, self.root, self.path = bench, bench.program((b'main', b'work', b'leaf')), bench.path('blocks.data')

    @staticmethod
    def at(function, offset):
        return branch_recording.BASE + recording.CODE + function * recording.FUNCTION + offset

    def write(self, *stacks, kinds=branch_recording.ANY):
        """@stacks: of (source, target, cycles), the newest first."""
        branches = [[branch_recording.branch(source, target, cycles=cycles) for source, target, cycles in stack] for stack in stacks]
        branch_recording.write(self.path, '/program', [branch_recording.sample(10 + n, [self.at(1, 8)], stack)
                                                       for n, stack in enumerate(branches)], kinds=kinds)

    def rows(self, *options, code=True):
        text = self.bench.out('report', '-i', self.path, '--stdio', '-q', '-t', ';', '--symfs', self.root if code else '/nonexistent', *options)
        return [[cell.strip() for cell in line.split(';')] for line in text.splitlines() if line]

    def table(self, *options, **keys):
        return self.rows('--total-cycles', *options, **keys)

    def ipc(self, **keys):
        return {name: ipc for _, name, ipc in self.rows('-s', 'sym,ipc_lbr', **keys)}


def test_report_total_cycles(bench):
    made = Blocks(bench)
    at = made.at
    made.write([(at(1, 8), at(2, 0), 2990), (at(2, 20), at(1, 0), 6), (at(0, 4), at(2, 8), 4)],
               [(at(1, 8), at(0, 4), 30), (at(0, 16), at(1, 4), 0)])  # a later beginning, and a branch without cycles
    rows = made.table()
    lab.expect('rows', rows == [['99.67%', '3.0K', '99.34%', '1.5K', '[work+0 -> work+8]', 'program'],
                                ['0.20%', '6', '0.39%', '6', '[leaf+8 -> leaf+20]', 'program'],
                                ['0.13%', '4', '0.26%', '4', '[? -> main+4]', 'program']], rows)
    lab.expect('limit', made.table('--percent-limit', '0.15') == rows[:2], made.table('--percent-limit', '0.15'))
    lab.expect('of all', made.table('-S', 'leaf')[0][:3] == ['0.20%', '6', '100.00%'], made.table('-S', 'leaf'))
    shown = made.table('-S', 'leaf', '--percentage', 'relative')
    lab.expect('of what is shown', shown[0][:3] == ['100.00%', '6', '100.00%'], shown)
    text = bench.out('report', '-i', made.path, '--stdio', '--symfs', made.root, '--total-cycles')
    lab.expect('the sum', '# Sampled cycles: 3030, of 4 branches' in text, text)
    heading = next(line for line in text.splitlines() if 'Avg' in line)
    lab.expect('heading', re.split(' {2,}', heading) == [
        '# Sampled Cycles%', 'Sampled Cycles', 'Avg Cycles%', 'Avg Cycles', '[Program Block Range]', 'Shared Object'], heading)
    for option in '--hierarchy', '--group', '--children', '--branch-history', '--html=x.html':
        _, err = bench.say('report', '-i', made.path, '--total-cycles', option, status=2)
        lab.expect(f'not with {option}', option.partition('=')[0] in err, err)


def test_report_total_cycles_json(bench):
    made = Blocks(bench)
    at = made.at
    made.write([(at(1, 8), at(2, 0), 3), (at(2, 20), at(1, 0), 1)])
    table, = json.loads(bench.out('report', '-i', made.path, '--symfs', made.root, '--total-cycles', '--json'))['tables']
    lab.expect('sum', table['cycles'] == 4, table)
    known, unknown = table['rows']
    lab.expect('block', known == {'percent': 75.0, 'cycles': 3, 'branches': 1, 'average_percent': 75.0, 'average_cycles': 3, 'start': '0x0',
                                  'srcline_start': None, 'end': '0x8', 'srcline_end': None, 'dso': 'program', 'sym': 'work'}, known)
    lab.expect('without a beginning', [unknown[key] for key in ('start', 'end', 'sym')] == [None, '0x14', 'leaf'], unknown)


def test_report_total_cycles_odd(bench):
    """Beginnings behind the end or in another function, code that nobody knows, and cycles as the field can hold."""
    made = Blocks(bench)
    at = made.at
    made.write([(at(2, 2), at(0, 0), 5), (at(0, 2), at(2, 30), 0)],
               [(at(1, 2), at(0, 0), 7), (at(0, 2), at(2, 0), 0)],
               [(at(9, 6), at(0, 0), 11), (at(9, 8), at(9, 4), 0)],  # in the file, but in no function
               [(0x10, at(0, 0), 13), (1 << 63, 0x10, 17)],
               [(at(0, 6), at(0, 2), 0xffff)] * 1000)
    rows = [row[1:2] + row[4:] for row in made.table() if row[5] == 'program']
    lab.expect('rows', rows == [['65.5M', '[main+2 -> main+6]', 'program'],
                                ['11', '[0x1244 -> 0x1246]', 'program'],
                                ['7', '[? -> work+2]', 'program'],
                                ['5', '[? -> leaf+2]', 'program']], rows)
    lab.expect('all cycles count', '# Sampled cycles: 65535053, of 1005 branches' in
               bench.out('report', '-i', made.path, '--stdio', '--symfs', made.root, '--total-cycles'))
    made.write([(at(1, 8), at(2, 0), 3), (at(2, 20), at(1, 0), 1)], kinds=branch_recording.ANY_CALL)
    lab.expect('stacks of calls', [row[4] for row in made.table()] == ['[? -> work+8]', '[? -> leaf+20]'], made.table())
    made.write([(at(1, 8), at(2, 0), 0)])
    lab.expect('no cycles', made.table() == [], made.table())


def test_report_ipc(bench):
    made = Blocks(bench)
    at = made.at
    stack = [(at(1, 8), at(2, 0), 10), (at(2, 20), at(1, 0), 4), (at(0, 4), at(2, 8), 2), (at(1, 6), at(0, 0), 0)]
    made.write(stack)
    ipc = made.ipc()
    lab.expect('instructions by cycles', ipc == {'[.] work': '0.50  [ 15.6%]', '[.] leaf': '1.75  [ 21.9%]', '[.] main': '1.50  [  9.4%]'}, ipc)
    # The second block of work lies within the first, and the third beside it.
    inner = [(at(1, 6), at(1, 0), 2), (at(0, 6), at(1, 4), 0)], [(at(1, 32), at(1, 0), 88), (at(0, 6), at(1, 20), 0)]
    made.write(stack, *inner)
    lab.expect('blocks add up', made.ipc()['[.] work'] == '0.14  [ 37.5%]', made.ipc())
    lab.expect('no code', set(made.ipc(code=False).values()) == {'-      -'}, made.ipc(code=False))
    made.write([(at(1, 8), at(2, 0), 3), (at(2, 20), at(1, 1), 1)])  # work begins within an instruction
    lab.expect('no beginning', made.ipc() == {'[.] work': '-     [  0.0%]', '[.] leaf': '-     [  0.0%]'}, made.ipc())
    lab.expect('ipc_null', {row[2] for row in made.rows('-s', 'sym,ipc_null')} == {'-      -'})
    lab.expect('rows of functions', len(made.rows('-s', 'ipc_null')) == 1 and len(made.rows('-b', '-s', 'ipc_null')) == 2)


def test_report_simd(bench):
    """Vector operations that Arm SPE sampled, with any period of instructions, in a trace with damaged places."""
    with open(os.path.join(os.path.dirname(bench.corpus), 'aux', 'spe.data'), 'rb') as f:
        scalar = f.read()
    shown = ['report', '-f', '--stdio', '-q', '-s', 'simd', '-t', ';']

    def kinds(data, *options):
        with open(bench.path('simd.data'), 'wb') as f:
            f.write(data)
        return set(re.findall(r'^ *[0-9.]+%;(.*)$', bench.out(*shown, '-i', 'simd.data', *options, status=1), re.M))
    lab.expect('no vectors', kinds(scalar) == {''}, kinds(scalar))
    # Operation packets: of another operation, and of a store.
    sve, other = scalar.replace(b'\x48\x01', b'\x48\x0c'), scalar.replace(b'\x49\x01', b'\x49\x05')
    lab.expect('SVE', kinds(sve) == {'', '[f] SVE'}, kinds(sve))
    lab.expect('SVE in a period', '[f] SVE' in kinds(sve, '--itrace=i3i'), kinds(sve, '--itrace=i3i'))
    lab.expect('stores', kinds(other) == {'', '[.] ASE'}, kinds(other))


# --- stat --------------------------------------------------------------------------------------------


def test_stat_interval_clear(bench):
    args = ['stat', '-I', '20', '--interval-count', '3', '-e', 'task-clock', '--', 'sleep', '10']
    lab.expect('no clearing without', '\x1b[2J' not in bench.terminal(*args))
    text = bench.terminal(args[0], '--interval-clear', *args[1:])
    lab.expect('a clear screen for each interval', text.count('\x1b[2J') == 3, text)


def test_stat_log_fd(bench):
    with open(bench.path('log'), 'w+', encoding='utf-8') as f:
        out, err = bench.say('stat', '--log-fd', str(f.fileno()), '-e', 'task-clock', 'true', pass_fds=[f.fileno()])
        f.seek(0)
        lab.expect('the counts are there', 'task-clock' in f.read())
    lab.expect('and not here', 'task-clock' not in out + err, err)


def test_stat_no_big_num(bench):
    args = ['-e', 'page-faults', '--', sys.executable, '-c', 'x = bytearray(32 << 20)']
    grouped, plain = (bench.say('stat', *option, *args)[1] for option in ([], ['--no-big-num']))
    lab.expect('thousands are apart', re.search(r'\d,\d\d\d +page-faults', grouped), grouped)
    lab.expect('not with the option', re.search(r' \d{4,} +page-faults', plain), plain)


# --- report ------------------------------------------------------------------------------------------


def test_report_show_cpu_utilization(bench):
    args = ['report', '--stdio', '-i', bench.local('regs.data'), '-s', 'comm', '-t', ',', '-q', '--symfs', '/nonexistent']
    lab.expect('without', re.search(r'^[\d.]+%,ls$', bench.out(*args), re.M), bench.out(*args))
    row = re.search(r'^([\d.]+)%,([\d.]+)%,([\d.]+)%,ls$', bench.out(*args, '--show-cpu-utilization'), re.M)
    lab.expect('with: a column for the kernel, one for user space', row)
    whole, kernel, user = map(float, row.groups())
    lab.expect('which are all', kernel > 0 and user > 0 and abs(kernel + user - whole) < 0.02, row.groups())


def test_report_no_group(bench):
    args = ['report', '--stdio', '-i', bench.local('group-read.data'), '-s', 'comm', '--symfs', '/nonexistent']
    count = [len(re.findall('^# Samples: ', bench.out(*args, *more), re.M)) for more in ([], ['--group'], ['--group', '--no-group'])]
    lab.expect('one table with --group alone', count == [3, 1, 3], count)


def rows(bench, data, *options):
    return bench.out('report', '--stdio', '-q', '-i', data, *options, '--symfs', '/nonexistent')


def test_report_ns(bench):
    data = bench.make(lambda rec: rec.sample(10, 10, [0]))
    found = [re.findall(r'\d+\.(\d+)\n', rows(bench, data, '-s', 'time', *more)) for more in ([], ['--ns'])]
    lab.expect('six digits, and nine', [[len(digits) for digits in one] for one in found] == [[6], [9]], found)


def test_report_skip_empty(bench):
    def fill(rec):
        rec.sample(10, 10, [0], event=0)
    data = bench.make(fill, events=2)
    count = [len(re.findall('^# Samples: ', bench.out('report', '--stdio', '-i', data, *more), re.M))
             for more in ([], ['--skip-empty'], ['--no-skip-empty'])]
    lab.expect('a table for an event without samples', count == [1, 1, 2], count)


def test_report_of_a_cut_file(bench):
    """A file that ends within what names its machine is cut, wherever within; behind it, it is not."""
    with open(bench.local('sched.data'), 'rb') as f:
        whole = f.read()
    at, size, bits = *struct.unpack_from('<QQ', whole, 40), struct.unpack_from('<Q', whole, 72)[0]
    places = {}
    for n, feature in enumerate(bit for bit in range(64) if bits >> bit & 1):
        places[feature] = struct.unpack_from('<Q', whole, at + size + 16 * n)[0]
    path = bench.path('cut.data')
    for name, feature, cut in ('the host', 3, True), ('the release', 4, True), ('the architecture', 6, True), ('the CPUs', 7, False):
        with open(path, 'wb') as f:
            f.write(whole[:places[feature]])
        _, err = bench.say('report', '-i', path, '--stdio', '-s', 'comm', status=1)
        lab.expect(f'cut before {name}', ('the file ends before the description of its machine' in err) == cut, err)


def test_report_raw_trace(bench):
    data = bench.local('schedrec.data')
    states = [set(rows(bench, data, '-s', 'prev_state', '-t', ',', *more).split()) for more in ([], ['--raw-trace'])]
    lab.expect('letters of states', any(row.endswith('%,S') for row in states[0]), states)
    lab.expect('numbers of states', any(row.endswith('%,1') for row in states[1]), states)
    text = [rows(bench, data, '-s', 'trace', *more) for more in ([], ['--raw-trace'])]
    lab.expect('by the format, and not', ' ==> ' in text[0] and ' ==> ' not in text[1] and 'prev_state=1 ' in text[1], text)


def test_report_pretty(bench):
    data = bench.local('stat-s.data')
    normal, raw = (re.findall(r'^ +\d+ +\d+  .*', bench.out('report', '-T', '--stdio', '--pretty', how, '-i', data), re.M)
                   for how in ('normal', 'raw'))
    lab.expect('two counts of each thread', normal and len(raw) == 2 * len(normal), normal, raw)
    lab.expect('with their names', all(re.search(r' (task-clock|cs) +\d+$', row) for row in raw), raw)
    bench.say('report', '-T', '--pretty', 'nice', '-i', data, status=2)


def kernel_recording(bench, names):
    """A sample in the second function of a kernel, whose vmlinux is in a cache of build-ids. Returns both."""
    def fill(rec):
        start = 0xffffffff81000000
        body = struct.pack('<IIQQQBBH20sII', 0xffffffff, 0, start, 0x1000000, start, 20, 0, 0, recording.BUILD_ID, 5, 2)
        rec.file.write(recording.record(recording.MMAP2, 1 | 1 << 14, body + recording.padded(b'[kernel.kallsyms]_text')
                                        + rec._trailer(0, 0)))  # pylint: disable=protected-access
        at = start + recording.FUNCTION + 8
        rec.time += 1000
        rec.file.write(recording.record(recording.SAMPLE, 1, struct.pack('<QQIIQIIQQQQQ', 1, at, 10, 10, rec.time, 0, 0, 1, 2,
                                                                         recording.KERNEL_MARK, at, 0)))
    data, root = bench.make(fill), bench.program(names)
    place = os.path.join(root, '.build-id', recording.BUILD_ID.hex()[:2], recording.BUILD_ID.hex()[2:])
    os.makedirs(place)
    os.rename(os.path.join(root, 'program'), os.path.join(place, 'vmlinux'))
    return data, root


def test_names_of_a_vmlinux(bench):
    data, cache = kernel_recording(bench, [b'_text', b'_ZN5outer5innerEv'])

    def named(*more):
        return bench.out('--buildid-dir', cache, 'report', '--stdio', '-q', '-i', data, '-s', 'sym', *more)
    lab.expect('from the cache, demangled', 'outer::inner()' in named() and 'outer::inner()' in named('--demangle-kernel'), named())
    lab.expect('--no-demangle-kernel', '_ZN5outer5innerEv' in named('--no-demangle-kernel'))
    lab.expect('--ignore-vmlinux', 'inner' not in named('--ignore-vmlinux'), named('--ignore-vmlinux'))
    lines = ['--buildid-dir', cache, 'script', '-i', data, '-F', 'ip,sym,dso', '-G']
    lab.expect('the kernel has its name', '([kernel.kallsyms])' in bench.out(*lines), bench.out(*lines))
    file = subprocess.run(['find', cache, '-name', 'vmlinux'], capture_output=True, text=True, check=True).stdout.strip()
    lab.expect('--show-kernel-path', f'({file})' in bench.out(*lines, '--show-kernel-path', '-k', file))


def test_full_source_path(bench):
    source, program = bench.path('lines.c'), bench.path('lines')
    with open(source, 'w', encoding='utf-8') as f:
        f.write('volatile int n;\nint main(void) { for (long i = 0; i < 100000000; i++) n += 1; return 0; }\n')
    subprocess.run(['cc', '-g', '-O1', '-o', program, source], check=True)
    bench.say('record', '-o', 'lines.data', '-e', 'task-clock:u', program)
    for command in (['report', '--stdio', '-q', '-s', 'srcline', '--percent-limit', '5'], ['script', '-F', 'ip,sym,srcline']):
        short, full = (bench.out(*command, '-i', 'lines.data', *more) for more in ([], ['--full-source-path']))
        lab.expect(f'{command[0]}: the name alone', 'lines.c:2' in short and f'{source}:2' not in short, short[:300])
        lab.expect(f'{command[0]}: with its path', f'{source}:2' in full, full[:300])


# --- script ------------------------------------------------------------------------------------------


def test_script_show_round_events(bench):
    args = ['script', '-i', bench.local('group-read.data'), '--symfs', '/nonexistent']
    lab.expect('none without', 'FINISHED_ROUND' not in bench.out(*args))
    lab.expect('with', 'PERF_RECORD_FINISHED_ROUND' in bench.out(*args, '--show-round-events').split('\n'))


def test_script_show_text_poke_events(bench):
    def fill(rec):
        body = struct.pack('<QHH', 0xffffffff81234560, 2, 5) + b'\x66\x90\xe8\1\2\3\4' + bytes(5)
        rec.file.write(recording.record(TEXT_POKE, 1, body + rec._trailer(10, 10)))  # pylint: disable=protected-access
        rec.sample(10, 10, [0])
    args = ['script', '-i', bench.make(fill)]
    lab.expect('none without', 'TEXT_POKE' not in bench.out(*args))
    text = bench.out(*args, '--show-text-poke-events')
    lab.expect('with', re.search('PERF_RECORD_TEXT_POKE .*ffffffff81234560', text), text)


def with_loss(path, to, time, event):
    """Copies a recording, and adds a LOST record of that time."""
    with open(path, 'rb') as f:
        data = bytearray(f.read())
    start, size = struct.unpack_from('<QQ', data, 40)
    features = sum(bin(word).count('1') for word in struct.unpack_from('<4Q', data, 72))
    lost = recording.record(2, 0, struct.pack('<QQIIQIIQ', event, 1, 0, 0, time, 0, 0, event))
    for i in range(features):
        at = start + size + 16 * i
        struct.pack_into('<Q', data, at, struct.unpack_from('<Q', data, at)[0] + len(lost))
    struct.pack_into('<Q', data, 48, size + len(lost))
    data[start:start] = lost
    with open(to, 'wb') as f:
        f.write(data)


def test_sched_longest_delay_has_no_loss(bench):
    """Over a loss a delay may be several: it counts, and is not the longest."""
    def report(path):
        found = json.loads(bench.out('report', 'sched', '-i', path, '--json'))
        return found['waits']['over_losses'], found['all'], {t['tid']: t for t in found['threads']}
    path, lossy = bench.local('sched.data'), os.path.join(bench.folder, 'lossy.data')
    losses, before, threads = report(path)
    slowest = max(threads.values(), key=lambda t: t['max_delay_ns'])
    lab.expect('the longest of all', not losses and before['max_delay_ns'] == slowest['max_delay_ns'] > 0, losses, before)
    with_loss(path, lossy, before['max_delay_at_ns'] - 1000, 2345)
    losses, after, others = report(lossy)
    lab.expect('a wait is over the loss', losses > 0, losses)
    same = [after[key] == before[key] for key in ('delays', 'delay_ns')]
    lab.expect('delays count', all(same), after, before)
    rest = [t['max_delay_ns'] for t in threads.values() if t['tid'] != slowest['tid']]
    lab.expect('another delay is the longest', after['max_delay_ns'] == max(rest) < before['max_delay_ns'], after)
    lab.expect('also of its thread', 0 < others[slowest['tid']]['max_delay_ns'] < slowest['max_delay_ns'], others)


def test_script_xed(bench):
    bench.say('record', '-o', 'insn.data', '-e', 'task-clock:u', '-c', '10000', sys.executable, '-c', 'sum(range(100000))')
    args = ['script', '-i', 'insn.data', '-F', 'ip']
    lab.expect('instructions as text', bench.out(*args, '--xed') == bench.out('script', '-i', 'insn.data', '-F', 'ip,disasm')
               != bench.out(*args))


def filtered_recording(bench):
    """A recording of a program with functions of each binding; on x86, the machine that such a file is of."""
    if os.uname().machine != 'x86_64':
        raise lab.Skipped('branches are recorded on x86_64')
    program, at = own_filter.program(bench.folder)
    local, outer, weak, main_ = (at[name] for name in ('local_one', 'global_one', 'weak_one', 'main'))
    branch = branch_recording.branch
    branch_recording.write(bench.path('filtered.data'), program, [
        branch_recording.sample(10, [local, outer + 5, weak + 5], [branch(outer, local)]),
        branch_recording.sample(20, [outer, weak + 5], [branch(weak, outer)]),
        branch_recording.sample(30, [weak], []), branch_recording.sample(40, [main_], [branch(main_, weak)])])
    return ['script', '-i', 'filtered.data', '-F', 'comm,sym,ip', '--dlfilter', own_filter.build('filter', bench.folder)]


def test_script_dlfilter(bench):
    """It answers what a filter asks, does what that says, and leaves what it prints in its place."""
    script = filtered_recording(bench)
    text = bench.out(*script, '--dlarg', 'weak_one', '--dlarg', 'second', '-S', 'local_one,global_one,weak_one')
    lines = text.splitlines()
    lab.expect('first and last', lines[0] == 'start: weak_one second' and lines[-1] == 'stop: 77 4 3', lines)
    asked = [line.split()[0] + line.split()[-1] for line in lines if line.startswith('early')]
    lab.expect('early', asked == ['early:kept'] * 3 + ['early:filtered'], asked)
    places = re.findall(r'^sample: .* at (\w+)\+0 .*? in filtered, binding (\d), 64 bits, kernel 0, build-id 0 comm branchy '
                        r'.* line filtered.c:(\d+) insn (\d).* code 4 ', text, re.MULTILINE)
    lab.expect('places', [place[:2] for place in places] == [('local_one', '0'), ('global_one', '1'), ('weak_one', '2')] and
               all(int(place[2]) > 2 and int(place[3]) for place in places), text)
    shown = [line.split()[-1] for line in lines if re.match(r'^\s+[0-9a-f]+ ', line)]
    lab.expect('shown', shown == ['local_one', 'global_one', 'weak_one', 'global_one', 'weak_one'], shown)
    lab.expect('in order', [line.split(':')[0].split(' ')[0] for line in lines][1:4] == ['early', 'sample', 'branchy'], lines)


def test_script_dlfilter_fails(bench):
    script = filtered_recording(bench)
    for word, says in (('refuse', 'start() failed: it returned -5'), ('fail', 'filter_event() failed: it returned -7')):
        out, err = bench.say(*script, '--dlarg', word, status=1)
        lab.expect(word, says in err and out.splitlines()[-1].startswith('stop: '), out, err)
    for library, says in (('nowhere.so', 'nowhere.so'), ('libm.so.6', 'libm.so.6 is no filter')):
        err = bench.say('script', '-i', 'filtered.data', '--dlfilter', library, status=1)[1]
        lab.expect(library, says in err, err)
    lab.expect('word alone', 'add --dlfilter' in bench.say('script', '--dlarg', 'x', status=2)[1])


def test_script_dlfilter_as_perf(bench):
    """perf prints the same with the same file, but for build-ids: it reads those that were not recorded."""
    script = filtered_recording(bench) + ['--dlarg', 'global_one']
    p = subprocess.run(['perf', *script], cwd=bench.folder, capture_output=True, text=True, check=False) \
        if shutil.which('perf') else None
    if not p or p.returncode:
        raise lab.Skipped('there is no perf with --dlfilter')
    ours, theirs = (re.sub(r'(cycles|build-id)(:\w+| \d+)?', '\\1', re.sub(r'^\s+[0-9a-f]+', '', text, flags=re.MULTILINE)).split('\n')
                    for text in (bench.out(*script), p.stdout))
    lab.expect('the same', ours == theirs, *[pair for pair in zip(ours, theirs) if pair[0] != pair[1]][:2])


def test_script_list_dlfilters(bench):
    own_filter.build('filter', bench.folder)
    os.chmod(shutil.copy(bench.path('filter.so'), bench.path('strange.so')), 0o777)
    short, long = (bench.out('script', '--list-dlfilters', *more) for more in ([], ['-v']))
    lab.expect('listed', re.search(r'^  filter\.so +Prints samples$', short, re.MULTILINE), short)
    lab.expect('not those that others may write', 'strange.so' not in short, short)
    lab.expect('at length', 'It is for a test.' in long and 'It is for' not in short, long)
    os.chmod(bench.folder, 0o1777)
    short = bench.out('script', '--list-dlfilters')
    os.chmod(bench.folder, 0o700)
    lab.expect('none of a folder where others may write', 'filter.so' not in short, short)


def test_script_latency(bench):
    name = bench.path('short.data')
    made = recording.Recording(name)
    made.comm(10, 10, 'fourteen bytés'.encode())
    made.sample(10, 10, [0], cpu=7)
    made.close()
    line = bench.out('script', '-i', name, '-L', '-F', 'comm,tid,cpu')
    lab.expect('line', line.split() == ['fourteen', '10', '7'], line)


def test_libraries_loaded_when_needed(bench):
    """Each of them would cost every start memory and time."""
    at_start = bench.out('--version', LD_TRACE_LOADED_OBJECTS='1')
    lab.expect('libraries', 'libc.so.6' in at_start, at_start)
    for name in ('libcapstone', 'libncurses', 'libopencsd', 'libpfm'):
        lab.expect(name, name not in at_start, at_start)


def test_library_missing(bench):
    os.mkdir(bench.path('empty'))
    for name in ('libopencsd_c_api.so.1', 'libncursesw.so.6'):
        with open(bench.path(f'empty/{name}'), 'wb'):
            pass
    data = os.path.join(TESTS, 'data', 'coresight')
    cs_recording.make(f'{data}/program', f'{data}/steps', cs_recording.Form(), bench.path('cs.data'))
    for command in (['report', '--itrace=b'], ['aux', 'show']):
        err = bench.say(*command, '-i', 'cs.data', status=1, LD_LIBRARY_PATH=bench.path('empty'))[1]
        lab.expect('package', 'install the Debian package libopencsd1' in err, err)
    shown = bench.terminal('view', '-i', f'{bench.corpus}/local/regs.data', typed=True, LD_LIBRARY_PATH=bench.path('empty'))
    lab.expect('package of a view', 'install the Debian package libncursesw6' in shown, shown)


def main():
    ringtail, corpus, *names = sys.argv[1:]
    failed = 0
    with tempfile.TemporaryDirectory() as folder:
        bench = Bench(os.path.abspath(ringtail), os.path.abspath(corpus), folder)
        for name, test in list(globals().items()):
            if name.startswith('test_') and (not names or any(word in name for word in names)):
                failed += not bench.try_test(name.removeprefix('test_'), test)
    return 1 if failed else 0


if __name__ == '__main__':
    sys.exit(main())
