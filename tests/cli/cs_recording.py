# SPDX-License-Identifier: Apache-2.0
"""Writes a perf.data file with a trace of CoreSight, of a run of a program that was single-stepped.

The run is the text that tests/vm/cs-step prints. Two trace units, of the CPUs 0 and 1, saw the user code of it.
"""
import dataclasses
import struct

from etm_packets import CALL, DATA_FAULT, IRQ, Etm, Frames
from pt_recording import ID, Recording, record, text

PID = 1000  # threads are numbered from here
PMU = 8
FIRST_STAMP, TURN = 1000, 50  # time stamps: of the first turn, and from one to the next
NS, NS_OF_0 = 40, 5  # of a tick
TRACE_IDS = 0x10, 0x12
RAW = 0x100  # PERF_AUX_FLAG_CORESIGHT_FORMAT_RAW
RECORD_COMM, RECORD_FORK, RECORD_TIME_CONV = 3, 7, 79
BUILD_ID = struct.pack('<III', 4, 20, 3) + b'GNU\0'  # the head of the note
INDIRECT = 'br', 'blr', 'return'
KINDS = {'f': (DATA_FAULT, 'int'), 'a': (IRQ, 'hw int'), 'i': (IRQ, 'hw int')}


@dataclasses.dataclass(frozen=True)
class Form:
    """What the units write, as TRCCONFIGR sets them, and who puts it into frames."""
    raw: bool = False  # a ring for each CPU, without frames
    compress: bool = False  # short packets of addresses and atoms, and others that tell nothing
    return_stack: bool = False
    cycles: bool = False
    vmid: bool = False  # the thread is in the VMID, not in the context ID
    times: bool = True
    broadcast: bool = False  # the targets of direct branches, too
    merge: bool = False  # an exception at the target of an indirect branch has one address for both
    sync: int = 400  # bytes between two A-syncs

    def config(self):
        return (1 | self.broadcast << 3 | self.cycles << 4 | (not self.vmid) << 6 | self.vmid << 7 | self.times << 11
                | self.return_stack << 12)


@dataclasses.dataclass(frozen=True)
class Branch:
    tid: int
    ip: int
    to: int
    flags: str
    cpu: int


class Code:
    """The instructions of an ELF file."""

    def __init__(self, path):
        with open(path, 'rb') as f:
            elf = f.read()
        at, = struct.unpack_from('<Q', elf, 32)
        size, number = struct.unpack_from('<HH', elf, 54)
        self.parts, self.maps = [], []
        note = elf.index(BUILD_ID) + len(BUILD_ID)
        self.build_id = elf[note:note + 20]
        for i in range(number):
            kind, flags, offset, address, _, in_file = struct.unpack_from('<IIQQQQ', elf, at + i * size)
            if kind == 1 and flags & 1:
                self.parts.append((address, elf[offset:offset + in_file]))
                self.maps.append((address & ~4095, (address + in_file + 4095 & ~4095) - (address & ~4095),
                                  offset & ~4095))

    def at(self, pc):
        return next(struct.unpack_from('<I', data, pc - start)[0] for start, data in self.parts
                    if start <= pc < start + len(data))

    def kind(self, pc):
        """What traces tell apart: '' of an instruction that they do not tell."""
        insn = self.at(pc)
        if insn & 0xff000010 == 0x54000000 or insn & 0x7c000000 == 0x34000000:  # b.cond; cbz, cbnz, tbz, tbnz
            return 'jcc'
        for mask, value, kind in ((0xfc000000, 0x14000000, 'jmp'), (0xfc000000, 0x94000000, 'call'),
                                  (0xfffffc1f, 0xd61f0000, 'br'), (0xfffffc1f, 0xd63f0000, 'blr'),
                                  (0xfffffc1f, 0xd65f0000, 'return'), (0xfffff0ff, 0xd50330df, 'isb'),
                                  (0xffe0001f, 0xd4000001, 'svc')):
            if insn & mask == value:
                return kind
        return ''


def turns(path):
    """(thread, cpu, pc, [(kind, from, to)]) of each turn of a run."""
    found = []
    with open(path, encoding='ascii') as f:
        for line in f:
            words = line.split()
            if words[0] == '@':
                found.append((int(words[1]), int(words[2]), int(words[3], 16), []))
                continue
            kind = words.pop(0) if words[0] in 'sfaxi' else ''
            found[-1][3].append((kind, int(words[0], 16), int(words[1], 16) if words[1:] else 0))
    return found


class Run:
    """The packets of a run, and its true branches."""

    def __init__(self, code, path, form):
        self.code, self.form = code, form
        self.etms = [Etm(form, seed) for seed in range(2)]
        self.branches, self.merged = [], False
        self.insns = 0
        self.stamp = FIRST_STAMP - TURN
        self.frames = Frames()
        for thread, cpu, pc, steps in turns(path):
            self.stamp += TURN
            self.tid, self.cpu, self.etm, self.pc = PID + thread, cpu, self.etms[cpu], pc
            self.turn(steps)

    def turn(self, steps):
        etm, before = self.etm, len(self.etm.out)
        if not etm.out:
            etm.sync(self.pc, self.tid, self.stamp)
        self.begin(self.pc)
        for at, (kind, ip, to) in enumerate(steps):
            if len(etm.out) - etm.group > self.form.sync:
                etm.sync(self.pc, self.tid, self.stamp)
            self.straight(ip)
            if not kind:
                after = steps[at + 1] if at + 1 < len(steps) else ('', 0, 0)
                self.merged = self.form.merge and self.code.kind(ip) in INDIRECT and after[0] in KINDS and after[1] == to
                self.branch(ip, to)
                continue
            self.interrupt(kind, ip)
            self.merged = False
            if to:
                self.stamp += 1
                self.begin(to)
        etm.flush()
        self.frames.put(TRACE_IDS[self.cpu], etm.out[before:])

    def tell(self, ip, to, flags):
        self.branches.append(Branch(self.tid, ip, to, flags, self.cpu))

    def begin(self, pc):
        self.etm.trace_on(pc, self.tid, self.stamp)
        self.tell(0, pc, 'tr strt')
        self.pc = pc

    def straight(self, end):
        """The instructions up to @end, each after the one before: also by a branch to the next."""
        for pc in range(self.pc, end, 4):
            kind = self.code.kind(pc)
            if kind in ('', 'jcc', 'isb'):
                self.insns += 1
                if kind:
                    self.etm.atom(kind == 'isb')
            else:
                self.branch(pc, pc + 4)
        self.pc = end

    def branch(self, ip, to):
        kind = self.code.kind(ip)
        assert kind not in ('', 'svc', 'isb'), f'{ip:#x} is {kind}'
        self.etm.atom(True)
        if kind in ('call', 'blr'):
            self.etm.call(ip + 4)
        if kind in INDIRECT and not self.merged:
            self.etm.indirect(to, kind == 'blr')
        elif self.form.broadcast:
            self.etm.address(to)
        self.tell(ip, to, {'br': 'jmp', 'blr': 'call'}.get(kind, kind))
        self.insns += 1
        self.pc = to

    def interrupt(self, kind, ip):
        """What the unit does not trace begins: the kernel, or another thread."""
        if kind in 'sx':
            assert self.code.kind(ip) == 'svc'
            self.insns += 1
            self.etm.exception(CALL, ip + 4)
            self.tell(ip, 0, 'tr end  syscall')
        else:
            self.etm.exception(KINDS[kind][0], ip, self.merged)
            self.tell(ip, 0, 'tr end  ' + KINDS[kind][1])


class CsRecording(Recording):
    arch, kind, config = 'aarch64', 3, 0

    def __init__(self, run, program):
        form, self.build_id = run.form, run.code.build_id
        self.words = [1, PMU << 32 | 2, 0]
        for cpu, trace_id in enumerate(TRACE_IDS):
            # TRCCONFIGR, TRCTRACEIDR, TRCIDR0, 1, 2, 8, TRCAUTHSTATUS, the source of time stamps
            self.words += [0x4040404040404040, cpu, 8, form.config(), trace_id, 0x28000ea1, 0x4100f432, 0x20001088, 0,
                           0x8c, 1]
        first = NS_OF_0 + NS * FIRST_STAMP
        super().__init__(PID, program, run.code.maps, first)
        self.data = record(RECORD_TIME_CONV, 0, struct.pack('<QQQQQBB6x', 0, NS, NS_OF_0, 0, 0, 1, 0)) + self.data
        for tid in sorted({branch.tid for branch in run.branches} - {PID}):
            self.put(RECORD_FORK, 0, struct.pack('<IIIIQ', PID, PID, tid, PID, first - 1) + self.trailer(PID, first - 1))
            self.put(RECORD_COMM, 0, struct.pack('<II', PID, tid) + text('traced') + self.trailer(tid, first - 1))
        self.start(PID, first)
        end = NS_OF_0 + NS * (run.stamp + TURN)
        if form.raw:
            for cpu, etm in enumerate(run.etms):
                self.trace(etm.out + b'\x70' * (-len(etm.out) % 8), end, cpu, RAW)
        else:
            self.trace(run.frames.finish(), end)


def make(program, steps, form, path, name=None):
    """Writes the recording, in which the program has its path or @name. Returns the run."""
    run = Run(Code(program), steps, form)
    CsRecording(run, name or program).write(path)
    return run
