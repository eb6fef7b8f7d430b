# SPDX-License-Identifier: Apache-2.0
"""Writes a perf.data file around a hardware trace, of Intel PT here: what perf record would have written.

Times of the trace are those of the recording. The formats are of tools/perf/Documentation/perf.data-file-format.txt
and tools/perf/util/intel-pt.h.
"""
import os
import struct

AUX_OVERWRITE = 2
CONFIG = 0x300e601  # branches, tsc, mtc, return compression
PMU = 8
ID = 1, 2  # of intel_pt and of the tracking event
RECORD_MMAP2, RECORD_COMM, RECORD_AUX, RECORD_ITRACE_START, RECORD_SWITCH_CPU_WIDE = 10, 3, 11, 12, 15
RECORD_EVENT_TYPE, RECORD_FINISHED_ROUND, RECORD_AUXTRACE_INFO, RECORD_AUXTRACE = 65, 68, 70, 71
USER, MISC_COMM_EXEC, MISC_BUILD_ID = 2, 1 << 13, 1 << 14
SAMPLE_TYPE = 1 << 0 | 1 << 1 | 1 << 2 | 1 << 7 | 1 << 16  # IP, TID, TIME, CPU, IDENTIFIER
FEATURE_HOSTNAME, FEATURE_OSRELEASE, FEATURE_ARCH, FEATURE_CPUID, FEATURE_AUXTRACE = 3, 4, 6, 9, 18


def attr(kind, config, flags):
    """struct perf_event_attr, 112 bytes."""
    return struct.pack('<IIQQQQQ', kind, 112, config, 1, SAMPLE_TYPE, 0, flags) + bytes(112 - 48)


def record(kind, misc, body):
    body += bytes(-len(body) % 8)
    return struct.pack('<IHH', kind, misc, 8 + len(body)) + body


def text(string):
    raw = string.encode() + b'\0'
    return raw + bytes(-len(raw) % 8)


class Recording:
    """Of one process, whose trace lies in one ring or in one for each CPU."""
    arch, kind, config = 'x86_64', 1, CONFIG  # kind: of AUXTRACE_INFO
    build_id = b''
    cpuid = ''
    words = [PMU, 0, 1, 0, 1, 0x400, 0x800, 3, 0, 1, 0x200, 0x3c000, 0, 0, 0x2, 0, 0, 0]

    def __init__(self, pid, program, maps, first):
        self.data = b''
        self.pid = pid
        self.index = []
        self.put(RECORD_AUXTRACE_INFO, 0,
                 struct.pack('<II', self.kind, 0) + struct.pack(f'<{len(self.words)}Q', *self.words))
        self.program(program, maps, first - 2)

    def program(self, program, maps, time, misc=0):
        pid = self.pid
        self.put(RECORD_COMM, misc, struct.pack('<II', pid, pid) + text('traced') + self.trailer(pid, time))
        place = struct.pack('<IIQQ', 8, 1, 77, 0)
        if self.build_id:
            place = struct.pack('<B3x20s', len(self.build_id), self.build_id)
        for start, size, offset in maps:
            self.put(RECORD_MMAP2, USER | (MISC_BUILD_ID if self.build_id else 0),
                     struct.pack('<IIQQQ', pid, pid, start, size, offset) + place + struct.pack('<II', 5, 2) +
                     text(program) + self.trailer(pid, time))

    def put(self, kind, misc, body):
        self.data += record(kind, misc, body)

    def trailer(self, tid, time, event=ID[1], cpu=0):
        return struct.pack('<IIQIIQ', self.pid, tid, time, cpu, 0, event)

    def exec(self, program, maps, time):
        """The process executes a program."""
        self.program(program, maps, time, MISC_COMM_EXEC)

    def start(self, tid, time):
        self.put(RECORD_ITRACE_START, 0, struct.pack('<II', self.pid, tid) + self.trailer(tid, time, ID[0]))

    def switch(self, tid, time, before):
        """@before was running, @tid follows."""
        self.put(RECORD_SWITCH_CPU_WIDE, 1 << 13 | USER,
                 struct.pack('<II', self.pid, tid) + self.trailer(before, time))

    def trace(self, trace, time, cpu=0, flags=0):
        self.put(RECORD_AUX, 0, struct.pack('<QQQ', 0, len(trace), flags) + self.trailer(self.pid, time, ID[0], cpu))
        self.put(RECORD_FINISHED_ROUND, 0, b'')
        padded = trace + bytes(-len(trace) % 8)
        self.index.append(len(self.data))
        self.put(RECORD_AUXTRACE, 0, struct.pack('<QQQIIII', len(padded), 0, time, cpu, 0xffffffff, cpu, 0))
        self.data += padded

    def log(self, kind, number, *words):
        """A record of the log of snapshots: see src/perfdata/snapshot_log.h."""
        body = struct.pack(f'<{4 + len(words)}Q', 0x746f687370616e73, 2 + len(words), kind, number, *words)
        self.put(RECORD_EVENT_TYPE, 0, body + bytes(8))

    def snapshots(self, parts, time):
        """The parts of the trace, each taken by a snapshot."""
        offset = 0
        for number, part in enumerate(parts, 1):
            assert len(part) % 8 == 0 or number == len(parts)
            end = offset + len(part)
            self.log(0, number, 1, time, *[0] * 8)
            self.log(3, number, 0, 0, 0xffffffff, 1, 1, 3, 0, time, 0, 0, end, len(part), 0, len(part), 1 << 20, 0, 0, 0)
            padded = part + bytes(-len(part) % 8)
            self.index.append(len(self.data))
            self.put(RECORD_AUXTRACE, 0, struct.pack('<QQQIIII', len(padded), offset, time, 0, 0xffffffff, 0, 0))
            self.data += padded
            offset = end

    def windows(self, trace, windows, time):
        """Snapshots of perf: of each ring all that it holds, wherever its position is."""
        for begin, end in windows:
            part = trace[begin:end]
            self.put(RECORD_AUX, 0, struct.pack('<QQQ', 0, len(part), AUX_OVERWRITE) + self.trailer(self.pid, time, ID[0]))
            padded = part + bytes(-len(part) % 8)
            self.index.append(len(self.data))
            self.put(RECORD_AUXTRACE, 0, struct.pack('<QQQIIII', len(padded), 0, time, 0, 0xffffffff, 0, 0))
            self.data += padded

    def write(self, path):
        attrs_at = 104 + 16
        attrs = [attr(PMU, self.config, 1 << 0 | 1 << 5 | 1 << 6 | 1 << 18),
                 attr(1, 9, 1 << 0 | 1 << 5 | 1 << 6 | 1 << 8 | 1 << 9 | 1 << 13 | 1 << 18 | 1 << 23 | 1 << 26 |
                      bool(self.build_id) << 34)]
        data_at = attrs_at + 2 * 128
        end = data_at + len(self.data)
        index = struct.pack('<Q', len(self.index)) + b''.join(struct.pack('<QQ', data_at + at, 48) for at in self.index)
        # Files without a build-id are read only if they were recorded on this machine.
        strings = ((FEATURE_HOSTNAME, os.uname().nodename), (FEATURE_OSRELEASE, os.uname().release),
                   (FEATURE_ARCH, self.arch))
        features = [(which, struct.pack('<I', len(text(value))) + text(value)) for which, value in strings]
        if self.cpuid:
            features.append((FEATURE_CPUID, struct.pack('<I', len(text(self.cpuid))) + text(self.cpuid)))
        features.append((FEATURE_AUXTRACE, index))
        bits = sum(1 << which for which, _ in features)
        header = b'PERFILE2' + struct.pack('<8Q', 104, 128, attrs_at, 2 * 128, data_at, len(self.data), 0, 0)
        header += struct.pack('<4Q', bits, 0, 0, 0)
        at = end + 16 * len(features)
        sections = b''
        for _, content in features:
            sections += struct.pack('<QQ', at, len(content))
            at += len(content)
        with open(path, 'wb') as f:
            f.write(header + struct.pack('<QQ', *ID))
            for number, one in enumerate(attrs):
                f.write(one + struct.pack('<QQ', 104 + 8 * number, 8))
            f.write(self.data + sections + b''.join(content for _, content in features))
