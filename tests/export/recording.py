# SPDX-License-Identifier: Apache-2.0
"""Makes recordings and programs whose every sample is known.

Programs are ELF files for x86-64, so the result is the same on every machine.
"""
import struct

CODE, ADDRESS = 0x1000, 0x401000  # where the code begins: in the file, and as linked
LOADED = 0x7f0000000000  # where a recording has the file, at its offset 0
FUNCTION = 0x40  # bytes of each function
SAMPLE_TYPE = 0x10000 | 1 | 2 | 4 | 0x20 | 0x80 | 0x100 | 0x200000  # IDENTIFIER IP TID TIME CHAIN CPU PERIOD CGROUP
KERNEL_MARK, USER_MARK = 0xffffffffffffff80, 0xfffffffffffffe00
MMAP, LOST, COMM, THROTTLE, SAMPLE, MMAP2, SWITCH_CPU_WIDE, CGROUP = 1, 2, 3, 5, 9, 10, 15, 19
BUILD_ID = bytes(range(1, 21))


def elf(names):
    """An ELF file whose function N has the bytes @names[N] as its name."""
    code = bytes(FUNCTION * len(names))
    strings, table = b'\0', bytes(24)
    for number, name in enumerate(names):
        table += struct.pack('<IBBHQQ', len(strings), 0x12, 0, 1, ADDRESS + number * FUNCTION, FUNCTION)
        strings += name + b'\0'
    note = struct.pack('<III', 4, len(BUILD_ID), 3) + b'GNU\0' + BUILD_ID
    labels = b'\0.text\0.symtab\0.strtab\0.shstrtab\0.note.gnu.build-id\0'
    parts, at = [], CODE + len(code)
    for part in table, strings, labels, note:
        parts.append((at, len(part)))
        at += len(part)

    def section(name, kind, flags, address, place, link=0, info=0, entry=0):
        return struct.pack('<IIQQQQIIQQ', labels.index(name), kind, flags, address, *place, link, info, 1, entry)
    sections = bytes(64) + section(b'.text', 1, 6, ADDRESS, (CODE, len(code)))
    sections += section(b'.symtab', 2, 0, 0, parts[0], 3, 1, 24) + section(b'.strtab', 3, 0, 0, parts[1])
    sections += section(b'.shstrtab', 3, 0, 0, parts[2]) + section(b'.note.gnu.build-id', 7, 0, 0, parts[3])
    header = b'\x7fELF\2\1\1' + bytes(9) + struct.pack('<HHIQQQIHHHHHH', 2, 62, 1, ADDRESS, 64, at, 0, 64, 56, 1, 64,
                                                      6, 4)
    header += struct.pack('<IIQQQQQQ', 1, 5, CODE, ADDRESS, ADDRESS, len(code), len(code), 4096)
    return header.ljust(CODE, b'\0') + code + table + strings + labels + note + sections


def record(kind, misc, body):
    return struct.pack('<IHH', kind, misc, 8 + len(body)) + body


def padded(name):
    return name + b'\0' * (8 - len(name) % 8)


class Recording:
    """Writes a perf.data file; times count on from record to record."""

    def __init__(self, path, events=1):
        self.file, self.events, self.time = open(path, 'wb'), events, 1000000000
        self.file.write(bytes(104 + 8 * events) + self._attrs())
        self.start = self.file.tell()

    def _attrs(self):
        attrs = b''
        for i in range(self.events):
            attr = bytearray(136)  # cpu-clock, task-clock, page-faults, ...
            struct.pack_into('<IIQQQQQ', attr, 0, 1, len(attr), i, 1, SAMPLE_TYPE, 0, 1 << 18 | 1 << 20)
            attrs += bytes(attr) + struct.pack('<QQ', 104 + 8 * i, 8)
        return attrs

    def _trailer(self, pid, tid, cpu=0):
        self.time += 1000
        return struct.pack('<IIQIIQ', pid, tid, self.time, cpu, 0, 1)

    def comm(self, pid, tid, name):
        self.file.write(record(COMM, 0, struct.pack('<II', pid, tid) + padded(name) + self._trailer(pid, tid)))

    def map(self, pid, path, build_id=BUILD_ID, start=LOADED):
        """Maps the file executable, from its beginning."""
        body = struct.pack('<IIQQQ', pid, pid, start, 1 << 30, 0)
        body += struct.pack('<BBH20sII', len(build_id), 0, 0, build_id, 5, 2)
        self.file.write(record(MMAP2, 2 | 1 << 14, body + padded(path) + self._trailer(pid, pid)))

    def cgroup(self, number, path):
        self.file.write(record(CGROUP, 0, struct.pack('<Q', number) + padded(path) + self._trailer(0, 0)))

    def switch(self, cpu, pid, tid, other_pid, other_tid, out):
        """The thread leaves the CPU for the other one, or arrives after it. Returns the time."""
        body = struct.pack('<II', other_pid, other_tid) + self._trailer(pid, tid, cpu)
        self.file.write(record(SWITCH_CPU_WIDE, out << 13, body))
        return self.time

    def lost(self, count):
        self.file.write(record(LOST, 0, struct.pack('<QQ', 1, count) + self._trailer(0, 0)))
        return self.time

    def throttle(self, pid, tid):
        body = struct.pack('<QQQ', self.time, 1, 1) + self._trailer(pid, tid)
        self.file.write(record(THROTTLE, 0, body))
        return self.time

    def sample(self, pid, tid, functions, event=0, period=1, cpu=0, cgroup=0, start=LOADED):
        """
        A sample, a millisecond after the record before, in @functions, the innermost first: numbers of functions of the
        mapped program.
        """
        self.sample_at(pid, tid, [start + CODE + f * FUNCTION + 8 for f in functions], event, period, cpu, cgroup)

    def sample_at(self, pid, tid, addresses, event=0, period=1, cpu=0, cgroup=0):
        """As sample(), at addresses."""
        self.time += 1000000
        chain = [USER_MARK, *addresses]
        body = struct.pack('<QQIIQIIQ', event + 1, chain[1], pid, tid, self.time, cpu, 0, period)
        body += struct.pack(f'<Q{len(chain)}Q', len(chain), *chain) + struct.pack('<Q', cgroup)
        self.file.write(record(SAMPLE, 2, body))

    def close(self):
        size = self.file.tell() - self.start
        self.file.seek(0)
        self.file.write(struct.pack('<8sQQQQQQQQ32s', b'PERFILE2', 104, 152, 104 + 8 * self.events, 152 * self.events,
                                    self.start, size, 0, 0, bytes(32))[:104])
        for i in range(self.events):
            self.file.write(struct.pack('<Q', i + 1))
        self.file.close()
