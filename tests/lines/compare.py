#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares lines and inlined functions with addr2line, for random addresses of programs.

usage: compare.py BUILD [-n ADDRESSES] [--strict] [PROGRAM ...]

Without programs it compiles some in many ways, and prints a line for each: 'ok NAME ...' or 'FAIL NAME REASON'. It
fails where we differ both from binutils' addr2line and, if it is installed, from LLVM's. The line counts the
addresses by class:
  equal      all functions and lines are as binutils prints them
  symbol     a function without linkage name: binutils prints the name of the symbol there
  llvm       binutils prints something else, LLVM the same as we do
  neither    both differ from us
"""
import argparse
import collections
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
# name, compiler, source, options, whether binutils 2.40 reads it
WAYS = [
    ('c-dwarf5', 'gcc', 'program.c', ['-gdwarf-5'], True),
    ('c-clang', 'clang', 'program.c', ['-gdwarf-5'], False),
    ('c++-dwarf5', 'g++', 'program.cpp', ['-gdwarf-5'], True),
    ('c++-dwarf4', 'g++', 'program.cpp', ['-gdwarf-4'], True),
    ('c++-zlib', 'g++', 'program.cpp', ['-gz=zlib'], True),
    ('c++-lto', 'g++', 'program.cpp', ['-flto'], True),
    ('c++-sections', 'g++', 'program.cpp', ['-ffunction-sections', '-Wl,--gc-sections'], True),
    ('c++-split', 'g++', 'program.cpp', ['-gsplit-dwarf'], False),
    ('c++-split4', 'g++', 'program.cpp', ['-gsplit-dwarf', '-gdwarf-4'], False),
    ('c++-dwz', 'g++', 'program.cpp', ['-gdwarf-5'], True),
    ('c++-clang4', 'clang++', 'program.cpp', ['-gdwarf-4'], True),
    ('c++-clang-split', 'clang++', 'program.cpp', ['-gsplit-dwarf'], False),
    ('c++-package', 'g++', 'program.cpp', ['-gsplit-dwarf', '-gdwarf-5'], False),
    ('c++-package4', 'g++', 'program.cpp', ['-gsplit-dwarf', '-gdwarf-4'], False),
    ('c++-clang-package', 'clang++', 'program.cpp', ['-gsplit-dwarf', '-gdwarf-5'], False),
    ('c++-clang-package4', 'clang++', 'program.cpp', ['-gsplit-dwarf', '-gdwarf-4'], False),
    ('c++-gnu-package4', 'g++', 'program.cpp', ['-gsplit-dwarf', '-gdwarf-4'], False),
    ('rust', 'rustc', 'program.rs', ['--edition', '2021', '-g', '-C', 'opt-level=2'], True),
    ('go', 'go', 'program.go', ['build'], True),
]


def text_ranges(program):
    """Address and size of the code that the file has, or had before it was stripped to its debug information."""
    out = subprocess.run(['readelf', '-SW', program], capture_output=True, text=True, check=True).stdout
    return [(int(m[1], 16), int(m[2], 16)) for m in
            re.finditer(r'\] \.text\S*\s+\S+\s+([0-9a-f]+) [0-9a-f]+ ([0-9a-f]+)', out) if int(m[2], 16)]


def pick(program, count):
    ranges = text_ranges(program)
    rng = random.Random(program.rsplit('/', 1)[-1])
    sizes = [size for _, size in ranges]
    return [start + rng.randrange(size) for start, size in rng.choices(ranges, sizes, k=count)]


def ask(command, addresses):
    """Frames by address: [(function, file without folders, line)], the innermost first."""
    text = ''.join(f'{a:#x}\n' for a in addresses)
    out = subprocess.run(command, input=text, capture_output=True, text=True, check=True).stdout
    ret, frames, function = [], None, None
    for line in out.splitlines():
        if re.fullmatch(r'0x[0-9a-f]+', line) and function is None:
            frames = []
            ret.append(frames)
        elif function is None:
            function = line
        else:
            place, _, number = re.sub(r' \(discriminator \d+\)$', '', line).rpartition(':')
            number = number if number != '?' else '0'
            frames.append((function, os.path.basename(place) if number != '0' else '??', number))
            function = None
    return ret


def symbols(program):
    out = subprocess.run(['nm', program], capture_output=True, text=True).stdout
    return {line.rsplit(None, 1)[-1] for line in out.splitlines()}


def places(frames):
    return [f[1:] for f in frames]


def same(ours, theirs, names):
    """Whether frames are equal; 'symbol' if but for names that they took from the symbol table."""
    if ours == theirs:
        return 'equal'
    if places(ours) != places(theirs):
        return None
    odd = [(a[0], b[0]) for a, b in zip(ours, theirs) if a[0] != b[0]]
    return 'symbol' if all(b in names or b.split('.')[0] == a for a, b in odd) else None


def compare(build, program, count, show):
    """Where neither addr2line reads all, the reference is a file of the same code with plain debug information."""
    before = f'{program}.plain' if os.path.exists(f'{program}.plain') else program
    addresses = pick(program, count)
    options = ['-a', '-i', '-f', '-e', before]
    ours = ask([f'{build}/tests/lines/lines-of', program], addresses)
    binutils = ask(['addr2line', *options], addresses)
    llvm = ask(['llvm-addr2line', *options], addresses) if shutil.which('llvm-addr2line') else None
    names = symbols(program)
    classes = collections.Counter()
    for i, address in enumerate(addresses):
        how = same(ours[i], binutils[i], names)
        if not how and llvm and same(ours[i], llvm[i], names):
            how = 'llvm'
        how = how or 'neither'
        classes[how] += 1
        if show and how == 'neither' and classes[how] <= show:
            print(f'  {address:#x}\n    ours {ours[i]}\n    binutils {binutils[i]}\n    llvm {llvm and llvm[i]}')
    return classes, llvm is not None


def report(name, classes, strict):
    """Prints the verdict. A few hundredths may differ from both: code at the edge of functions."""
    total = sum(classes.values())
    shares = ', '.join(f'{kind} {100 * classes[kind] / total:.2f} %' for kind in ('equal', 'symbol', 'llvm', 'neither'))
    bad = strict and classes['neither'] > total / 100
    print(f'{"FAIL" if bad else "ok"} {name} {total} addresses: {shares}', flush=True)
    return bad


def pack_steps(program, source, packer):
    """A program of two units with a package, and the same one with its debug information in one piece."""
    units = [['-o', 'program.o', f'{HERE}/{source}'], ['-x', 'c', '-Dmain=second', '-o', 'second.o', f'{HERE}/program.c']]
    link = ['second.o', 'program.o']
    return [*(['-gno-split-dwarf', '-c', *unit] for unit in units), ['-o', f'{program}.plain', *link],
            *(['-c', *unit] for unit in units), ['-o', program, *link],
            [packer, '-e', program, '-o', f'{program}.dwp'], ['rm', 'program.dwo', 'second.dwo']]


def same_code(one, other):
    """Whether the files have the same .text at the same address."""
    texts = [subprocess.run(['objdump', '-s', '-j', '.text', file], capture_output=True, text=True, check=True).stdout
             for file in (one, other)]
    return texts[0].split('\n', 3)[3] == texts[1].split('\n', 3)[3]


def make(folder, name, compiler, source, options):
    """Compiles in a folder of its own, where .dwo files stay. Returns the program, or a reason why there is none."""
    packer = 'dwp' if 'gnu-package' in name else 'llvm-dwp' if 'package' in name else None
    for tool in [compiler] + ['dwz'] * name.endswith('dwz') + [packer] * bool(packer):
        if not shutil.which(tool):
            return None, f'{tool} is not installed'
    where = f'{folder}/{name}'
    os.mkdir(where)
    program = f'{where}/program'
    if packer:
        steps = pack_steps(program, source, packer)
    elif compiler in ('rustc', 'go'):
        steps = [[compiler, *options, '-o', program, f'{HERE}/{source}']]
    elif '-gsplit-dwarf' in options:  # the folder of the .dwo is that of the compiler
        steps = [['-c', '-o', 'program.o', f'{HERE}/{source}'], ['-o', program, 'program.o']]
    else:
        steps = [['-o', program, f'{HERE}/{source}']]
    for step in steps:
        command = step if step[0] in (packer, 'rm', 'rustc', 'go') else [compiler, '-O2', '-g', *options, *step]
        done = subprocess.run(command, cwd=where, capture_output=True, text=True,
                              env={**os.environ, 'CGO_ENABLED': '0', 'GOCACHE': f'{folder}/go-cache'})
        if done.returncode:
            return None, f'{command[0]} cannot: {done.stderr.splitlines()[-1] if done.stderr else "?"}'
    if packer and not same_code(program, f'{program}.plain'):
        return None, f'{compiler} makes other code without -gsplit-dwarf'
    if name.endswith('dwz'):  # dwz shares what two files have in common
        shutil.copy(program, f'{where}/second')
        shutil.copy(program, f'{program}.plain')
        done = subprocess.run(['dwz', '-m', f'{where}/common.debug', program, f'{where}/second'], capture_output=True,
                              text=True)
        if done.returncode or not os.path.exists(f'{where}/common.debug'):
            return None, 'dwz made no common file: ' + done.stderr.strip()
    return program, None


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('build')
    parser.add_argument('-n', type=int, default=300)
    parser.add_argument('-s', '--show', type=int, default=0, help='show this many differences')
    parser.add_argument('--strict', action='store_true', help='also programs that are named may fail')
    parser.add_argument('programs', nargs='*')
    args = parser.parse_args()
    failed = False
    for program in args.programs:
        classes, _ = compare(args.build, program, args.n, args.show)
        failed |= report(os.path.basename(program) if args.strict else program, classes, args.strict)
    if args.programs:
        return failed
    with tempfile.TemporaryDirectory() as folder:
        for name, compiler, source, options, readable in WAYS:
            program, why = make(folder, name, compiler, source, options)
            if not program:
                print(f'skip {name} {why}', flush=True)
                continue
            classes, llvm = compare(args.build, program, args.n, args.show)
            failed |= report(name, classes, readable or llvm)
    return failed


if __name__ == '__main__':
    sys.exit(main())
