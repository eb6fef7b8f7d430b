#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Whether a report is the same with one worker and with one on each CPU.

usage: workers.py RINGTAIL CORPUS

A recording long enough for several chunks is made of the data of a small one, many times over.
Skipped where there is one CPU only.
"""
import os
import struct
import subprocess
import sys
import tempfile

SOURCE = "local/multi-data.data"
LENGTH = 70 << 20  # over four chunks of 16 MiB
HEADER = 104       # bytes: magic, size, size of an attribute, three sections, bits of features
OPTIONS = [["-g", "none"], ["-g", "caller", "--children"], ["-s", "comm,pid,event"]]


def lengthen(path, out):
    """The events and the data of @path, its data repeated, without features (they lie behind)."""
    with open(path, "rb") as f:
        old = f.read()
    head = list(struct.unpack_from("<13Q", old))
    start, size = head[5], head[6]
    data = old[start:start + size]
    times = LENGTH // size + 1
    head[6] = size * times
    head[9:13] = [0] * 4
    out.write(struct.pack("<13Q", *head) + old[HEADER:start])
    for _ in range(times):
        out.write(data)
    out.flush()


def report(ringtail, path, options, cpus):
    command = [ringtail, "report", "-i", path, "-f", "--symfs", "/nonexistent", "--kallsyms",
               "/dev/null"] + options
    p = subprocess.run(command, capture_output=True, text=True, check=False,
                       preexec_fn=lambda: os.sched_setaffinity(0, cpus))
    return p.stdout, p.returncode


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    cpus = os.sched_getaffinity(0)
    if len(cpus) < 2:
        print("skip workers: one CPU only")
        sys.exit(0)
    failed = 0
    with tempfile.NamedTemporaryFile(suffix=".data") as f:
        lengthen(os.path.join(sys.argv[2], SOURCE), f)
        for options in OPTIONS:
            one = report(sys.argv[1], f.name, options, {min(cpus)})
            many = report(sys.argv[1], f.name, options, cpus)
            good = one == many and one[1] == 0 and "%" in one[0]
            failed += not good
            print("ok" if good else "FAIL", *options)
    sys.exit(1 if failed else 0)


main()
