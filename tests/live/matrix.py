#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Combines every reader with every compression, container, rotation and target, with call chains made while
recording, and with waits (--off-cpu). A valid combination records, and loses or doubles no call; ringtail refuses the
others before it makes anything.

usage: matrix.py DEV-BUILD RELEASE-BUILD [--dev] [--write TABLE | --table TABLE] [WORD ...]

A cell records a known number of getppid calls. ringtail reports as many samples written as ringtail and perf read.
Together with those lost, overwritten or evicted they are the number of calls, unless a size ends the recording. A
cell with --off-cpu records a program that waits in known ways, and the outputs have each wait as long as it was. They are
skipped where the kernel does not sample all switches; then the table is not compared, either.
Prints `ok CELL`, `FAIL CELL reason` or `skip CELL reason`; WORDs select the cells that have all of them. --table
compares the results with that table; --write writes it.

A third of the cells runs the build with sanitizers: another third each day, or that of MATRIX_THIRD; with --dev all
do. Every second cell has rings that overflow, or memory (-M) for only a part of the calls.
"""
import argparse
import collections
import concurrent.futures
import itertools
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time

from calls import PATIENCE, Calls, number
from lab import Lab, Skip, calls_lost, end_well, need_tracefs, perf_samples, tell, wait_for
from waits import SLICES, Waits, add_waits, compare, need_switches, need_switches_still, stolen

Cell = collections.namedtuple('Cell', 'reader compression container rotation target')

READERS = {'serial': [], '`--aio`': ['--aio'], '`--threads`': ['--threads'],
           '`--threads --aio`': ['--threads', '--aio']}
COMPRESSION = {'': [], '`-z`': ['-z'], '`--call-graph dwarf,online`': ['--call-graph', 'dwarf,1024,online'],
               '`--off-cpu`': ['--off-cpu'], '`--off-cpu -z`': ['--off-cpu', '-z']}
CONTAINERS = ('file', 'directory', 'pipe')
ROTATION = ('', '`--switch-output=SIZE`', '`--switch-output=signal`', '`--overwrite`', '`--max-size`', '`-M`')
TARGETS = ('`-a`', '`-p`', 'command')
PLAIN, SIZE, SIGNAL, OVERWRITE, MAX_SIZE, MEMORY = ROTATION
_, PACKED, ONLINE, WAITS, PACKED_WAITS = COMPRESSION

# Chains are made, and waits recorded, behind the fifo of each reader: with each, one container, and for each rotation one
# target.
CONTAINER = {
    ONLINE: {'serial': 'file', '`--aio`': 'pipe', '`--threads`': 'directory', '`--threads --aio`': 'directory'},
    WAITS: {'serial': 'pipe', '`--aio`': 'file', '`--threads`': 'directory', '`--threads --aio`': 'file'},
    PACKED_WAITS: {'serial': 'file', '`--aio`': 'directory', '`--threads`': 'pipe', '`--threads --aio`': 'directory'},
}

# How a cell is recorded: by which build, and with rings, or a memory, that overflow?
Build = collections.namedtuple('Build', 'sanitized tight')

# Each a sample of some 130 bytes; more than a memory has room for, which grows with the number of CPUs.
CALLS = 20000 * max(1, os.cpu_count() // 16)
BURSTS = 4
MORE = 50  # times as many where a size ends the recording, and before that rings may lose nearly all
STAMPED = re.compile(r'^p\.data\.20\d{14}$')


# --- what is expected, and why ---------------------------------------------------------------------

def is_stream(cell):
    """Returns whether a cell writes to standard output. That is the only way for threads to write one file,
    because -o FILE together with --threads names a directory, as in perf."""
    return cell.container == 'pipe' or cell.container == 'file' and cell.reader.startswith('`--threads')


def has_waits(cell):
    return cell.compression in (WAITS, PACKED_WAITS)


def is_row(reader, compression, container):
    return compression not in CONTAINER or container == CONTAINER[compression][reader]


def is_recorded(cell):
    nth = list(READERS).index(cell.reader) + ROTATION.index(cell.rotation)
    return is_row(*cell[:3]) and (cell.compression not in CONTAINER or cell.target == TARGETS[nth % len(TARGETS)])


# (which cells, what the sentence must name, why it cannot be)
REFUSALS = (
    (lambda cell: is_stream(cell) and cell.rotation in (SIZE, SIGNAL), ('--switch-output', '-o -'),
     'what went into a pipe cannot be renamed, and there is no second pipe to go on in'),
)


def refusal(cell):
    return next((row for row in REFUSALS if row[0](cell)), None)


# --- one cell --------------------------------------------------------------------------------------

def options_of(cell, build):
    # Calls of one kind are packed to a thirtieth; what rings lose is in no file.
    small = f'{(8 if cell.compression in (PACKED, PACKED_WAITS) else 256) >> 2 * build.tight}K'
    output = '-' if is_stream(cell) else 'p.data/' if cell.container == 'directory' else 'p.data'
    rotation = {PLAIN: [], SIZE: [f'--switch-output={small}'], SIGNAL: ['--switch-output=signal'],
                OVERWRITE: ['--overwrite'], MAX_SIZE: [f'--max-size={small}'],
                MEMORY: ['-M', '512K' if build.tight else '64M', '--snapshot-on-exit']}[cell.rotation]
    rings = ['-m', '16K'] if build.tight and cell.rotation != MEMORY else []
    return ['-o', output, '--flush-interval', '10ms', *rings, *READERS[cell.reader], *COMPRESSION[cell.compression],
            *rotation]


def outputs(lab):
    return sorted(os.listdir(lab.path('out')))


def rotate_twice(lab, recorder):
    """Sends the signal twice, the second time when the first rotation is done."""
    for nth in 1, 2:
        if recorder.poll() is None:
            recorder.send_signal(signal.SIGUSR2)
        wait_for(lambda nth=nth: recorder.poll() is not None or len(outputs(lab)) > nth, PATIENCE,
                 f'output {nth + 1}')


def rotate_twice_by_size(lab, recorder, calls):
    """Lets each caller fill a file; the rings hold its calls. The second caller begins after the first
    rotation."""
    for nth, caller in enumerate(calls.callers, 1):
        calls.hold('go' + caller)
        calls.close('go' + caller)
        calls.hold('end' + caller)
        wait_for(lambda nth=nth: recorder.poll() is not None or len(outputs(lab)) > nth, PATIENCE, f'output {nth + 1}')


def said_so_far(lab):
    with open(lab.path('said'), encoding='utf-8', errors='replace') as text:
        return text.read()


def take_two_snapshots(lab, recorder):
    """Takes one snapshot by signal and one by command; the recorder takes the rest at the end."""
    recorder.send_signal(signal.SIGUSR2)
    wait_for(lambda: recorder.poll() is not None or 'snapshot 1: ' in said_so_far(lab), PATIENCE, 'snapshot 1')
    lab.run('ctl', '--pid', recorder.pid, 'snapshot', release=True)


def ask(lab, recorder):
    """Sends commands during the recording."""
    for command in 'ping', 'stats':
        lab.run('ctl', '--pid', recorder.pid, command, release=True)


def start(lab, cell, argv):
    """Starts the recorder with its standard output in the file `stream`."""
    with open(lab.path('said'), 'wb') as errors, open(lab.path('stream'), 'wb') as stream:
        cat = None
        if cell.container == 'pipe':
            cat = subprocess.Popen(['cat'], stdin=subprocess.PIPE, stdout=stream)
            lab.children.append(cat)
        recorder = subprocess.Popen(argv, cwd=lab.path('out'), stdin=subprocess.DEVNULL, stderr=errors,
                                    stdout=cat.stdin if cat else stream)
        lab.children.append(recorder)
        if cat:
            cat.stdin.close()
    return recorder, cat


Recorded = collections.namedtuple('Recorded', 'status said load')


def record(lab, cell, build):
    """Records a cell. Returns the status and stderr."""
    os.mkdir(lab.path('out'))
    more = MORE if cell.rotation == MAX_SIZE else 1
    target = cell.target.strip('`')
    calls = Waits(lab, target) if has_waits(cell) else Calls(lab, target, CALLS * more, BURSTS * more)
    recorder, cat = start(lab, cell, lab.argv(['record', *options_of(cell, build), *calls.argv],
                                              release=not build.sanitized))
    calls.begin(recorder)
    # Else it may come in time for all, and no cell of all loses any.
    late = build.tight and cell.rotation == PLAIN and cell.reader == 'serial'
    if late:
        recorder.send_signal(signal.SIGSTOP)
    if cell.rotation == SIZE and not has_waits(cell) and len(calls.callers) == 2 and not build.tight and not refusal(cell):
        rotate_twice_by_size(lab, recorder, calls)
    else:
        calls.go()
    if late:
        calls.made()
        recorder.send_signal(signal.SIGCONT)
    if cell.rotation == SIGNAL:
        rotate_twice(lab, recorder)
    elif cell.rotation == MEMORY:
        take_two_snapshots(lab, recorder)
    elif cell.rotation == MAX_SIZE:  # by itself, whenever the main thread comes to look at the size
        recorder.wait(timeout=PATIENCE)
    elif not refusal(cell):
        ask(lab, recorder)
    calls.end()
    recorder.wait(timeout=PATIENCE)
    if cat:
        cat.wait(timeout=PATIENCE)
    text = said_so_far(lab)
    assert 'Sanitizer' not in text and 'runtime error' not in text, text[-3000:]
    return Recorded(recorder.returncode, text, calls)


# --- what came of it -------------------------------------------------------------------------------

def sentence(said):
    """Returns the text of a refusal, without the program's name and the hint at --help."""
    return re.sub(r'^ringtail(?: record)?: ', '', said.splitlines()[0]) if said.strip() else ''


def check_refused(lab, recorded, words):
    assert recorded.status == 2, f'exit {recorded.status}, not 2: {recorded.said[-1500:]}'
    said = sentence(recorded.said)
    assert all(word in said for word in words), f'{said!r} does not name {words}'
    assert recorded.said.count('\n') == 1, f'more than a line: {recorded.said}'
    assert not outputs(lab) and not os.path.getsize(lab.path('stream')), f'left behind: {outputs(lab)}'
    return said


def names_of_outputs(lab, cell, seen):
    """Paths of all outputs. There must be exactly those that the cell asks for.

    The main thread checks the size; it may be late, and it checks after each pass over rings that may have lost nearly
    all. So not every cell makes three outputs.
    """
    found = outputs(lab)
    if is_stream(cell):
        assert not found, f'beside the stream: {found}'
        return ['stream']
    if cell.rotation in (SIZE, SIGNAL):
        assert all(STAMPED.match(name) for name in found), f'outputs: {found}'
        assert len(found) >= 3 or cell.rotation == SIZE and found, f'outputs: {found}'
        if cell.rotation == SIZE and len(found) >= 3:
            seen.cut.add((cell.reader, cell.compression))
    else:
        assert found == ['p.data'], f'outputs: {found}'
    for name in found:
        assert os.path.isdir(lab.path('out/' + name)) == (cell.container == 'directory'), name
    return ['out/' + name for name in found]


def check_memory(cell, said, samples):
    """Checks that three snapshots wrote the file. Returns the number of samples that no snapshot has."""
    counts = re.findall(r'memory: ([\d,]+) samples? taken: ([\d,]+) in (\d+) snapshots?, ([\d,]+) evicted, '
                        r'([\d,]+) left at the end', said)
    assert len(counts) == 1, said
    taken, written, snapshots, passed, held = (int(n.replace(',', '')) for n in counts[0])
    assert taken == samples + passed and written == samples and held == 0 and snapshots == 3, said
    return passed


def check_names(lab, name):
    """An output names what it has where there are neither files nor a list of the kernel's symbols."""
    os.makedirs(lab.path('empty'), exist_ok=True)
    env = dict(os.environ, HOME=lab.path('empty'), XDG_CACHE_HOME=lab.path('empty'))
    shown = lab.run('report', '-i', name, '--sort', 'symbol', '--stdio', '--no-call-graph', '--symfs', lab.path('empty'),
                    '-k', '/dev/null', release=True, env=env).stdout
    found = re.findall(r'%  \[[.k]\] (\S+)', shown)
    assert found and not [symbol for symbol in found if symbol.startswith('0x')], f'{name} does not name its samples: {shown}'


def check_chains(cell, said, tight):
    """Rings that overflow may leave no stacks, and a size no samples."""
    chains = number(r'([\d,]+) of [\d,]+ samples? with stacks got call chains', said)
    assert chains or tight or cell.rotation == MAX_SIZE or cell.compression != ONLINE, f'no chains: {said[-1500:]}'


def check_waits(lab, cell, waits, names):
    """The waits of all outputs together are those of the program, but for those that go on from one output to the next."""
    by_comm, true = {}, waits.truth()
    for name in names:
        add_waits(lab, name, waits.pid(), by_comm, release=True)
    if cell.rotation == MAX_SIZE:
        assert by_comm, 'no waits'  # it ends while the program waits
    else:
        compare(true, by_comm, len(names) - 1, SLICES, stolen() - waits.before)
    return '✓'


def check_recorded(lab, cell, build, recorded, seen):
    said = recorded.said
    assert recorded.status == 0, f'exit {recorded.status}: {said[-1500:]}'
    samples, lost = number(r'([\d,]+) samples?, [\d,]+ lost', said), calls_lost(said)
    assert samples is not None, f'no summary: {said}'
    seen.lost += lost
    names = names_of_outputs(lab, cell, seen)
    ours = [lab.samples(name) for name in names]
    assert sum(ours) == samples, f'{samples} were written, {ours} are read'
    for name in (name for name, number_of in zip(names, ours) if number_of):
        check_names(lab, name)
    check_chains(cell, said, build.tight)
    if seen.perf:
        theirs = [perf_samples(lab, name, is_stream(cell), number(r'([\d,]+) lost', said)) for name in names]
        assert theirs == ours, f'perf reads {theirs}, ringtail {ours}'
    overwritten = number(r'overwritten ([\d,]+) of raw_syscalls', said) or 0
    assert not overwritten or cell.rotation == OVERWRITE, said
    seen.overwritten += overwritten
    passed = check_memory(cell, said, samples) if cell.rotation == MEMORY else 0
    if has_waits(cell):
        assert not lost + overwritten + passed, said
        return check_waits(lab, cell, recorded.load, names)
    seen.passed += passed
    total = samples + lost + overwritten + passed
    if cell.rotation == MAX_SIZE:
        # It ends while calls are still made. What they were is not known, but that it ended so.
        assert '--max-size' in said and total <= CALLS * MORE, f'{total} of {CALLS * MORE} calls, {said}'
    else:
        assert total == CALLS, \
            f'{samples} + {lost} lost + {overwritten} overwritten + {passed} evicted, but {CALLS} calls'
    return '✓'


def check(lab, cell, build, recorded, seen):
    row = refusal(cell)
    return check_refused(lab, recorded, row[1]) if row else check_recorded(lab, cell, build, recorded, seen)


# --- the table -------------------------------------------------------------------------------------

TABLE_HEAD = '''# What goes with what

A row is a reader, with compression, with call chains that are made while recording, with waits of threads, or with
none of them, and a container; chains and waits are recorded to one container, and each rotation of one target, so
other cells are empty. A column is a way to end or split the output, and a target. ✓ means that the cell records, that
ringtail and perf read every sample that was not counted as lost or, with `-M`, as evicted from memory, and that each
output itself names the functions of its samples. A number means that ringtail refuses the cell before it makes
anything, with exit status 2; the message is below. `tests/live/matrix.py` makes all these recordings, and this page.

- A *directory* is what `--threads` writes, and what `-o NAME/` asks of a single reader. A *file* is `-o NAME`; with
  `--threads`, where that is a directory, it is `-o - >NAME`. A *pipe* is `-o - |`.
- `-a` and `-p` record processes that run already; *command* records one that is started.
- With `-M` two snapshots are taken meanwhile, and one at the end (`--snapshot-on-exit`). `-M` together with
  `--overwrite` is refused: `--overwrite` keeps the newest samples in the kernel's rings, so none would reach memory.
- With `--off-cpu` ✓ also means that no sample is lost, and that a program that sleeps, waits for pipes, sockets,
  futexes and the disk, and shares a CPU, is off CPUs in `report --off-cpu` for as long as it measured itself, within 2 %,
  and for the same reasons. Of a wait that goes on from one output to the next no output has the whole. Of `--max-size`
  only what it is elsewhere is checked, since it ends the recording while the program waits.
- perf reads files and directories with `perf report --stats`. It reads streams with `perf script`, because
  `report --stats` cannot read features and tracing data in streams, perf's own included.

'''


TABLE_TAIL = '\n## Hardware traces\n'


def table(results):
    """Returns the page without its tail; `results` has for each cell ✓, a refusal, or None for a failure."""
    notes = []
    lines = [TABLE_HEAD]
    columns = [(r, t) for r in ROTATION for t in TARGETS]
    lines.append('| reader | | container | ' + ' | '.join(
        f'{r or "one output"}<br>{t}' for r, t in columns) + ' |\n')
    lines.append('| --- ' * 3 + '| :-: ' * len(columns) + '|\n')
    for reader, compression, container in itertools.product(READERS, COMPRESSION, CONTAINERS):
        marks = []
        if not is_row(reader, compression, container):
            continue
        for rotation, target in columns:
            cell = Cell(reader, compression, container, rotation, target)
            result = (results[cell] or 'fails') if is_recorded(cell) else ''
            if result not in ('', '✓', 'fails') and result not in notes:
                notes.append(result)
            marks.append(f'[{notes.index(result) + 1}]' if result in notes else result)
        lines.append(f'| {reader} | {compression} | {container} | ' + ' | '.join(marks) + ' |\n')
    lines += [f'\n{i + 1}. `{note}`\n' for i, note in enumerate(notes)]
    return ''.join(lines)


def check_table(path, text, write):
    """Guests see what stands from TABLE_TAIL on: tests/vm/test_aux.py."""
    with open(path, encoding='utf-8') as page:
        now, mark, tail = page.read().partition(TABLE_TAIL)
    if write:
        with open(path, 'w', encoding='utf-8') as out:
            out.write(text + mark + tail)
        return
    wrong = [f'{a}\n    seen: {b}' for a, b in itertools.zip_longest(now.splitlines(), text.splitlines())
             if a != b]
    assert not wrong, f'{path} does not say what was seen (--write makes it):\n    ' + '\n    '.join(wrong[:5])


# --- all of them -----------------------------------------------------------------------------------

def title(cell):
    words = (cell.reader, cell.compression, cell.container, cell.rotation, cell.target)
    return ' '.join(word.replace('`', '') for word in words if word)


class Seen:
    """Results of all cells: whether perf could be run, and by reason the number of calls in no file."""

    def __init__(self):
        self.perf, self.lost, self.overwritten, self.passed = shutil.which('perf') is not None, 0, 0, 0
        self.cut = set()  # readers and compressions whose output a size has rotated more than once


def run_all(cells, args, seen):
    """Records one cell at a time, because recordings disturb each other, and reads the others meanwhile."""
    third = int(os.environ.get('MATRIX_THIRD', time.time() // 86400)) % 3
    recording = threading.Lock()

    def one(index, cell):
        build = Build(args.all_dev or index % 3 == third, index % 2 == 1 and not has_waits(cell))
        with Lab(args.dev, args.release) as lab:
            with recording:
                recorded = record(lab, cell, build)
            try:
                return check(lab, cell, build, recorded, seen)
            except AssertionError:
                if has_waits(cell):
                    with recording:
                        need_switches_still()
                raise

    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        asked = {cell: pool.submit(tell, title(cell), lambda i=i, cell=cell: one(i, cell))
                 for i, cell in enumerate(cells)}
        try:
            return {cell: future.result() for cell, future in asked.items()}
        finally:
            pool.shutdown(cancel_futures=True)


def has_lost(seen):
    assert seen.lost and seen.overwritten, f'rings of 16 KB held all: {seen.lost} lost, {seen.overwritten} over'
    assert seen.passed, 'a memory of 512 KB held all'
    return '✓'


def has_rotated(seen):
    missing = set(itertools.product(READERS, ('', PACKED))) - seen.cut
    assert not missing, f'a size has not cut the output twice in any cell of {missing}'
    return '✓'


def main():
    parser = argparse.ArgumentParser(usage=__doc__.split('usage: ')[1].split('\n')[0])
    parser.add_argument('dev')
    parser.add_argument('release')
    parser.add_argument('--dev', dest='all_dev', action='store_true')
    parser.add_argument('--table')
    parser.add_argument('--write')
    parser.add_argument('words', nargs='*')
    args = parser.parse_intermixed_args()
    try:
        need_tracefs()
    except Skip as reason:
        print('skip matrix', reason)
        return 0
    every = list(filter(is_recorded, itertools.starmap(
        Cell, itertools.product(READERS, COMPRESSION, CONTAINERS, ROTATION, TARGETS))))
    cells = [cell for cell in every if all(word in title(cell) for word in args.words)]
    end_well()
    runtime = tempfile.TemporaryDirectory(prefix='ringtail-run-')
    os.environ['XDG_RUNTIME_DIR'] = runtime.name  # where nobody else's commands come from
    seen = Seen()
    if not seen.perf:
        print('skip perf reads all cells: no perf (package linux-perf)')
    results, skipped = run_all(cells, args, seen), False
    if any(map(has_waits, cells)):
        try:
            need_switches()
        except Skip:
            results, skipped = {cell: result for cell, result in results.items() if not has_waits(cell)}, True
    if cells == every:
        results['lost'] = tell('what small rings lose or overwrite, and a small memory lets pass, is counted',
                               lambda: has_lost(seen))
        results['cut'] = tell('sizes cut outputs of each reader, with each compression', lambda: has_rotated(seen))
    path = args.write or args.table
    if skipped and path:
        print(f'skip {path} is what was seen: cells were skipped')
    elif cells == every and path:
        results['table'] = tell(f'{path} is what was seen',
                                lambda: check_table(path, table(results), bool(args.write)) or '✓')
    return 0 if all(results.values()) else 1


if __name__ == '__main__':
    sys.exit(main())
