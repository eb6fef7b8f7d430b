# SPDX-License-Identifier: Apache-2.0
"""Compares the branches of traces of CoreSight with what is true, and with perf's. itrace.py calls it."""
import collections
import os
import shutil

from cs_recording import Form, make

DATA = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), 'data/coresight')
FIELDS = 'tid,ip,addr,flags'
# What units and sinks write. All options of a unit at once are in two of them.
FORMS = {
    'frames of two units': Form(),
    'a ring for each unit': Form(raw=True),
    'short packets': Form(compress=True),
    'a return stack': Form(raw=True, return_stack=True),
    'threads in VMIDs': Form(vmid=True),
    'cycle counts': Form(raw=True, cycles=True),
    'targets of direct branches': Form(compress=True, return_stack=True, broadcast=True),
    'an address for a branch and the exception behind it': Form(raw=True, merge=True),
    'many synchronisation points': Form(raw=True, compress=True, sync=60),
    'all at once': Form(compress=True, return_stack=True, cycles=True, vmid=True),
    'all at once, a ring for each unit': Form(raw=True, compress=True, return_stack=True, cycles=True, merge=True,
                                             sync=150),
}


def true_branches(run):
    return [(b.tid, b.ip, b.to, b.flags) for b in run.branches]


def as_perf_has_them(run):
    """(from, to) of the branches. Of an exception perf knows the instruction executed before, but not the return
    address; so it has no branch to an instruction that was interrupted. Nor has it the last branch of a CPU."""
    found, last = [], {}
    for b in run.branches:
        before = last.get(b.cpu)
        if b.to or 'syscall' in b.flags:
            found.append([b.ip, b.to])
            last[b.cpu] = found[-1]
        elif before and before[1] == b.ip:
            before[1] = 0
            if not before[0]:
                found.remove(before)
        else:
            found.append([b.ip - 4, 0])
            last[b.cpu] = found[-1]
    for cpu in last:
        found.remove(last[cpu])
    return sorted(map(tuple, found))


def check_perf(itrace, run, data):
    if not shutil.which('perf'):
        print('skip as perf: perf is not installed')
        return
    # Its order between CPUs and its threads at their edges are others, and each jump by a register is a return.
    text = itrace.script('perf', data, '--itrace=b', '-F', FIELDS)
    theirs = itrace.branches('\n'.join(line for line in text.splitlines() if line.strip()))
    itrace.check('branches of CoreSight as perf has them', as_perf_has_them(run), sorted((b[1], b[2]) for b in theirs))


def check_without_times(itrace, ringtail, path):
    """The order is that of each CPU."""
    run = make(f'{DATA}/program', f'{DATA}/steps', Form(raw=True, times=False), path)
    for cpu in range(2):
        ours = itrace.branches(itrace.script(ringtail, path, '--itrace=be', '-C', str(cpu), '-F', FIELDS))
        itrace.check(f'CoreSight without time stamps, CPU {cpu}', [b[1:] for b in ours],
                     [(b.ip, b.to, b.flags) for b in run.branches if b.cpu == cpu])


def check_coresight(itrace, ringtail, where):
    path = f'{where}/cs.data'
    for name, form in FORMS.items():
        run = make(f'{DATA}/program', f'{DATA}/steps', form, path)
        true = true_branches(run)
        ours = itrace.branches(itrace.script(ringtail, path, '--itrace=be', '-F', FIELDS))
        itrace.check(f'CoreSight, {name}: all {len(true)} branches are the true ones', ours, true)
    # The last form.
    itrace.check('calls of CoreSight alone', itrace.branches(itrace.script(ringtail, path, '--itrace=c', '-F', FIELDS)),
                 [b for b in true if 'call' in b[3] or 'tr end' in b[3]])
    itrace.check('returns of CoreSight alone',
                 itrace.branches(itrace.script(ringtail, path, '--itrace=r', '-F', FIELDS)),
                 [b for b in true if b[3].startswith(('return', 'tr strt'))])
    itrace.check('instructions of CoreSight are counted', len(itrace.script(ringtail, path, '--insn-trace').splitlines()),
                 run.insns)
    for letters in 'be', 'i3i':
        itrace.check(f'{letters} of CoreSight: the same on one CPU and on all',
                     itrace.script(ringtail, path, f'--itrace={letters}', cpus='0'),
                     itrace.script(ringtail, path, f'--itrace={letters}'))
    check_perf(itrace, run, path)
    check_without_times(itrace, ringtail, path)
