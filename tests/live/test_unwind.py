# SPDX-License-Identifier: Apache-2.0
"""Call chains from copies of user stacks: of programs whose chains are known, and in comparison with perf."""
import os
import re

from lab import Skip, table

CHAIN = ['leaf', 'middle', 'outer', 'main']


def need_unwinder():
    if os.uname().machine not in ('x86_64', 'aarch64'):
        raise Skip('stacks of ' + os.uname().machine + ' are not unwound')


def chains(text):
    """Returns for each sample the names of its frames in user space, innermost first, without versions."""
    found = []
    for block in text.split('\n\n'):
        frames = re.findall(r'^\s+([0-9a-f]+) (.*?)(?:\+0x[0-9a-f]+)? \((.*)\)$', block, re.M)
        if block.strip():
            found.append([name.split('@')[0] for ip, name, dso in frames
                          if int(ip, 16) < 1 << 63])
    return found


def record(lab, data, program, mode, *options, size=8192, ms=400, stacks=0):
    """Records `program`. With all stacks at 2000 a second the task's ring has room for twice as much: however late
    the reader is, no stack is truncated.

    `stacks`: the most stacks that the program can make, if that is known."""
    room = 1 << ((stacks or 4 * ms) * size).bit_length()
    lab.run('record', '-q', '-o', data, '-e', 'cpu-clock:u', '-F', '2000', '-i', '-m', f'{room}B', '--buffer-memory', 4 * room,
            '--call-graph', f'dwarf,{size}', *options, '--', lab.program(program), mode, ms, release=True)


def script(lab, data):
    return chains(lab.run('script', '-i', data).stdout)


def share(some, condition):
    assert len(some) > 20, f'{len(some)} samples'  # of hundreds, but from where the host takes the CPU away
    return sum(1 for chain in some if condition(chain)) / len(some)


def test_known_chain(lab):
    """Nearly all samples of main are in leaf or its callees, and each chain reaches main and its callers."""
    need_unwinder()
    for program in 'stacks', 'stacks-debug-frame':
        record(lab, 'c.data', program, 'chain')
        found = script(lab, 'c.data')
        # An emulated CPU is in ld.so for a fifth of the time.
        found = found[next((i for i, c in enumerate(found) if 'main' in c), len(found)):]
        assert len(found) > 20, len(found)
        inside = [c for c in found if 'leaf' in c]
        assert len(inside) > 0.9 * len(found), found[:5]
        for chain in inside:
            at = chain.index('leaf')
            assert at <= 3 and chain[at:at + 4] == CHAIN, chain
            assert chain[-1] == '_start' or 'libc_start' in chain[at + 4], chain


def test_chain_through_a_signal(lab):
    """Each chain goes on from the handler with those of CHAIN whose code had begun; nearly always this is leaf."""
    need_unwinder()
    record(lab, 's.data', 'stacks', 'signal')
    # The last signal may interrupt exit().
    inside = [c for c in script(lab, 's.data') if 'handler' in c and 'exit' not in c]

    def whole(chain):
        names = [name for name in chain if name in CHAIN]
        return chain[0] == 'handler' and names and names == CHAIN[-len(names):]
    assert share(inside, whole) > 0.95, [c for c in inside if not whole(c)][:5]
    # On a slow CPU the handler takes so long that a tenth of all its samples follow one signal.
    assert share(inside, lambda c: 'leaf' in c) > 0.6, inside[:5]


def test_code_without_information(lab):
    """Assembly with a frame pointer has callers. -v marks them; the default output marks none."""
    if os.uname().machine != 'x86_64':
        raise Skip('the assembly is for x86-64')
    record(lab, 'b.data', 'stacks', 'bare')
    text = lab.run('script', '-i', 'b.data').stdout
    inside = [c for c in chains(text) if 'leaf' in c]
    assert share(inside, lambda c: c[c.index('leaf'):][:3] == ['leaf', 'bare', 'main']) > 0.95, inside[:5]
    assert '[guessed]' not in text
    marked = re.findall(r'^\s+[0-9a-f]+ (.*?)(?:\+0x[0-9a-f]+)? \(.*\) \[guessed\]$',
                        lab.run('script', '-v', '-i', 'b.data').stdout, re.M)
    assert set(marked) == {'main'} and len(marked) > 0.95 * len(inside), (set(marked), len(marked), len(inside))
    table = lab.run('report', '-i', 'b.data', '--no-children', '-g', 'callee').stdout
    assert '[guessed]' not in table
    marked = lab.run('report', '-v', '-i', 'b.data', '--no-children', '-g', 'callee').stdout
    assert 'main [guessed]' in marked, marked
    assert marked.replace(' [guessed]', '') == table


def test_truncated_stacks_end_early_and_without_a_word(lab):
    """A large enough stack gives the whole chain, a smaller one a part of it."""
    need_unwinder()
    lengths = []
    for size in 256, 2048, 16384:
        record(lab, 'd.data', 'stacks', 'deep', size=size)
        p = lab.run('report', '-i', 'd.data', '--no-children', '-g', 'callee')
        assert not p.stderr, p.stderr
        inside = [c for c in script(lab, 'd.data') if c and c[0] == 'leaf']
        whole = ['leaf'] + 61 * ['recurse'] + ['main']
        assert share(inside, lambda c: c[:len(whole)] == whole[:len(c)]) == 1, inside[0]
        lengths.append(max(len(c) for c in inside))
    assert 1 < lengths[0] < lengths[1] < len(whole) < lengths[2], lengths
    assert all(len(c) <= 7 for c in chains(
        lab.run('script', '-i', 'd.data', '--no-inline', '--max-stack', 7).stdout))


def test_as_perf_unwinds_them(lab):
    """Each sample has the names that perf finds, in recordings of ringtail and of perf."""
    need_unwinder()
    record(lab, 'o.data', 'stacks', 'chain')
    lab.perf_record('-o', 'p.data', '-e', 'cpu-clock', '-F', '2000', '--call-graph', 'dwarf', '--',
                    lab.program('stacks'), 'deep', 400)
    for data in 'o.data', 'p.data':
        ours = script(lab, data)
        theirs = chains(lab.perf('script', '--no-inline', '-F', 'comm,tid,time,event,ip,sym,dso',
                                 '-i', data, quiet=False).stdout)
        assert len(ours) == len(theirs) > 20, (len(ours), len(theirs))
        differ = [(a, b) for a, b in zip(ours, theirs) if a != b]
        assert len(differ) <= 0.02 * len(ours) + 1, (len(differ), len(ours), differ[:2])


def test_reports_count_callers(lab):
    """With --children main has all samples of its callees, whatever the number of workers."""
    need_unwinder()
    # Two chunks are more than a thousand stacks. Where 700 ms make fewer, since the CPU is taken away, twice as many
    # make less than twice as many.
    for ms in 700, 1400, 2800, 5600:
        record(lab, 'r.data', 'stacks', 'chain', size=32768, ms=ms, stacks=2800)
        if os.path.getsize(lab.path('r.data')) > 32 << 20:
            break
    else:
        raise AssertionError('too short for two chunks')
    out = lab.run('report', '-i', 'r.data', '--children', '--sort', 'sym', '-g', 'caller').stdout
    rows = {row.split()[-1]: percent for percent, row in table(out) if '[.]' in row}
    assert all(rows.get(name, 0) > 90 for name in CHAIN), rows
    cpus = os.sched_getaffinity(0)
    one = lab.run('report', '-i', 'r.data', '--children', '--sort', 'sym', '-g', 'caller',
                  preexec_fn=lambda: os.sched_setaffinity(0, {min(cpus)})).stdout
    assert one == out
