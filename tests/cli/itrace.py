#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares the samples of a hardware trace with what is true, and with perf's.

usage: itrace.py RINGTAIL TRUTH CORPUS
       itrace.py --write FILE TRUTH       only writes the recording that the others check

TRUTH is the test program auxtrace/intel_pt/test-truth: it single-steps a program, and writes the trace that a CPU would
have written, with the true branches, into $PT_TRUTH_DIR. Of the trace in CORPUS the code is missing. The run behind
traces of CoreSight lies in tests/data/coresight.
"""
import collections
import difflib
import json
import math
import os
import re
import shutil
import struct
import subprocess
import sys
import tempfile

from itrace_code import check_code
from itrace_coresight import check_coresight
from pt_recording import Recording

FIELDS = 'tid,ip,addr,flags'
failed = 0


def check(name, ours, theirs):
    global failed
    if ours == theirs:
        print('ok', name)
        return
    failed += 1
    if not isinstance(ours, list):
        print(f'FAIL {name}: {ours}, not {theirs}')
        return
    where = next((i for i, (a, b) in enumerate(zip(ours, theirs)) if a != b), min(len(ours), len(theirs)))
    print(f'FAIL {name}: {len(ours)} and {len(theirs)}; at {where}: {ours[where:where + 2]}, not {theirs[where:where + 2]}')


def code_maps(path):
    """The executable parts of an ELF file: (address, size, offset), in pages."""
    with open(path, 'rb') as f:
        elf = f.read()
    at, = struct.unpack_from('<Q', elf, 32)
    size, number = struct.unpack_from('<HH', elf, 54)
    for i in range(number):
        kind, flags, offset, address, _, in_file = struct.unpack_from('<IIQQQQ', elf, at + i * size)
        if kind == 1 and flags & 1:
            low = address & ~4095
            yield low, (address + in_file - low + 4095) & ~4095, offset & ~4095


def lines(path):
    with open(path) as f:
        return [line.split(None, 3) for line in f]


def with_cycles(ringtail, data, trace):
    """The trace as if the hardware had counted cycles: a CYC packet in front of each that decides branches."""
    packets = re.findall(r'^cpu0 0x([0-9a-f]+)  (?:[0-9a-f]{2} )+ *(\S+)', run([ringtail, 'aux', 'show', '-f', '-i', data]), re.M)
    begins = [int(at, 16) for at, _ in packets] + [len(trace)]
    counts = [3 + 8 * (n % 29 + 1) if name in ('TNT', 'TIP') else 0 for n, (_, name) in enumerate(packets)]
    return b''.join(bytes([count] * bool(count)) + trace[a:b] for count, a, b in zip(counts, begins, begins[1:]))


def make_recording(where, data, damage=b'', parts=0, exec_at=0, windows=(), moves=()):
    """With @damage in the middle, the trace in so many snapshots or in those of perf, or an exec at a time. @moves: at
    a time another file, which has the same code, is mapped over the program."""
    program = open(f'{where}/program').read()
    switches = [(int(time), int(tid)) for time, tid in lines(f'{where}/switches')]
    with open(f'{where}/trace', 'rb') as f:
        trace = f.read()
    pid = switches[0][1]
    recording = Recording(pid, program, list(code_maps(program)), switches[0][0])
    recording.start(pid, switches[0][0])
    if exec_at:
        recording.exec(program, list(code_maps(program)), exec_at)
    for time, path in moves:
        recording.program(path, list(code_maps(program)), time)
    for (_, before), (time, tid) in zip(switches, switches[1:]):
        recording.switch(tid, time, before)
    if parts:
        size = len(trace) // parts & ~7
        cuts = [size * i for i in range(parts)] + [len(trace)]
        recording.snapshots([trace[a:b] for a, b in zip(cuts, cuts[1:])], switches[-1][0] + 1000)
    elif windows:
        sizes = [int(part * len(trace)) for part in windows]
        recording.windows(trace, list(zip([0, 0, *sizes], [*sizes, len(trace)])), switches[-1][0] + 1000)
    else:
        middle = len(trace) // 2
        recording.trace(trace[:middle] + damage + trace[middle + len(damage):], switches[-1][0] + 1000)
    recording.write(data)


def run(argv, cpus=None):
    if cpus:
        argv = ['taskset', '-c', cpus, *argv]
    p = subprocess.run(argv, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False)
    if p.returncode:
        sys.exit(f'FAIL {" ".join(argv)}: exit status {p.returncode}: {p.stderr}')
    return p.stdout


def branches(text):
    """(tid, from, to, flags) of lines with the FIELDS."""
    found = []
    for line in text.splitlines():
        m = re.match(r'\s*(\d+)\s+(.*?)\s+([0-9a-f]+) +=> +([0-9a-f]+)\s*$', line)
        found.append((int(m[1]), int(m[3], 16), int(m[4], 16), m[2]) if m else line)
    return found


def script(program, data, *options, cpus=None):
    return run([program, 'script', '-f', '-i', data, *options], cpus)


def check_truth(ringtail, where, data):
    true = [(int(tid), int(ip, 16), int(to, 16), flags.strip()) for tid, ip, to, flags in lines(f'{where}/branches')]
    ours = branches(script(ringtail, data, '--itrace=be', '-F', FIELDS))
    check(f'all {len(true)} branches are the true ones', ours, true)
    check('calls alone', branches(script(ringtail, data, '--itrace=c', '-F', FIELDS)),
          [b for b in true if 'call' in b[3] or 'tr end' in b[3]])
    check('returns alone', branches(script(ringtail, data, '--itrace=r', '-F', FIELDS)),
          [b for b in true if b[3].startswith(('return', 'tr strt'))])
    check('skipped at the beginning', branches(script(ringtail, data, '--itrace=bs10', '-F', FIELDS)), true[10:])


def check_maps(ringtail, where):
    """Each branch is in the file that was mapped at its time, though it is one that came before."""
    program, data, other = open(f'{where}/program').read(), f'{where}/maps.data', f'{where}/other'
    times = [int(time) for time, _ in lines(f'{where}/switches')]
    moves = [(times[len(times) * n // 6], program if n % 2 else other) for n in range(1, 6)]
    shutil.copy(program, other)
    make_recording(where, data, moves=moves)
    wrong, seen = [], set()
    for line in script(ringtail, data, '--itrace=b', '--ns', '-F', 'time,ip,sym,dso').splitlines():
        time, place = re.match(r'\s*([\d.]+):\s+[0-9a-f]+ \S+ \((.*?)\)', line).groups()
        time = int(time.replace('.', ''))
        mapped = ([path for at, path in moves if at <= time] or [program])[-1]
        seen.add((place, mapped))
        if place not in (mapped, '[unknown]') and time not in dict(moves):
            wrong.append((line, mapped))
    check('branches are in the file that was mapped', wrong, [])
    check('they are in both files', seen >= {(program, program), (other, other)}, True)


def check_instructions(ringtail, data):
    each = script(ringtail, data, '--insn-trace').splitlines()
    tenth = script(ringtail, data, '--itrace=i10i', '-F', 'ip,period').splitlines()
    assert all(' insn: ' in line for line in each), each[:3]
    total = sum(int(line.split()[0]) for line in tenth)
    check('instructions are counted', total, len(each))
    sums = run([ringtail, 'report', '-f', '-i', data, '--itrace=b', '-s', 'sym', '--stdio'])
    check('a report names the functions', 'fibonacci' in sums and 'choose' in sums, True)


def check_branch_stacks(ringtail, where, data):
    true = {}
    for tid, ip, to, _ in lines(f'{where}/branches'):
        true.setdefault(int(tid), []).append((int(ip, 16), int(to, 16)))
    at = dict.fromkeys(true, 0)
    wrong = []
    for line in script(ringtail, data, '--itrace=i1il4', '-F', 'tid,ip,brstack').splitlines():
        tid, ip, *stack = line.split()
        tid, found = int(tid), [tuple(int(a, 16) for a in b.split('/')[:2]) for b in stack]
        while at[tid] < len(true[tid]) and found != true[tid][max(at[tid] - 4, 0):at[tid]][::-1]:
            at[tid] += 1
        if found != true[tid][max(at[tid] - 4, 0):at[tid]][::-1]:
            wrong.append(line)
    check('last branches of each instruction are the true ones', wrong, [])
    check('all true branches were in a branch stack', [at[tid] >= len(true[tid]) - 1 for tid in true], [True] * len(true))
    counted = run([ringtail, 'report', '-f', '-i', data, '--itrace=i1il1', '-b', '-s', 'symbol_from,symbol_to'])
    check('a report counts last branches', re.search(r'\[\.\] work +\[\.\] choose\b', counted) is not None, True)
    named = script(ringtail, data, '--itrace=i1il1', '-F', 'ip,brstacksym').splitlines()
    check('branch stacks with symbols', any(' work+0x' in line and '/choose+0x0/' in line for line in named), True)
    # Of each sample the functions that its branch went to and came from.
    stacks = (re.match(r' *\w+ +(.+?)/(.+?)/', line) for line in named)
    expected = collections.Counter(';'.join(place.rsplit('+', 1)[0] for place in (m[2], m[1])) for m in stacks if m)
    folded = run([ringtail, 'report', '-f', '-i', data, '--itrace=i1il1', '-g', 'callee,0,branch,folded,count', '-s', 'comm',
                  '--no-inline', '--stdio'])
    found = collections.Counter()
    for times, way in re.findall(r'^(\d+) (\S+;\S+)$', folded, re.MULTILINE):
        found[re.sub('0x[0-9a-f]+', '[unknown]', way)] += int(times)
    check('branches in call chains', found, expected)


def chains(text):
    """The samples: lists of the lowest digits of addresses. perf 6.1 prints addresses in user space relative to maps."""
    found = [[]]
    for line in text.splitlines():
        if not line.strip():
            found.append([])
        else:
            found[-1].append(line.split()[0][-3:])
    return [chain for chain in found if chain]


def check_chains(ringtail, data):
    ours = script(ringtail, data, '--itrace=i1ig', '-F', 'ip', '--no-inline')
    check('a call chain of each instruction', len(chains(ours)), len(script(ringtail, data, '--insn-trace').splitlines()))
    folded = run([ringtail, 'report', '-f', '-i', data, '--itrace=i1ig', '-s', 'sym', '-g', 'folded', '--stdio'])
    wanted = 'run;work;fibonacci;fibonacci'
    check('a report with call chains', wanted in folded, True)
    one = [ringtail, 'report', '-f', '-i', data, '--itrace=i100nsg', '-s', 'sym', '-g', 'folded']
    check('the same chains on one CPU and on all', run(one, '0'), run(one))
    if not shutil.which('perf'):
        print('skip chains as perf: perf is not installed')
        return
    # Behind a place that it cannot follow, perf lacks callers.
    theirs = chains(script('perf', data, '--itrace=i1ige', '-F', 'ip').partition(' instruction trace error')[0])
    check('perf has chains', len(theirs) > 1000, True)
    check('call chains as perf has them', chains(ours)[:len(theirs)], theirs)


def check_header(ringtail, data):
    header = run([ringtail, 'report', '-f', '-i', data, '--header-only', '--itrace=ib'])
    check('the header has the recorded events alone', header,
          run([ringtail, 'report', '-f', '-i', data, '--header-only', '--no-itrace']))
    counted = json.loads(run([ringtail, 'report', '-f', '-i', data, '--itrace=ib', '--json']))
    check('counts of records, too', len(counted['stats']['events']), 2)
    check('rows of made events', {t['event'] for t in counted['tables'] if t['rows']}, {'branches', 'instructions'})


def check_default(ringtail, data):
    check('script shows calls, as with --itrace=cxwpe', script(ringtail, data), script(ringtail, data, '--itrace=cxwpe'))
    check('--itrace alone is the default', script(ringtail, data), script(ringtail, data, '--itrace'))
    check('--no-itrace shows no samples of the trace', script(ringtail, data, '--no-itrace'), '')
    report = [ringtail, 'report', '-f', '-i', data, '-s', 'sym']
    check('report counts as with --itrace=i100usbxwpe', run(report), run([*report, '--itrace=i100usbxwpe']))
    check('report --no-itrace', '# No samples' in run([*report, '--no-itrace']), True)


def check_unknown_pmu(ringtail):
    """The trace of a PMU that ringtail knows only from tests is no error, and no sample."""
    folder = os.path.join(os.path.dirname(__file__), '..', 'data', 'aux')
    for name in 'full.data', 'sample.data', 'ringtail-snapshot.data':
        path = os.path.join(folder, name)
        check(f'{name}: only recorded samples', script(ringtail, path), script(ringtail, path, '--no-itrace'))


def check_snapshots(ringtail, where, data):
    snapshots = f'{where}/snapshots.data'
    make_recording(where, snapshots, parts=3)
    for letters in 'be', 'i5i', 'i1il4':
        fields = ['-F', '+brstack'] if 'l' in letters else []
        whole = script(ringtail, snapshots, f'--itrace={letters}', *fields)
        parts = [script(ringtail, snapshots, f'--itrace={letters}', *fields, f'--snapshot={n}') for n in (1, 2, 3)]
        check(f'{letters}: three snapshots are the whole', ''.join(parts), whole)
        check(f'{letters}: each has a part', [len(part) > len(whole) // 6 for part in parts], [True] * 3)
    make_recording(where, snapshots, windows=(0.4, 0.6, 0.7))
    check('what snapshots of perf have both is counted once', script(ringtail, snapshots, '--itrace=i3ible'), script(ringtail, data, '--itrace=i3ible'))
    make_recording(where, snapshots, parts=3)
    check('snapshots have what the one trace has', script(ringtail, snapshots, '--itrace=be'), script(ringtail, data, '--itrace=be'))


def check_threads(ringtail, data):
    for letters in 'be', 'i10us', 'i3i', 'i1usl8':
        one = script(ringtail, data, f'--itrace={letters}', cpus='0')
        check(f'{letters}: the same on one CPU and on all', one, script(ringtail, data, f'--itrace={letters}'))
    report = [ringtail, 'report', '-f', '-i', data, '--itrace=b', '-s', 'sym']
    check('the same report on one CPU and on all', run(report, '0'), run(report))


def check_perf(ringtail, data):
    perf = shutil.which('perf')
    if not perf:
        print('skip as perf: perf is not installed')
        return
    # Without threads: between two times perf guesses, and so it finds another switch. It stops where a return goes to
    # an address that no call left, and goes on at the next packet with an address.
    fields = FIELDS.partition(',')[2]
    ours, theirs = (script(program, data, '--itrace=be', '-F', fields).splitlines() for program in (ringtail, perf))
    theirs = [line.strip() for line in theirs if line.strip()]
    errors = sum('instruction trace error' in line for line in theirs)
    squeezed = [[' '.join(line.split()) for line in lines] for lines in (ours, theirs)]
    other = [line for line in difflib.ndiff(*squeezed) if line[0] in '-+']
    check(f'branches as perf has them, but for {errors} that perf cannot follow',
          [len(other) <= 6 * errors, errors < 5], [True, True])
    # perf does not count the instructions that it cannot follow, so its samples lie elsewhere behind the first.
    ours, theirs = (script(program, data, '--itrace=i51ie', '-F', 'tid,ip,period').splitlines() for program in (ringtail, perf))
    parts = [[line.split() for line in lines if line.strip()] for lines in (ours, theirs)]
    same = next((i for i, words in enumerate(parts[1]) if 'error' in words), len(parts[1]))
    check(f'{same} samples by instructions as perf has them', parts[0][:same], parts[1][:same])
    check('the samples are some', same > 50, True)


def check_calls(ringtail, data):
    text = script(ringtail, data, '--call-trace')
    check('calls: the same on one CPU and on all', script(ringtail, data, '--call-trace', cpus='0'), text)
    depths = [len(m.group(1)) // 4 for m in re.finditer(r'\t( *)fibonacci ', text)]
    check('fibonacci(7) calls itself seven deep', max(depths) - min(depths) >= 7, True)
    perf = shutil.which('perf')
    within, wanted = {}, []  # depth of the outermost of these calls, of each thread
    for line in text.splitlines():
        call = re.search(r' (\d+) \[.*\t( *)(\S+) ', line)
        if not call:
            continue
        thread, depth = call[1], len(call[2])
        if thread in within and depth <= within[thread]:
            del within[thread]
        if thread not in within and call[3] == 'choose':
            within[thread] = depth
        wanted += [line.rstrip()] if thread in within else []
    shown = script(ringtail, data, '--call-trace', '--graph-function', 'choose').splitlines()
    check('--graph-function: its calls and those below', [line.rstrip() for line in shown], wanted)
    check('which are some', 0 < len(wanted) < text.count('\n'), True)
    for option in ('--call-trace', '--call-ret-trace') if perf else ():
        ours, theirs = (script(program, data, option).splitlines() for program in (ringtail, perf))
        theirs = [line for line in theirs if ' psb offs: ' not in line and ' cbr: ' not in line]
        # perf cannot follow some branches (check_perf()); its depths behind are others.
        same = next((i for i, line in enumerate(theirs) if 'instruction trace error' in line), len(theirs))
        parts = [[line.partition('[')[2].rstrip() for line in lines[:same - 1]] for lines in (ours, theirs)]
        # perf cuts long names of files in the middle of --call-trace; ringtail does not.
        parts = [[re.sub(r' [0-9.]*:|(?<=\(.{40})[^)]*', '', line) for line in part] for part in parts]
        check(f'{option} of perf: {same} lines', *parts)
        check('most lines were compared', same > 100, True)


def durations(where, ringtail, data, name):
    """Of each true call of a function: from the time of its call to that of its return."""
    symbols = run(['nm', open(f'{where}/program').read()]).splitlines()
    entry, = (int(line.split()[0], 16) for line in symbols if line.split()[1:] == ['t', name] or line.split()[1:] == ['T', name])
    times = [int(line.replace('.', '').replace(':', '')) for line in script(ringtail, data, '--itrace=b', '--ns', '-F', 'time').split()]
    stacks, ended = {}, []
    for time, (tid, source, target, flags) in zip(times, lines(f'{where}/branches')):
        stack = stacks.setdefault(tid, [])
        if flags.strip() == 'call' and int(target, 16) == int(source, 16) + 5:
            continue  # to the next instruction
        if flags.strip() == 'call':
            stack.append((int(source, 16), int(target, 16), time))
        elif flags.strip() == 'return' and stack and 0 < int(target, 16) - stack[-1][0] < 8:
            _, function, begin = stack.pop()
            if function == entry:
                ended.append(time - begin)
    return sorted(ended)


def check_latency(where, ringtail, data):
    report = [ringtail, 'report', '-f', '-i', data, '--aux-latency']
    for name in 'fibonacci', 'choose', 'deep', 'work':
        true = durations(where, ringtail, data, name)
        found, = json.loads(run(report + [name, '--json', '--slowest', '2']))['functions']
        check(f'calls of {name}', found['calls'], len(true))
        check(f'how long {name} takes', [found['ns'][key] for key in ('min', 'median', 'p90', 'max', 'sum')],
              [true[0], true[(len(true) - 1) // 2], true[math.ceil(len(true) * 0.9) - 1], true[-1], sum(true)])
        slowest = [call['duration_ns'] for call in found['slowest']]
        check(f'the slowest calls of {name}', slowest[0] == true[-1] and slowest == sorted(slowest, reverse=True), True)
        check('a call is as long as its tree', slowest, [call['tree']['total_ns'] for call in found['slowest']])
    calls = {callee['function']: callee['calls'] for callee in found['slowest'][0]['tree']['callees']}
    check('what work calls', [calls['deep'], calls['choose'] > 1, calls['[interrupt]'] > 0], [101, True, True])
    check('the same latency on one CPU and on all', run(report + ['fibonacci'], '0'), run(report + ['fibonacci']))
    text = run(report + ['fibonacci'])
    check('no length is exactly 0', re.findall(r'\b0 ns', text), [])
    check('the steps of the times are shown', ' apart: ' in text, True)
    one = json.loads(run(report + ['fibonacci', '--json', '--tid', lines(f'{where}/switches')[0][1]]))['functions'][0]
    both = json.loads(run(report + ['fibonacci', '--json']))['functions'][0]
    check('of one thread', 0 < one['calls'] < both['calls'], True)
    p = subprocess.run(report + ['fibonaci'], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False)
    check('an unknown function', [p.returncode, p.stdout, p.stderr],
          [1, '', "ringtail: the trace has no call of a function 'fibonaci'; did you mean 'fibonacci'?\n"])


def timed_chains(ringtail, data, tid):
    """(time, call chain) of the instructions of a thread."""
    chains_of = script(ringtail, data, '--itrace=i1ig', '--ns', '-F', 'tid,time,sym,ip').split('\n\n')
    found = [chain.split() for chain in chains_of if chain.split()[:1] == [tid]]
    return [(int(chain[1].replace('.', '').rstrip(':')), chain[2:]) for chain in found]


def check_exec(ringtail, where, data):
    """An exec, where the process' first thread is deep in its calls, ends them."""
    tid = lines(f'{where}/switches')[0][1]
    before = timed_chains(ringtail, data, tid)
    deep = [time for (last, _), (time, chain) in zip(before, before[1:]) if last < time and len(chain) > 8]
    at = deep[len(deep) // 2]
    executed = f'{where}/exec.data'
    make_recording(where, executed, exec_at=at)
    after = timed_chains(ringtail, executed, tid)
    first = [time for time, _ in before].index(at)
    check('an exec changes no call chain before it', after[:first], before[:first])
    check('the chain at an exec begins anew', after[first][1], before[first][1][:2])
    check('chains behind an exec are the innermost parts', [new[1] == old[1][:len(new[1])] for new, old in zip(after, before)],
          [True] * len(before))
    depth, lost = [], []
    for path in data, executed:
        calls = script(ringtail, path, '--call-trace', '--ns', '-F', '-comm,-cpu', '--tid', tid).splitlines()
        calls = [re.match(r' *\d+ +([0-9.]+):.*\t( *)', line) for line in calls]
        depth.append(next(len(m[2]) // 4 for m in calls if int(m[1].replace('.', '')) >= at))
        report = run([ringtail, 'report', '-f', '-i', path, '--aux-latency', 'work', '--json'])
        lost.append(json.loads(report)['functions'][0]['lost'])
    check('--call-trace begins anew', depth[0] > 8 > depth[1], True)
    check('the end of an executing call was not seen', lost, [0, 1])


def check_cycles(ringtail, where, data):
    counted, other = f'{where}/cycles.data', f'{where}/cycles'
    os.mkdir(other)
    for name in 'program', 'switches':
        shutil.copy(f'{where}/{name}', other)
    with open(f'{where}/trace', 'rb') as f:
        trace = with_cycles(ringtail, data, f.read())
    with open(f'{other}/trace', 'wb') as f:
        f.write(trace)
    make_recording(other, counted)
    plain = script(ringtail, data, '--itrace=be', '-F', FIELDS)
    text = script(ringtail, counted, '--itrace=be', '-F', FIELDS + ',ipc')
    check('cycles change no branch', re.sub(r' \t IPC: .*', '', text), plain)
    found = [[int(n) for n in m] for m in re.findall(r' \t IPC: (\d+)\.(\d\d) \((\d+)/(\d+)\)', text)]
    check('many branches have cycles', len(found) > 300, True)
    check('instructions per cycle', [100 * a + b for a, b, _, _ in found], [100 * i // c for _, _, i, c in found])
    # Samples of instructions have all cycles up to the last of them.
    without = script(ringtail, counted, '--itrace=i20i', '-F', 'tid,ip,period')
    samples = script(ringtail, counted, '--itrace=i20i', '-F', 'tid,ip,period,ipc')
    check('cycles change no sample of instructions', re.sub(r' \t IPC: .*', '', samples), without)
    each = [[int(n) for n in m] for m in re.findall(r' \t IPC: (\d+)\.(\d\d) \((\d+)/(\d+)\)', samples)]
    check('instructions per cycle of samples', [100 * a + b for a, b, _, _ in each], [100 * i // c for _, _, i, c in each])
    total, all_cycles = sum(c for *_, c in each), sum(c for *_, c in found)
    check('samples of instructions have the cycles of branches', 0.95 * all_cycles < total <= all_cycles, True)
    if shutil.which('perf'):
        theirs = script('perf', counted, '--itrace=be', '-F', FIELDS.partition(',')[2] + ',ipc').splitlines()
        theirs = [' '.join(line.split()) for line in theirs if line.strip()]
        # perf cannot follow some branches (check_perf()).
        same = next((i for i, line in enumerate(theirs) if 'instruction trace error' in line), len(theirs))
        ours = [' '.join(line.split()[1:]) for line in text.splitlines()]
        check(f'instructions per cycle as perf has them: {same} lines', ours[:same], theirs[:same])
        check('most lines with cycles were compared', sum('IPC' in line for line in ours[:same]) > 100, True)


def check_errata(ringtail, where):
    """The header names the CPU, and so errors of its packets are known: here of an overflow."""
    for cpuid, name in ('GenuineIntel,6,94,3', 'OVF'), ('GenuineIntel,6,122,1', 'CYC'):
        recording = Recording(1, '/bin/true', [], 1000)
        recording.cpuid = cpuid
        recording.trace(b'\x02\x82' * 8 + b'\x02\x23' + b'\x27\x02\xf3', 2000)
        recording.write(f'{where}/errata.data')
        shown = run([ringtail, 'aux', 'show', '-f', '-i', f'{where}/errata.data'])
        check(f'the errata of {cpuid}', 'OVF' in shown, name == 'OVF')


def check_damage(ringtail, where):
    """Damaged trace is an error of the command, missing code is none."""
    data = f'{where}/damaged.data'
    make_recording(where, data, b'\x02\xff')
    for what, argv, status in (('damaged', ['script', '--itrace=b'], 1), ('damaged', ['report', '--itrace=i10us'], 1),
                               ('damaged but not decoded', ['script', '--no-itrace'], 0)):
        p = subprocess.run([ringtail, argv[0], '-f', '-i', data, *argv[1:]], stdout=subprocess.PIPE,
                           stderr=subprocess.PIPE, text=True, check=False)
        check(f'exit status of {argv} where trace is {what}', p.returncode, status)
        check('and it says so', ': hardware trace is damaged, or does not fit the code, at ' in p.stderr, status == 1)
    p = subprocess.run([ringtail, 'script', '-f', '-i', f'{where}/pt.data', '--itrace=b', '--symfs', where],
                       stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False)
    check('exit status where code is missing', [p.returncode, ' could not be decoded' in p.stderr,
                                                'damaged' in p.stderr], [0, True, False])


def check_missing_code(ringtail, corpus):
    """A real trace without the code: it goes on at each address that the hardware writes, and the files are named."""
    path = os.path.join(corpus, 'google+perf_data_converter/src/quipper/testdata/perf.data.intel_pt-4.14')
    if not os.path.exists(path):
        print('skip missing code: no corpus')
        return
    text = script(ringtail, path, '--itrace=be', '--symfs', '/nonexistent').splitlines()
    errors = [line for line in text if 'instruction trace error' in line]
    # No recording has a map of the kernel's entry area.
    entry = [line for line in errors if 'code at 0xfffffe' in line and line.endswith(' is in no map')]
    named = [line for line in errors if ' is missing: ' in line]
    check('each error without code names the file', len(entry) + len(named), len(errors))
    files = '[kernel.kallsyms]', '/lib64/ld-2.23.so', '/lib64/libc-2.23.so'
    check('files whose code is missing', [name for name in files if not any(name in line for line in named)], [])
    check('their build-ids', [line for line in named if not re.search(r' \(build-id [0-9a-f]{40}\)$', line)], [])
    starts = sum(' tr strt ' in line for line in script(ringtail, path, '--itrace=b', '-F', 'flags,ip,addr').splitlines())
    check('decoding goes on at packets with an address', starts > 500, True)
    check('one error for a place, not for each packet', starts >= len(errors) > 500, True)
    perf = shutil.which('perf')
    if perf:
        theirs = script(perf, path, '--itrace=b', '-F', 'flags,ip,addr').splitlines()
        check('as often as perf, at least', starts >= sum(' tr strt ' in line for line in theirs), True)
    command = [ringtail, 'report', '-f', '-i', path, '--symfs', '/nonexistent']
    p = subprocess.run([*command, '--itrace'], capture_output=True, text=True, check=True)
    check('recorded samples are counted beside trace without code', "of event 'cycles" in p.stdout, True)
    failed = 'in the hardware trace could not be decoded'
    check('one line says so', sum(failed in line for line in p.stderr.splitlines()), 1)
    p = subprocess.run(command, capture_output=True, text=True, check=True)
    check('beside other samples trace is not decoded without --itrace',
          ["of event 'cycles" in p.stdout, 'power' in p.stdout, failed in p.stderr], [True, False, False])
    relative = [line for line in script(ringtail, path, '--itrace=e', '--symfs', '/nonexistent', '--reltime').splitlines()
                if 'instruction trace error' in line]
    check('times of errors since the first line', [' time 0.' in line for line in relative], [True] * len(errors))


def main():
    if sys.argv[1] == '--write':
        with tempfile.TemporaryDirectory(prefix='ringtail-itrace-') as where:
            run(['env', f'PT_TRUTH_DIR={where}', sys.argv[3]])
            make_recording(where, sys.argv[2])
        return 0
    ringtail, truth, corpus = sys.argv[1:4]
    check_missing_code(ringtail, corpus)
    check_unknown_pmu(ringtail)
    with tempfile.TemporaryDirectory(prefix='ringtail-itrace-') as where:
        check_coresight(sys.modules[__name__], ringtail, where)
        if not os.path.exists(truth):
            print('skip Intel PT: this machine has no test of the true branches (x86_64 alone has)')
            return failed > 0
        run(['env', f'PT_TRUTH_DIR={where}', truth])
        data = f'{where}/pt.data'
        make_recording(where, data)
        check_truth(ringtail, where, data)
        check_instructions(ringtail, data)
        check_branch_stacks(ringtail, where, data)
        check_code(sys.modules[__name__], ringtail, where, data)
        check_chains(ringtail, data)
        check_header(ringtail, data)
        check_default(ringtail, data)
        check_snapshots(ringtail, where, data)
        check_threads(ringtail, data)
        check_perf(ringtail, data)
        check_calls(ringtail, data)
        check_latency(where, ringtail, data)
        check_exec(ringtail, where, data)
        check_maps(ringtail, where)
        check_cycles(ringtail, where, data)
        check_damage(ringtail, where)
        check_errata(ringtail, where)
    return failed > 0


if __name__ == '__main__':
    sys.exit(main())
