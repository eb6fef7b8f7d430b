#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares `ringtail annotate` with what is true of programs and recordings that are made here.

usage: annotate.py RINGTAIL

The programs are ELF files for x86-64 and aarch64, so the result is the same on every machine.
"""
import json
import os
import random
import re
import struct
import subprocess
import sys
import tempfile

X86_64, AARCH64 = 62, 183
OFFSET, ADDRESS = 0x1000, 0x401000  # of the code: in the file, and as linked
LOADED = 0x7f0000000000  # where the recording has the file, at its offset 0
KERNEL = 0xffffffff91000000  # where it has the code of the kernel
NOISE = 100  # damaged files
failed = 0


def check(name, ours, theirs):
    global failed
    if ours == theirs:
        print('ok', name)
        return
    failed += 1
    print(f'FAIL {name}: {ours!r}, not {theirs!r}')


def elf(machine, code, symbols):
    """An ELF file with @code; @symbols: (name, offset in the code, size)."""
    names, table = b'\0', bytes(24)
    for name, at, size in symbols:
        table += struct.pack('<IBBHQQ', len(names), 0x12, 0, 1, ADDRESS + at, size)
        names += name + b'\0'
    labels = b'\0.text\0.symtab\0.strtab\0.shstrtab\0'
    parts, at = [], OFFSET + len(code)
    for part in table, names, labels:
        parts.append((at, len(part)))
        at += len(part)

    def section(name, kind, flags, address, place, link=0, info=0, entry=0):
        return struct.pack('<IIQQQQIIQQ', labels.index(name), kind, flags, address, *place, link, info, 1, entry)
    sections = bytes(64) + section(b'.text', 1, 6, ADDRESS, (OFFSET, len(code)))
    sections += section(b'.symtab', 2, 0, 0, parts[0], 3, 1, 24) + section(b'.strtab', 3, 0, 0, parts[1])
    sections += section(b'.shstrtab', 3, 0, 0, parts[2])
    header = b'\x7fELF\2\1\1' + bytes(9) + struct.pack('<HHIQQQIHHHHHH', 2, machine, 1, ADDRESS, 64, at, 0, 64, 56, 1,
                                                      64, 5, 4)
    header += struct.pack('<IIQQQQQQ', 1, 5, OFFSET, ADDRESS, ADDRESS, len(code), len(code), 4096)
    return header.ljust(OFFSET, b'\0') + code + table + names + labels + sections


def record(kind, misc, body):
    return struct.pack('<IHH', kind, misc, 8 + len(body)) + body


def write_recording(path, program, samples, events=1, mode=2):
    """@samples: (offset in the code, period, event). With @mode 1 they are the kernel's, moved by KASLR."""
    sample_type = 0x10000 | 1 | 2 | 4 | 0x80 | 0x100  # IDENTIFIER, IP, TID, TIME, CPU, PERIOD
    name = program.encode() + b'\0'
    name += bytes(-len(name) % 8)
    data = record(10, 2, struct.pack('<IIQQQIIQQII', 7, 7, LOADED, 0x100000, 0, 8, 1, 1234, 0, 5, 2) + name +
                  struct.pack('<IIQIIQ', 7, 7, 1, 0, 0, 1))
    if mode == 1:
        data += record(1, 1, struct.pack('<IIQQQ', 0xffffffff, 0, KERNEL, 0x100000, KERNEL) +
                       b'[kernel.kallsyms]_text\0\0' + struct.pack('<IIQIIQ', 0, 0, 1, 0, 0, 1))
    start = KERNEL if mode == 1 else LOADED + OFFSET
    for i, (at, period, event) in enumerate(samples):
        data += record(9, mode, struct.pack('<QQIIQIIQ', event + 1, start + at, 7, 7, 2 + i, 0, 0, period))
    attrs, at = b'', 104 + 8 * events
    for i in range(events):
        attr = bytearray(136)
        struct.pack_into('<IIQQQQQ', attr, 0, 1, len(attr), i, 1, sample_type, 0, 1 << 18)
        attrs += bytes(attr) + struct.pack('<QQ', 104 + 8 * i, 8)
    with open(path, 'wb') as f:
        f.write(b'PERFILE2' + struct.pack('<12Q', 104, 152, at, len(attrs), at + len(attrs), len(data), *[0] * 6))
        f.write(struct.pack(f'<{events}Q', *range(1, events + 1)) + attrs + data)


class Lab:
    def __init__(self, ringtail, folder):
        self.ringtail, self.folder = ringtail, folder
        self.recording = os.path.join(folder, 'perf.data')
        os.mkdir(os.path.join(folder, 'root'))

    def program(self, data):
        with open(os.path.join(self.folder, 'root', 'program'), 'wb') as f:
            f.write(data)

    def samples(self, *samples, events=1, mode=2):
        write_recording(self.recording, '/program', samples, events, mode)

    def run(self, *args, status=0):
        argv = [self.ringtail, 'annotate', '-i', self.recording, '--symfs', os.path.join(self.folder, 'root'), *args]
        p = subprocess.run(argv, capture_output=True, timeout=60, check=False)
        self.said = p.stderr.decode('utf-8', 'backslashreplace')
        if status is not None and p.returncode != status:
            check(f'exit status of {" ".join(args)}', (p.returncode, self.said), status)
        self.status = p.returncode
        return p.stdout.decode('utf-8', 'backslashreplace')


def rows(text):
    """{address: (numbers, text behind the address)} of a listing."""
    found = {}
    for line in text.splitlines():
        m = re.match(r'((?: +[0-9.]+)+) : +([0-9a-f]+): (.*)', line)
        if m:
            found[int(m.group(2), 16)] = ([float(x) for x in m.group(1).split()], m.group(3))
    return found


def shares(text):
    return {at - ADDRESS: numbers for at, (numbers, _) in rows(text).items() if any(numbers)}


# A loop of three instructions between a nop and a return, then a function of one return.
LOOP = bytes.fromhex('90 4801c8 ffc9 75f9 c3 c3')
LOOP_SYMBOLS = (b'hot_loop', 0, 9), (b'cold', 9, 1)


def test_shares(lab):
    lab.program(elf(X86_64, LOOP, LOOP_SYMBOLS))
    lab.samples((1, 10, 0), (1, 20, 0), (3, 30, 0), (4, 30, 0), (6, 10, 0), (9, 300, 0))
    text = lab.run('hot_loop')
    # The sample within the addition counts for it.
    check('shares of the function', shares(text), {1: [60.0], 4: [30.0], 6: [10.0]})
    check('samples and periods', shares(lab.run('hot_loop', '-n', '--show-total-period')),
          {1: [60.0, 3, 60], 4: [30.0, 1, 30], 6: [10.0, 1, 10]})
    check('shares of the event', shares(lab.run('hot_loop', '--percent-type', 'global-period')),
          {1: [15.0], 4: [7.5], 6: [2.5]})
    check('shares of samples', shares(lab.run('hot_loop', '--percent-type', 'local-hits')),
          {1: [60.0], 4: [20.0], 6: [20.0]})
    check('the arrow', [re.sub('^retq', 'ret', row.split()[0]) for _, row in rows(text).values()], ['nop', '/->', '|', '\\--', 'ret'])
    check('the target', 'jne    0x401001 <+0x1>' in text, True)
    check('the label', f' : {ADDRESS:016x} <hot_loop>:\n' in text, True)
    intel = lab.run('hot_loop', '-M', 'intel', '--asm-raw')
    check('Intel syntax and bytes', '48 01 c8 ' in intel and 'add    rax, rcx' in intel, True)


def test_order(lab):
    lab.samples((1, 5, 0), (9, 995, 0))
    text = lab.run()
    check('the hottest function', re.findall('<(.*)>:$', text, re.M), ['cold'])
    check('functions below the limit', text.endswith('# 1 function below 1% left out\n'), True)
    check('a lower limit', re.findall('<(.*)>:$', lab.run('--percent-limit', '0'), re.M), ['cold', 'hot_loop'])
    check('no samples', (lab.run('frob', status=1), 'none of 2 samples matches --symbols frob' in lab.said), ('', True))
    check('no samples, quietly', (lab.run('-q', 'frob', status=1), 'no sample is in the named functions' in lab.said), ('', True))
    check('no samples of a command', (lab.run('-c', 'frob'), 'none of 2 samples matches --comms frob' in lab.said),
          ('', True))


def test_events(lab):
    lab.samples((1, 10, 0), (4, 30, 0), (4, 7, 1), (9, 7, 1), events=2)
    text = lab.run('-q')
    check('events one after the other', re.findall('<(.*)>:$', text, re.M), ['hot_loop', 'cold', 'hot_loop'])
    check('events in columns', shares(lab.run('--group', 'hot_loop')), {1: [25.0, 0], 4: [75.0, 100.0]})
    found = json.loads(lab.run('--json', '--percent-limit', '0'))
    functions = {(f['event'], f['symbol']): f for f in found['functions']}
    check('functions of JSON', len(functions), 3)
    first = functions[min(functions)[0], 'hot_loop']
    check('instructions of JSON',
          [(i['address'], i['bytes'], i['percent'], i['period'], i.get('target')) for i in first['instructions'][:4]],
          [('0x401000', '90', 0, 0, None), ('0x401001', '4801c8', 25, 10, None), ('0x401004', 'ffc9', 75, 30, None),
           ('0x401006', '75f9', 0, 0, '0x401001')])


def test_aarch64(lab):
    # add; subs; b.ne to the add; an atomic addition that Capstone 4 does not know; ret
    code = struct.pack('<5I', 0x8b010000, 0xf1000421, 0x54ffffc1, 0xb8200020, 0xd65f03c0)
    lab.program(elf(AARCH64, code, [(b'loop', 0, len(code))]))
    lab.samples((0, 1, 0), (8, 3, 0))
    text = lab.run()
    check('aarch64', shares(text), {0: [25.0], 8: [75.0]})
    check('instructions of aarch64', [re.sub(r'^[-/\\|> ]+', '', row).split()[0] for _, row in rows(text).values()][:3],
          ['add', 'subs', 'b.ne'])


def test_kernel(lab):
    lab.samples((1, 1, 0), (4, 3, 0), (9, 1, 0), mode=1)
    lab.program(elf(X86_64, LOOP, ((b'_text', 0, 0),) + LOOP_SYMBOLS))
    text = lab.run('-k', os.path.join(lab.folder, 'root', 'program'))
    check('code of the kernel', shares(text), {1: [25.0], 4: [75.0], 9: [100.0]})


def test_jit(lab):
    """The code of a JIT is in its jitdump; addresses are those in memory."""
    body = struct.pack('<IIQQQQ', 7, 7, LOADED, LOADED, len(LOOP), 1) + b'jitted\0' + LOOP
    dump = struct.pack('<IIIIIIQQ', 0x4a695444, 1, 40, X86_64, 0, 7, 1, 0)
    dump += struct.pack('<IIQ', 0, 16 + len(body), 1) + body
    at = len(dump) - len(LOOP)
    with open(os.path.join(lab.folder, 'root', 'jit-7.dump'), 'wb') as f:
        f.write(dump)
    write_recording(lab.recording, '/jit-7.dump', [(at - OFFSET + i, 1, 0) for i in (1, 1, 4)])
    text = lab.run()
    base = LOADED + at
    check('code of a JIT', {k - base: v[0] for k, v in rows(text).items() if any(v[0])}, {1: [66.67], 4: [33.33]})


def test_missing(lab):
    lab.program(elf(0xfeed, LOOP, LOOP_SYMBOLS))
    lab.samples((1, 1, 0))
    check('an unknown machine', (lab.run(status=1), 'cannot disassemble code of machine 65261' in lab.said), ('', True))
    lab.run('--skip-missing', status=1)
    check('a missing function is left out', lab.said, '')
    found = json.loads(lab.run('--json', status=1))['functions']
    check('an error in JSON', 'machine 65261' in found[0]['error'], True)
    lab.program(elf(X86_64, LOOP, [(b'evil\x1b[2J\n', 0, 1 << 60)]))
    text = lab.run()
    check('a hostile name', '\x1b' not in text + lab.said and '<evil\\x1b[2J\\x0a>' in text, True)
    check('a function behind the end of the file', 'bytes are there' in text, True)


def test_noise(lab):
    """Damaged files cost their code, not the program."""
    whole = elf(X86_64, LOOP * 50, LOOP_SYMBOLS + ((b'more', 10, 490),))
    lab.samples((1, 1, 0), (30, 5, 0), (9, 2, 0))
    dice = random.Random(1)
    for _ in range(NOISE):
        data = bytearray(whole)
        for _ in range(dice.choice((1, 2, 8))):
            # The headers and tables, not the zeroes between.
            at = dice.choice((dice.randrange(120), dice.randrange(OFFSET, len(data))))
            data[at] = dice.choice((0, 1, 0x7f, 0x80, 0xff, dice.randrange(256)))
        lab.program(bytes(data[:dice.choice((len(data), dice.randrange(len(data))))]))
        lab.run(status=None)
        if lab.status not in (0, 1):
            check('a damaged file', (lab.status, lab.said), 'status 0 or 1')
            return
    print('ok damaged files')


def main():
    with tempfile.TemporaryDirectory() as folder:
        lab = Lab(sys.argv[1], folder)
        for test in test_shares, test_order, test_events, test_aarch64, test_kernel, test_jit, test_missing, test_noise:
            test(lab)
    sys.exit(1 if failed else 0)


if __name__ == '__main__':
    main()
