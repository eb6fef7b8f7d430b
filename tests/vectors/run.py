#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Decodes the test material of libipt and OpenCSD, and compares with what those projects expect.

usage: run.py BUILD [PATTERN]

The material is in Debian's source packages. It is fetched into build/vectors once; nothing of it is in this tree. APT is
asked with a configuration of its own, for the releases of RELEASES in turn, until one has the archive.

libipt: its *.ptt files are assembly, the packets of a trace, and the instructions and events that its decoder has to
find. Its own program pttc, compiled here, makes code, trace and expected output of them.
OpenCSD: its snapshots are traces and memory dumps of boards and models. Its program trc_pkt_lister (libopencsd-bin)
prints ranges of instructions; ranges, branches and exceptions must be the same, for each trace ID. Left out are those
without instructions (STM), and one in the format of a debug probe, which no AUX area has.
"""
import collections
import fnmatch
import glob
import os
import re
import subprocess
import sys
import tempfile

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
DIR = TOP + '/build/vectors'
RELEASES = ['bookworm', 'trixie', 'sid']


class Skip(Exception):
    """Why a test cannot run here."""


def run(argv, **how):
    return subprocess.run(argv, capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL, **how)


# --- the source packages ---------------------------------------------------------------------------------------------

def mirror():
    """The address of the archive that APT is configured with."""
    tables = run(['apt-get', 'indextargets', '--format', '$(COMPONENT) $(RELEASE) $(REPO_URI)',
                  'Created-By: Packages']).stdout
    for line in tables.splitlines():
        component, release, place = line.split()
        if component == 'main' and not release.endswith(('-security', '-updates')):
            return place
    raise Skip('APT is configured with no archive of Debian')


def apt_environment():
    """An APT whose lists are below DIR; the system's stay as they are."""
    os.makedirs(DIR + '/apt/state/lists/partial', exist_ok=True)
    os.makedirs(DIR + '/apt/cache/archives/partial', exist_ok=True)
    with open(DIR + '/apt/sources.list', 'w', encoding='utf-8') as f:
        f.writelines(f'deb-src {mirror()} {release} main\n' for release in RELEASES)
    with open(DIR + '/apt/conf', 'w', encoding='utf-8') as f:
        f.write(f'Dir::State "{DIR}/apt/state";\nDir::State::status "/var/lib/dpkg/status";\n'
                f'Dir::Cache "{DIR}/apt/cache";\nDir::Etc::sourcelist "{DIR}/apt/sources.list";\n'
                'Dir::Etc::sourceparts "/dev/null";\nAPT::Sandbox::User "root";\nAcquire::Retries "2";\n')
    return os.environ | {'APT_CONFIG': DIR + '/apt/conf'}


def source_of(package):
    """The folder with the unpacked source of @package. Not each mirror keeps the archive of each version."""
    at = f'{DIR}/{package}'
    if not os.path.exists(at + '/unpacked'):
        os.makedirs(at, exist_ok=True)
        env = apt_environment()
        said = run(['apt-get', 'update', '-qq'], env=env)
        if said.returncode:
            raise Skip(f'no lists of source packages: {said.stderr.strip().splitlines()[-1:]}')
        versions = [line.split('|')[1].strip() for line in run(['apt-cache', 'madison', package], env=env).stdout.splitlines()]
        for version in versions:
            run(['apt-get', 'source', '--download-only', '-y', f'{package}={version}'], env=env, cwd=at)
            if glob.glob(at + '/*.orig.tar.*'):
                break
        archives = sorted(glob.glob(at + '/*.orig.tar.*'))
        if not archives:
            raise Skip(f'the mirror has no source of {package}: tried {", ".join(versions) or "no version"}')
        if run(['tar', 'xf', archives[0]], cwd=at).returncode:
            raise Skip(f'{archives[0]} does not unpack')
        with open(at + '/unpacked', 'w', encoding='utf-8'):
            pass
    return next(d for d in sorted(glob.glob(at + '/*')) if os.path.isdir(d))


def need(program, package):
    if run(['sh', '-c', f'command -v {program}']).returncode:
        raise Skip(f'{program} is missing (package {package})')


def decode(events, lines, where):
    """What aux-events prints, as lists of words."""
    with open(where + '/input', 'w', encoding='utf-8') as f:
        f.writelines(line + '\n' for line in lines)
    done = run([events, where + '/input'])
    if done.returncode:
        raise AssertionError(f'aux-events ended with {done.returncode}: {done.stderr.strip()[-300:]}')
    return [line.split() for line in done.stdout.splitlines()]


# --- libipt ----------------------------------------------------------------------------------------------------------

# Events that ptxed prints and that are no events of ours: they are flags of branches, or not told.
SILENT = re.compile(r'paging|exec mode|vmcs|begin transaction|committed|end of trace|stopped|block|cbr|mnt|interrupts |'
                    r'vmentry|vmexit|iret|uiret|smi|rsm|sipi|init|shutdown|uintr|tick')
# Cases with another result on purpose; a pattern of their names, and why.
DIFFERENT = {
    'skl014-*': 'the flow does not know filters of addresses',
    'bad_cpu': 'no errata are applied for an unknown CPU, without an error',
    'pip-pip_mov_cr3-fail': 'behind the last packet nothing is guessed',
    'ptet*': 'packets of event trace are passed over, and libipt before 2.1 knows no UIRET',
    'skd022': 'libipt before 2.1 knows no errata of the newest of these CPUs',
    'tip_pge-ptw-*': 'PTWRITE stands at its packet, or before its instruction, as in perf',
    'ovf-pwre-pwrx-tip_pge': 'the overflow is told where trace goes on',
    'tip_pgd-tsx': 'an abort while tracing is off is no event',
    'linear-*': None,  # ptxed prints a count of instructions
    'ptxed-*stat*': None,
}


def make_pttc(source):
    """Compiles pttc with the library of its own version, which has all packets."""
    program = DIR + '/pttc'
    if os.path.exists(program):
        return program
    with open(glob.glob(source + '/libipt/include/intel-pt.h*')[0], encoding='utf-8') as f:
        header = re.sub(r'\$\{PT_VERSION_\w+\}|@PT_VERSION_\w+@', '2', f.read())
    os.makedirs(DIR + '/include', exist_ok=True)
    with open(DIR + '/include/intel-pt.h', 'w', encoding='utf-8') as f:
        f.write(header)
    files = [path for folder in ('pttc/src', 'pttc/src/posix', 'libipt/src', 'libipt/src/posix')
             for path in sorted(glob.glob(f'{source}/{folder}/*.c')) if not path.endswith('/init.c')]
    folders = [DIR + '/include'] + [f'{source}/{name}' for name in (
        'pttc/include', 'libipt/internal/include', 'libipt/internal/include/posix', 'include', 'include/posix')]
    done = run(['cc', '-O1', '-w', '-D_GNU_SOURCE', '-DPT_VERSION_MAJOR=2', '-DPT_VERSION_MINOR=2', '-DPT_VERSION_PATCH=2',
                '-DPT_VERSION_BUILD=0', '-DPT_VERSION_EXT=""', *('-I' + folder for folder in folders), *files, '-lpthread',
                '-o', program])
    if done.returncode:
        raise Skip(f'pttc does not compile: {done.stderr.strip()[-200:]}')
    return program


def expected_of(path):
    """Instructions and events of ptxed's expected output."""
    words = []
    with open(path, encoding='utf-8') as f:
        for line in f.read().splitlines():
            insn = re.fullmatch(r'(?:\? )?([0-9a-f]{16})', line.strip())
            event = re.fullmatch(r'\[(?:[0-9a-f]{16}  )?(.*)\]', line.strip())
            if insn:
                words.append(f'{int(insn[1], 16):x}')
            elif event and 'error' in event[1]:
                words.append('error')
            elif event and not SILENT.match(event[1]):
                name = event[1].split(',')[0]
                name = 'enabled' if name == 'resumed' else name
                words.append(next((k for k in ('pwre', 'pwrx', 'mwait', 'exstop', 'interrupt') if name.startswith(k)), name))
    return words


def branch_word(flags):
    if flags & 0x100:
        return ['enabled']
    if flags & 0x80:
        return ['aborted'] + (['disabled'] if flags & 0x200 else ['interrupt'])
    return ['disabled'] if flags & 0x200 else ['interrupt'] if flags & 0x20 else []


def ours_of(events):
    words = []
    for kind, *rest in events:
        if kind == 'insn':
            words.append(rest[0])
        elif kind == 'branch':
            words += branch_word(int(rest[1], 16))
        elif kind == 'ptwrite':
            words.append('ptwrite: ' + rest[0])
        elif kind == 'power' and rest[0] != 'cbr:':
            words.append(rest[0].rstrip(':'))
        elif kind in ('lost', 'error'):
            words.append('overflow' if kind == 'lost' else 'error')
    return words


def without_starts(words):
    """Behind an overflow, ours has a branch to where the trace goes on, as perf has it."""
    return [w for n, w in enumerate(words) if w != 'enabled' or not n or words[n - 1] != 'overflow']


def run_ptt(path, cpu, pttc, events):
    """Returns (expected, ours), or None if it is no test of instructions."""
    name = os.path.basename(path)[:-4]
    with open(path, encoding='utf-8') as f:
        org = re.search(r'^org\s+(\S+)', f.read(), re.M | re.I)
    with tempfile.TemporaryDirectory(prefix='ringtail-ptt-') as where:
        done = run([pttc, *(['--cpu', cpu] if cpu else []), path], cwd=where)
        if done.returncode:
            raise AssertionError(f'pttc: {done.stderr.strip()[-200:]}')
        expected = glob.glob(where + '/*-ptxed*.exp')
        if not expected:
            return None
        lines = ['type 1', 'priv 8 1 1 0 1', f'trace {where}/{name}.pt']
        if cpu and cpu != 'none':
            family, model, stepping = (cpu.split('/') + ['0'])[:3]
            lines.append(f'cpuid GenuineIntel,{family},{model},{stepping}')
        if os.path.exists(f'{where}/{name}.bin'):
            lines.append(f'code {int(org[1], 0):x} 0 ffffff {where}/{name}.bin')
        return expected_of(expected[0]), ours_of(decode(events, lines, where))


def check_ptt(path, pttc, events):
    name = os.path.basename(path)[:-4]
    reason = [why for pattern, why in DIFFERENT.items() if fnmatch.fnmatch(name, pattern)]
    with open(path, encoding='utf-8') as f:
        cpus = ' '.join(re.findall(r'^\s*;\s*cpu\s+(\S.*)', f.read(), re.M)).split() or [None]
    equal = 0
    for cpu in cpus:
        found = run_ptt(path, cpu, pttc, events)
        if not found:
            return None
        expected, ours = found
        if without_starts(ours) == without_starts(expected):
            equal += 1
        elif not reason:
            raise AssertionError(f'CPU {cpu}: {" ".join(ours)[:400]} instead of {" ".join(expected)[:400]}')
    if equal == len(cpus):
        return f'({equal} CPUs)' if equal > 1 else ''
    return f'({equal} of {len(cpus)} as expected; {reason[0] or "decoded, but another output is expected"})'


# --- OpenCSD ---------------------------------------------------------------------------------------------------------

ELEMENT = re.compile(r'Idx:\d+; ID:([0-9a-f]+); OCSD_GEN_TRC_ELEM_(\w+)\((.*)')
NO_PATH = re.compile(r'first 0x(\w+):\[next 0x\w+\] num_i\((\d+)\)')  # of a Q element: the code in between is not known
RANGE = re.compile(r'exec range=0x(\w+):\[0x(\w+)\] num_i\((\d+)\) last_sz\((\d)\) \(ISA=\w+\) (\w) (\S*)')
REGISTERS = {  # in the order of AUXTRACE_INFO, with what OpenCSD assumes where a snapshot has none
    'ETM4': [('TRCCONFIGR', 0xc1), ('TRCTRACEIDR', 0), ('TRCIDR0', 0x28000ea1), ('TRCIDR1', 0x4100f403), ('TRCIDR2', 0x488),
             ('TRCIDR8', 0), ('TRCAUTHSTATUS', 0)],
    'ETM3': [('ETMCR', 0x10001000), ('ETMTRACEIDR', 0), ('ETMCCER', 0), ('ETMIDR', 0x4114f250)],
}
REGISTERS['ETE'] = REGISTERS['ETM4'] + [('TRCDEVARCH', 0x47705a13)]
REGISTERS['PTM'] = REGISTERS['PFT'] = REGISTERS['ETM3']
MAGIC = {'ETM4': 0x4040404040404040, 'ETE': 0x5050505050505050}
PROTOCOLS = [*REGISTERS]
CALL, EXCEPTION, ASYNC, EDGE = 0x2, 0x10 | 0x20 | 0x40, 0x20 | 0x80, 0x300  # of the flags of branches


def read_ini(path):
    """Sections in order, as {name: [(key, value)]}; keys may repeat."""
    sections, current = {}, []
    with open(path, encoding='utf-8', errors='replace') as f:
        for line in f:
            line = line.split(';')[0].strip()
            if line.startswith('['):
                current = sections.setdefault(line.strip('[]').lower(), [])
            elif '=' in line:
                current.append(tuple(part.strip() for part in line.split('=', 1)))
    return sections


class Snapshot:
    """The first trace buffer of a snapshot, with the units whose trace it has, and the code."""

    def __init__(self, folder):
        self.folder = folder
        top = read_ini(folder + '/snapshot.ini')
        devices = [read_ini(f'{folder}/{name}') for _, name in top['device_list']]
        self.devices = {dict(d['device'])['name']: d for d in devices}
        trace = read_ini(f'{folder}/{dict(top["trace"])["metadata"]}')
        first = dict(trace['trace_buffers'])['buffers'].split(',')[0].strip()
        self.buffer = dict(trace[first])
        mine = [s for s, b in trace['source_buffers'] if self.buffer['name'] in (p.strip() for p in b.split(','))]
        self.units = [(core, source) for core, source in trace.get('core_trace_sources', [])
                      if source in mine and source in self.devices and self.protocol(source)]

    def protocol(self, source):
        kind = dict(self.devices[source]['device'])['type'].upper()
        return next((p for p in PROTOCOLS if kind.startswith(p)), None)

    def register(self, source, name, default):
        values = [value for key, value in self.devices[source]['regs'] if re.split(r'[( ]', key)[0].upper() == name]
        return int(values[0], 0) if values else default

    def ids(self):
        """The trace ID of each unit, in the order of its number. A buffer of one source has no IDs."""
        if self.buffer['format'] == 'source_data':
            return ['*']
        name = {'ETM4': 'TRCTRACEIDR', 'ETE': 'TRCTRACEIDR'}
        return [f'{self.register(s, name.get(self.protocol(s), "ETMTRACEIDR"), 0):x}' for _, s in self.units]

    def code(self):
        lines = []
        for core, _ in self.units:
            for section, pairs in self.devices.get(core, {}).items():
                dump = dict(pairs)
                path = f'{self.folder}/{dump.get("file")}'
                if not section.startswith('dump') or not os.path.exists(path):
                    continue
                length = int(dump.get('length', '0'), 0) or os.path.getsize(path)
                lines.append(f'code {int(dump["address"], 0):x} {int(dump.get("offset", "0"), 0):x} {length:x} {path}')
        return [*dict.fromkeys(lines)]

    def input(self):
        lines = ['type 3', 'blocks', f'priv 1 {len(self.units):x} 0', f'trace {self.folder}/{self.buffer["file"]}']
        for number, (_, source) in enumerate(self.units):
            protocol = self.protocol(source)
            words = [self.register(source, name, default) for name, default in REGISTERS[protocol]]
            lines.append(f'priv {MAGIC.get(protocol, 0x3030303030303030):x} {number:x} {len(words):x} ' +
                         ' '.join(f'{word:x}' for word in words))
        if self.buffer['format'] == 'source_data':
            lines += ['raw', 'cpu 0']
        return lines + self.code()


def lister_of(snapshot, where):
    """
    By trace ID: the ranges of instructions; the branches whose target is known, and at last one whose target is
    not; the places where exceptions led.
    """
    log = where + '/log'
    run(['trc_pkt_lister', '-ss_dir', snapshot.folder, '-src_name', snapshot.buffer['name'], '-decode', '-no_time_print',
         '-logfilename', log])
    ranges, branches, entries = (collections.defaultdict(list) for _ in range(3))
    waiting, excepted = {}, set()
    with open(log, encoding='utf-8', errors='replace') as f:
        for line in f:
            element = ELEMENT.match(line)
            if not element:
                continue
            unit, kind, text = element.groups()
            found = RANGE.match(text) if kind == 'INSTR_RANGE' else None
            no_path = NO_PATH.match(text) if kind == 'I_RANGE_NOPATH' else None
            to = int((found or no_path)[1], 16) if found or no_path else None
            if kind == 'ADDR_NACC':
                to = int(re.search(r'0x(\w+)', text)[1], 16)
            elif kind == 'EXCEPTION' and 'pref ret addr:' in text:
                to = int(re.search(r'pref ret addr:0x(\w+)', text)[1], 16)
            if kind in ('TRACE_ON', 'NO_SYNC'):
                waiting.pop(unit, None)
                excepted.discard(unit)
            if to is not None and unit in waiting:
                branches[unit].append((waiting.pop(unit), to))
            if to is not None and unit in excepted and kind != 'EXCEPTION':
                entries[unit].append((to, 0))
                excepted.discard(unit)
            if kind == 'EXCEPTION':
                excepted.add(unit)
            if no_path:
                ranges[unit].append((to, int(no_path[2])))
            if not found:
                continue
            ranges[unit].append((to, int(found[3])))
            if found[5] == 'E' and 'BR' in found[6]:
                waiting[unit] = int(found[2], 16) - int(found[4])
    for unit, at in waiting.items():
        branches[unit].append((at, None))
    return ranges, branches, entries


def check_snapshot(folder, events):
    snapshot = Snapshot(folder)
    if not snapshot.units or snapshot.buffer['format'] not in ('coresight', 'source_data'):
        return None
    ids = snapshot.ids()
    with tempfile.TemporaryDirectory(prefix='ringtail-snapshot-') as where:
        said = decode(events, snapshot.input(), where)
        ranges, branches, entries = lister_of(snapshot, where)
    if ids == ['*']:
        ids = [*ranges][:1] or ['0']
    ours, taken, entered = (collections.defaultdict(list) for _ in range(3))
    for kind, cpu, *rest in said:
        if kind == 'block':
            ours[ids[int(cpu)]].append((int(rest[0], 16), int(rest[1])))
        if kind != 'branch':
            continue
        flags, at, to = (int(word, 16) for word in rest)
        if flags & EXCEPTION and flags & CALL and not flags & EDGE and to:
            entered[ids[int(cpu)]].append((to, 0))
        elif at and not flags & (EDGE | ASYNC) and not (flags & EXCEPTION and flags & CALL):
            taken[ids[int(cpu)]].append((at, to))
    for unit in ids:
        compare(f'ID {unit}: range', ours[unit], ranges[unit])
        compare(f'ID {unit}: branch', taken[unit], known(branches[unit], taken[unit]))
        compare(f'ID {unit}: exception', entered[unit], entries[unit])
    insns = sum(nr for unit in ids for _, nr in ours[unit])
    return f'({len(ids)} units, {insns} instructions, {sum(len(taken[unit]) for unit in ids)} branches)'


def known(branches, ours):
    """The target of a last branch may be known from its code alone."""
    if branches and branches[-1][1] is None:
        return branches[:-1] + ours[-1:] if len(ours) == len(branches) else branches[:-1]
    return branches


def compare(what, ours, theirs):
    for n, (a, b) in enumerate(zip(ours, theirs)):
        if a != b:
            raise AssertionError(f'{what} {n} is {a[0]:x} {a[1]:x} instead of {b[0]:x} {b[1]:x}')
    if len(ours) != len(theirs):
        raise AssertionError(f'{what}: {len(ours)} instead of {len(theirs)}')


# --- all -------------------------------------------------------------------------------------------------------------

def say(name, check, *args):
    """Prints the line of a test. Returns whether it failed."""
    try:
        text = check(*args)
    except Skip as skip:
        print(f'skip {name} {skip}', flush=True)
        return False
    except AssertionError as wrong:
        print(f'FAIL {name} {wrong}', flush=True)
        return True
    if text is not None:
        print(f'ok {name} {text}'.rstrip(), flush=True)
    return False


def main():
    events = os.path.abspath(sys.argv[1]) + '/tests/vectors/aux-events'
    pattern = sys.argv[2] if len(sys.argv) > 2 else ''
    failed = 0
    try:
        need('yasm', 'yasm')
        source = source_of('intel-processor-trace')
        pttc = make_pttc(source)
        for path in sorted(glob.glob(source + '/test/src/*.ptt')):
            name = 'libipt/' + os.path.basename(path)[:-4]
            if pattern in name:
                failed += say(name, check_ptt, path, pttc, events)
    except Skip as skip:
        print(f'skip libipt {skip}')
    try:
        need('trc_pkt_lister', 'libopencsd-bin')
        source = source_of('libopencsd')
        for folder in sorted(glob.glob(source + '/decoder/tests/snapshots*/*/')):
            name = 'opencsd/' + os.path.basename(folder.rstrip('/'))
            if pattern in name:
                failed += say(name, check_snapshot, folder.rstrip('/'), events)
    except Skip as skip:
        print(f'skip opencsd {skip}')
    return 1 if failed else 0


if __name__ == '__main__':
    sys.exit(main())
