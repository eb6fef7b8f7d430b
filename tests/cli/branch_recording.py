#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes a perf.data file of samples with call chains and branch stacks, as a list of them says.

usage: branch_recording.py FILE     writes tests/data/branches/chains.data

The formats are of tools/perf/Documentation/perf.data-file-format.txt and include/uapi/linux/perf_event.h.
"""
import os
import struct
import sys
import types

MMAP2, COMM, SAMPLE = 10, 3, 9
USER = 2
CONTEXT_USER = -512 & (1 << 64) - 1
IP, TID, TIME, CALLCHAIN, CPU, PERIOD, BRANCHES = 1, 2, 4, 1 << 5, 1 << 7, 1 << 8, 1 << 11
SAMPLE_TYPE = IP | TID | TIME | CALLCHAIN | CPU | PERIOD | BRANCHES
ANY, ANY_CALL, PREDICTED, MISPREDICTED, IN_TX, ABORT = 1 << 3, 1 << 4, 2, 1, 4, 8
PID = 77
BASE = 0x400000
HOSTNAME, RELEASE, ARCH, NRCPUS, BRANCH_STACK = 3, 4, 6, 7, 15  # features of the header


def text(string):
    raw = string.encode() + b'\0'
    return raw + bytes(-len(raw) % 8)


def record(kind, misc, body):
    body += bytes(-len(body) % 8)
    return struct.pack('<IHH', kind, misc, 8 + len(body)) + body


def trailer(time):
    return struct.pack('<IIQII', PID, PID, time, 0, 0)


def branch(source, target, flags=PREDICTED, cycles=0):
    return struct.pack('<QQQ', source, target, flags | cycles << 4)


def sample(time, chain, branches, period=100):
    """@chain begins with the sampled address; @branches with the newest."""
    body = struct.pack('<QIIQIIQ', chain[0], PID, PID, time, 0, 0, period)
    body += struct.pack('<QQ', len(chain) + 1, CONTEXT_USER) + struct.pack(f'<{len(chain)}Q', *chain)
    body += struct.pack('<Q', len(branches)) + b''.join(branches)
    return record(SAMPLE, USER, body)


def write(path, program, samples, size=0x100000, machine=os.uname(), kinds=ANY):
    """@samples: what sample() returned; @kinds of branches are in their stacks. Files without a build-id are read only where @machine is this one."""
    data = record(COMM, 0, struct.pack('<II', PID, PID) + text('branchy') + trailer(1))
    data += record(MMAP2, USER, struct.pack('<IIQQQ', PID, PID, BASE, size, 0) + struct.pack('<IIQQ', 8, 1, 77, 0) +
                   struct.pack('<II', 5, 2) + text(program) + trailer(2))
    data += b''.join(samples)
    # disabled, inherit, mmap, comm, task, sample_id_all, mmap2
    flags = 1 << 0 | 1 << 1 | 1 << 8 | 1 << 9 | 1 << 13 | 1 << 18 | 1 << 23
    attr = struct.pack('<IIQQQQQ', 0, 112, 0, 100, SAMPLE_TYPE, 0, flags)
    attr += struct.pack('<IIQQQ', 0, 0, 0, 0, kinds)  # wakeup, bp_type, bp_addr, bp_len, branch_sample_type
    attr += bytes(112 - len(attr)) + struct.pack('<QQ', 0, 0)
    data_at = 104 + len(attr)
    strings = ((HOSTNAME, machine.nodename), (RELEASE, machine.release), (ARCH, 'x86_64'))
    features = [(which, struct.pack('<I', len(text(value))) + text(value)) for which, value in strings]
    features += [(NRCPUS, struct.pack('<II', 1, 1)), (BRANCH_STACK, b'')]
    at = data_at + len(data) + 16 * len(features)
    table = bodies = b''
    bits = 0
    for which, body in features:
        table += struct.pack('<QQ', at + len(bodies), len(body))
        bodies += body
        bits |= 1 << which
    head = b'PERFILE2' + struct.pack('<QQQQQQQQ', 104, len(attr), 104, len(attr), data_at, len(data), 0, 0)
    head += struct.pack('<QQQQ', bits, 0, 0, 0)
    with open(path, 'wb') as f:
        f.write(head + attr + data + table + bodies)


# A program whose main calls outer, which calls middle, which calls leaf in a loop: addresses of branches and chains.
CALL_LEAF, RETURN, AGAIN = (0x401638, 0x401615), (0x401620, 0x40163d), (0x401645, 0x401636)
CALL_MIDDLE, CALL_OUTER = (0x401655, 0x401621), (0x401663, 0x401655)
IN_LEAF, IN_MIDDLE, IN_OUTER, IN_MAIN = 0x401617, 0x40163d, 0x40165a, 0x401668
CHAIN = [IN_LEAF, IN_MIDDLE, IN_OUTER, IN_MAIN]


def chains():
    """The samples of chains.data."""
    calls = [branch(*CALL_MIDDLE, cycles=11), branch(*CALL_OUTER)]
    round_ = [branch(*AGAIN, cycles=7), branch(*RETURN, cycles=3), branch(*CALL_LEAF, cycles=5)]
    aborted = [branch(*AGAIN, MISPREDICTED, 20), branch(*RETURN, PREDICTED | IN_TX | ABORT, 9)]
    newest = branch(*CALL_LEAF, cycles=5)
    return [
        sample(10, CHAIN, [newest] + 3 * round_ + calls),       # all callers are among the branches
        sample(11, CHAIN, [newest] + 2 * round_ + calls),
        sample(12, CHAIN, [branch(*CALL_LEAF, MISPREDICTED, 5)] + aborted + 5 * round_),  # the outer callers are not
        sample(13, CHAIN[1:], [branch(*RETURN, 0)]),            # the hardware does not say whether it was predicted
        sample(14, CHAIN, [], 50),                              # no branch at all
    ]


if __name__ == '__main__':
    write(sys.argv[1], '/nonexistent/program', chains(),
          machine=types.SimpleNamespace(nodename='machine', release='6.1.0'))
