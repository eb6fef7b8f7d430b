# SPDX-License-Identifier: Apache-2.0
"""Fields of script that show code: instructions of branch stacks, text of instructions, lines of source."""
import os
import re
import shutil
import struct

import annotate

STOP = '\t... not reaching sample ...\n'


def blocks(text):
    """By the line of a sample (thread, address, branch stack): the lines behind it."""
    parts = re.split(r'^(?!\t)(.+)\n', text, flags=re.M)
    # perf 6.1 has fewer parts for each branch.
    return {' '.join(re.sub(r'(0x\w+/0x\w+)/\S*', r'\1', head).split()): body.rstrip('\n') + '\n' for head, body in zip(parts[1::2], parts[2::2])}


def check_branch_code(t, ringtail, where, data):
    fields = 'tid,ip,brstack,brstackinsn,brstackinsnlen'
    ours = t.script(ringtail, data, '--itrace=i51il8', '-F', fields)
    found = blocks(ours)
    t.check('samples with branch stacks have their code', len(found) > 100, True)
    with open(f'{where}/branches') as f:
        sources = {int(line.split()[1], 16) for line in f}
    jumps = re.findall(r'^\t([0-9a-f]{16})\tinsn: (?:[0-9a-f]{2} )+ *\tilen: \d+\t#', ours, re.M)
    t.check('marked instructions are branches', [at for at in jumps if int(at, 16) not in sources], [])
    t.check('blocks end at their branches', 'mismatch' in ours, False)
    # Each instruction stands behind the one before, but behind a branch.
    wrong, at = [], None
    for line in ours.splitlines():
        m = re.match(r'\t([0-9a-f]{16})\tinsn: ((?:[0-9a-f]{2} )+) *\tilen: (\d+)(.*)', line)
        if m:
            here, size = int(m[1], 16), len(m[2].split())
            if size != int(m[3]) or (at and here != at):
                wrong.append(line)
            at = None if '#' in m[4] else here + size
        elif not line.startswith('\t') or line == STOP.rstrip('\n'):
            at = None
    t.check('instructions follow each other', wrong, [])
    few = t.script(ringtail, data, '--itrace=i51il8', '-F', fields, '--max-blocks', '2')
    t.check('two blocks at most', max(body.count('#') for body in blocks(few).values()), 3)
    if shutil.which('perf'):
        # Where samples of a longer period lie depends on branches that perf cannot follow.
        found, theirs = (blocks(t.script(program, data, '--itrace=i1il4', '-F', fields)) for program in (ringtail, 'perf'))
        both = [head for head in theirs if head in found]
        # perf 6.1 stops at a conditional branch, too; 7.2 goes on.
        same = [head for head in both if found[head] == theirs[head] or
                (theirs[head].endswith(STOP) and found[head].startswith(theirs[head][:-len(STOP)]))]
        t.check(f'code of {len(both)} branch stacks as perf has it', [len(same), len(both) > 1000], [len(both), True])
    else:
        print('skip code of branch stacks as perf has it: perf is not installed')


def check_text(t, ringtail, data):
    text = t.script(ringtail, data, '--itrace=i51il8', '-F', 'ip,brstackdisasm')
    t.check('branch stacks as text', bool(re.search(r'^\t[0-9a-f]{16}\tret\w* +\t#$', text, re.M)) and 'insn:' not in text, True)
    text = t.script(ringtail, data, '--insn-trace=disasm').splitlines()
    t.check('each traced instruction as text', [line for line in text if not re.search(r'\)\t\t[a-z]', line)], [])
    t.check('--insn-trace=raw has bytes', ' insn: ' in t.script(ringtail, data, '--insn-trace=raw'), True)
    # A sample of another event has the code of its map.
    lengths = t.script(ringtail, data, '--itrace=i51i', '-F', 'insnlen,insn').splitlines()
    t.check('lengths are those of the bytes',
            [line for line in lengths if int(line.split()[1]) != len(line.split()) - 3], [])


def check_source(t, ringtail, where, data):
    """Lines are those of the file, and a line comes once in sequence."""
    text = t.script(ringtail, data, '--itrace=i51i', '-F', 'tid,ip,srcline,srccode')
    path = os.path.join(os.path.dirname(__file__), '..', 'unit', 'auxtrace', 'intel_pt', 'traced.c')
    with open(path) as f:
        source = f.read().split('\n')
    shown = re.findall(r'^  traced\.c:(\d+)\n\|(\d+) +(\S.*|\t.*)$', text, re.M)
    t.check('lines of source are shown', len(shown) > 50, True)
    t.check('as they are in the file', [s for s in shown if s[0] != s[1] or source[int(s[1]) - 1] != s[2]], [])
    if shutil.which('perf'):
        theirs = t.script('perf', data, '--itrace=i51il8', '-F', 'tid,ip,brstackinsn,srccode')
        ours = t.script(ringtail, data, '--itrace=i51il8', '-F', 'tid,ip,brstackinsn,srccode')
        ours, theirs = ([re.sub('^ +', '', line) for line in text.partition(STOP)[0].splitlines()] for text in (ours, theirs))
        t.check(f'source in branch stacks as perf has it: {len(theirs)} lines', ours[:len(theirs)], theirs)


def check_hostile_stack(t, ringtail, where):
    """A branch stack whose every branch spans a block of one-byte instructions: text would be a thousand times its size."""
    branches, block = 1000, 16000
    os.makedirs(f'{where}/nops', exist_ok=True)
    with open(f'{where}/nops/program', 'wb') as f:
        f.write(annotate.elf(62, b'\x90' * (block + 64), [(b'nops', 0, block)]))
    start = annotate.LOADED + annotate.OFFSET
    name = b'/program\0'.ljust(16, b'\0')
    sample_type = 1 | 2 | 4 | 1 << 11  # IP, TID, TIME, BRANCH_STACK
    stack = struct.pack('<QIIQQ', start, 7, 7, 2, branches) + branches * struct.pack('<QQQ', start + block, start, 0)
    records = annotate.record(10, 2, struct.pack('<IIQQQIIQQII', 7, 7, annotate.LOADED, 0x100000, 0, 8, 1, 1234, 0, 5, 2) + name)
    records += annotate.record(9, 2, stack)
    attr = bytearray(136)
    struct.pack_into('<IIQQQQQ', attr, 0, 0, len(attr), 0, 1, sample_type, 0, 0)
    struct.pack_into('<Q', attr, 72, 1 << 3)  # branch_sample_type ANY
    with open(f'{where}/nops.data', 'wb') as f:
        f.write(b'PERFILE2' + struct.pack('<12Q', 104, 152, 104, 152, 256, len(records), *[0] * 6))
        f.write(bytes(attr) + struct.pack('<QQ', 0, 0) + records)
    text = t.script(ringtail, f'{where}/nops.data', '--symfs', f'{where}/nops', '-F', 'ip,brstackinsn')
    t.check('a hostile branch stack has a bound', [10000 < text.count('\tinsn: ') <= 16384 + 2, 'mismatch' in text], [True, True])


def check_machine(t, ringtail, where):
    """The code of a 32-bit program has its lengths, whether symbols are shown or not."""
    os.makedirs(f'{where}/old', exist_ok=True)
    with open(f'{where}/old/program', 'wb') as f:
        f.write(annotate.elf(3, b'\x48\x90' * 32, [(b'old', 0, 64)]))  # dec %eax; a nop of two bytes where code is of 64 bits
    annotate.write_recording(f'{where}/old.data', '/program', [(0, 1, 0)])
    for fields in 'ip,insn,insnlen', 'ip,sym,insn,insnlen':
        text = t.script(ringtail, f'{where}/old.data', '--symfs', f'{where}/old', '-F', fields)
        t.check(f'code of 32 bits ({fields})', re.findall(r'ilen: (\d+) insn:((?: [0-9a-f]{2})+)', text), [('1', ' 48')])


def check_jit(t, ringtail, where):
    """The code of a 32-bit JIT in a system of 64 bits: the jitdump names its machine."""
    code, address = b'\x48\x90' * 32, annotate.LOADED + annotate.OFFSET
    os.makedirs(f'{where}/jit', exist_ok=True)
    for machine, length in (3, 1), (62, 2):
        body = struct.pack('<IIQQQQ', 7, 7, address, address, len(code), 1) + b'jitted\0' + code
        with open(f'{where}/jit/jit-7.dump', 'wb') as f:
            f.write(struct.pack('<IIIIIIQQ', 0x4a695444, 1, 40, machine, 0, 7, 1, 0) + struct.pack('<IIQ', 0, 16 + len(body), 1) + body)
        annotate.write_recording(f'{where}/jit.data', '/jit-7.dump', [(56 + 16 + len(b'jitted\0') + 40 - annotate.OFFSET, 1, 0)])
        text = t.script(ringtail, f'{where}/jit.data', '--symfs', f'{where}/jit', '-F', 'ip,insn,insnlen')
        t.check(f'code of a JIT of machine {machine}', re.findall(r'ilen: (\d+) insn:((?: [0-9a-f]{2})+)', text),
                [(str(length), ' 48' + ' 90' * (length - 1))])


def check_code(t, ringtail, where, data):
    check_machine(t, ringtail, where)
    check_jit(t, ringtail, where)
    check_hostile_stack(t, ringtail, where)
    check_branch_code(t, ringtail, where, data)
    check_text(t, ringtail, data)
    check_source(t, ringtail, where, data)
