#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks the sort keys type, typeoff and typecln: what the instructions of a known program access.

usage: data_types.py RINGTAIL

A recording has a sample at each byte of the code of some functions, which are compiled in several ways. A function's
samples must show each member that its source reads or writes, and no other type. Without optimisation variables are
on the stack, so there more may be shown. Prints 'ok NAME', 'FAIL NAME REASON' or 'skip NAME REASON'.
"""
import os
import re
import shutil
import struct
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), 'export'))
import recording  # noqa: E402 pylint: disable=wrong-import-position

SOURCE = '''
struct inner { char tag; double weight; };
struct node { struct node *next; long key; struct inner in; int at[4]; unsigned kind : 3, colour : 5; };
typedef struct { short level; union { int number; float share; }; } settings_t;
settings_t settings;
static long table[64];
extern struct node *make(long key);
#define OUT __attribute__((noinline, noclone, used))

OUT long walk(struct node *n)
{
	long sum = 0;

	for (; n; n = n->next) {
		sum += n->key;
		n->at[2] += sum;
		n->in.weight += 1.5;
	}
	return sum;
}
OUT long through(struct node **p)
{
	long sum = 0;
	struct node *a = *p;

	while (a->next->next) {
		sum += a->next->next->key;
		a = a->next;
	}
	return sum;
}
OUT void fill(long k)
{
	for (int i = 0; i < 64; i++)
		table[i] += k ^ i;
}
OUT long made(long k)
{
	return make(k)->key;
}
OUT void set(int n)
{
	settings.level++;
	settings.number ^= n;
}
OUT int bits(struct node *n)
{
	return n->colour;
}
int main(int argc, char **argv)
{
	struct node *n = make(argc);

	fill(walk(n) + through(&n) + made(1) + table[argc]);
	set(bits(n));
	return 0;
}
'''
OTHER = '''
#include <stdlib.h>
struct node;
struct node *make(long key);
struct node *make(long key)
{
	long *n = calloc(1, 256);

	n[1] = key;
	return (struct node *)n;
}
'''
WANTED = {
    'walk': {'struct node +0 (next)', 'struct node +0x8 (key)', 'struct node +0x28 (at)', 'struct node +0x18 (in.weight)'},
    'through': {'struct node* +0 (no field)', 'struct node +0 (next)', 'struct node +0x8 (key)'},
    'fill': {'long int[] +0 (no field)'},
    'made': {'struct node +0x8 (key)'},
    'set': {'settings_t +0 (level)', 'settings_t +0x4 (number)'},
    'bits': {'struct node +0x30 (kind:3)'},
}
# Blocks whose siblings are their own first children, so that a walk over all of either doubles with each block.
BLOCKS = 60
DAMAGED = r'''
	.text
	.globl main
	.type main, @function
main:	mov var(%%rip), %%rax
	ret
.Lend:	.size main, .-main
	.comm var, 8
	.section .debug_abbrev, "", @progbits
	.byte 1, 0x11, 1, 0x11, 1, 0x12, 7, 0x13, 5, 3, 8, 0, 0	# unit: code, size of it, language, name
	.byte 2, 0x2e, 1, 0x11, 1, 0x12, 7, 3, 8, 0, 0		# function: code, size of it, name
	.byte 3, 0x0b, 1, 1, 0x13, 0, 0				# block: sibling
	.byte 0
	.section .debug_info, "", @progbits
.Lunit:	.long .Lunit_end - .Lbegin
.Lbegin: .short 4
	.long .debug_abbrev
	.byte 8, 1
	.quad main, .Lend - main
	.short 12
	.asciz "damaged.c"
	.byte 2
	.quad main, .Lend - main
	.asciz "main"
%s	.zero %d
.Lunit_end:
	.section .note.GNU-stack, "", @progbits
''' % (''.join(f'.L{n}:\t.byte 3\n\t.long .L{n + 1} - .Lunit\n' for n in range(BLOCKS)) + f'.L{BLOCKS}:\n', BLOCKS + 2)
WAYS = [(compiler, level, debug) for compiler in ('gcc', 'clang') for level in ('-O2', '-O1', '-O0')
        for debug in ('-gdwarf-5', '-gdwarf-4')]


def functions_of(program):
    """{name: (address in a recording, bytes)}"""
    with open(program, 'rb') as f:
        header = f.read(64)
        start, size, number = struct.unpack_from('<Q', header, 32)[0], *struct.unpack_from('<HH', header, 54)
        f.seek(start)
        loads = [struct.unpack('<IIQQQQQQ', f.read(size)[:56]) for _ in range(number)]
    out = subprocess.run(['nm', '-S', program], capture_output=True, text=True, check=True).stdout
    found = {}
    for address, length, name in re.findall(r'^([0-9a-f]+) ([0-9a-f]+) [Tt] (\w+)$', out, re.M):
        at = int(address, 16)
        for kind, flags, offset, linked, _, bytes_, _, _ in loads:
            if kind == 1 and flags & 1 and linked <= at < linked + bytes_:
                found[name] = recording.LOADED + at - linked + offset, int(length, 16)
    return found


def rows(ringtail, data, key):
    """{function: {text of the key}}"""
    out = subprocess.run([ringtail, 'report', '-i', data, '--stdio', '--no-children', '-g', 'none', '-t', '|', '--sort',
                          'sym,' + key], capture_output=True, text=True, check=True).stdout
    found = {}
    for line in out.splitlines():
        if line and not line.startswith('#'):
            _, name, text = line.split('|')
            found.setdefault(name.strip()[4:], set()).add(text.strip())
    return found


def judge(name, level, got):
    """Returns what is wrong with the texts of a function; None: nothing."""
    wanted = WANTED[name]
    if name == 'made' and level == '-O0':
        wanted = set()  # DWARF tells what calls return of optimised code alone
    if name == 'fill':  # unrolled and vectorised loops have several places in the array
        got = {re.sub(r'^(long(?: int)?\[\]) \+\S+ ', 'long int[] +0 ', text) for text in got}
    if name == 'bits':  # the byte that is read has bits of both members
        got = {text.replace('(colour:5)', '(kind:3)') for text in got}
    lacks = wanted - got
    more = {text for text in got - wanted if not text.startswith('(')}
    if lacks:
        return f'{name} lacks {sorted(lacks)}, has {sorted(got)}'
    if more and level != '-O0':
        return f'{name} has {sorted(more)}, too'
    return None


def check(ringtail, folder, compiler, level, debug):
    program, data = os.path.join(folder, 'program'), os.path.join(folder, 'perf.data')
    sources = [os.path.join(folder, name) for name in ('program.c', 'other.c')]
    for path, text in zip(sources, (SOURCE, OTHER)):
        with open(path, 'w', encoding='utf-8') as f:
            f.write(text)
    subprocess.run([compiler, level, debug, '-fstack-protector-all', '-Wl,--build-id=0x' + recording.BUILD_ID.hex(), '-o',
                    program, *sources], check=True, capture_output=True)
    made = functions_of(program)
    out = recording.Recording(data)
    out.comm(10, 10, b'program')
    out.map(10, program.encode())
    for name in [*WANTED, 'main']:
        start, size = made[name]
        for i in range(size):
            out.sample_at(10, 10, [start + i])
    out.close()
    found = rows(ringtail, data, 'typeoff')
    wrong = [text for text in (judge(name, level, found.get(name, set())) for name in WANTED) if text]
    if '(stack operation)' not in found['main']:
        wrong.append('main has no operation on the stack')
    if '(stack canary)' not in found['main']:
        wrong.append('main does not read the guard of the stack')
    types = rows(ringtail, data, 'type')['walk']
    if level != '-O0' and types - {'(unknown)', '(stack operation)', '(stack canary)'} != {'struct node'}:
        wrong.append(f'types of walk: {sorted(types)}')
    if 'struct node: cache-line 0' not in rows(ringtail, data, 'typecln')['walk']:
        wrong.append('lines of the cache')
    return wrong


def check_damaged(ringtail, folder):
    """A report on a program whose debug information would have its blocks read for ever."""
    program, data = os.path.join(folder, 'program'), os.path.join(folder, 'perf.data')
    with open(program + '.s', 'w', encoding='utf-8') as f:
        f.write(DAMAGED)
    subprocess.run(['gcc', '-Wl,--build-id=0x' + recording.BUILD_ID.hex(), '-o', program, program + '.s'], check=True,
                   capture_output=True)
    out = recording.Recording(data)
    out.comm(10, 10, b'program')
    out.map(10, program.encode())
    out.sample_at(10, 10, [functions_of(program)['main'][0]])
    out.close()
    got = rows(ringtail, data, 'type')
    return [] if got == {'main': {'(unknown)'}} else [str(got)]


def main():
    ringtail = os.path.abspath(sys.argv[1])
    failed = False
    if os.uname().machine != 'x86_64':
        print('skip types only code of x86-64 is known')
        return
    for compiler, level, debug in WAYS:
        name = f'types-{compiler}{level}{debug}'
        if not shutil.which(compiler):
            print(f'skip {name} {compiler} is not installed')
            continue
        with tempfile.TemporaryDirectory() as folder:
            wrong = check(ringtail, folder, compiler, level, debug)
        failed |= bool(wrong)
        print(f'FAIL {name} {"; ".join(wrong)}' if wrong else f'ok {name}', flush=True)
    if shutil.which('gcc'):
        with tempfile.TemporaryDirectory() as folder:
            wrong = check_damaged(ringtail, folder)
        failed |= bool(wrong)
        print(f'FAIL types-damaged {"; ".join(wrong)}' if wrong else 'ok types-damaged', flush=True)
    sys.exit(failed)


if __name__ == '__main__':
    main()
