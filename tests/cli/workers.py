#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks that a report, the lines of a script and their messages are the same with one worker and with one on each CPU.

usage: workers.py RINGTAIL CORPUS

The second report is also made with a time filter that accepts every sample, because the report then reads each
sample by itself. The inputs are all recordings of the corpus, and long ones with the data of small ones repeated, so
that they have many parts, plain or in perf's one stream of zstd; the long ones also with damaged bytes.
The test is skipped on a machine with one CPU.
"""
import os
import random
import struct
import subprocess
import sys
import tempfile

# Source, bytes: parts are a 64th, but 256 KiB at least.
LONG = [("local/multi-data.data", 40 << 20), ("local/zstd.data", 4 << 20), ("local/switch-ns-cg.data", 20 << 20)]
HEADER = 104  # bytes: magic, size, size of an attribute, three sections, bits of features
OPTIONS = [["-g", "none"], ["-g", "caller", "--children"], ["-s", "comm,pid,event"], ["--hierarchy", "-g", "address"],
           ["--group", "-F", "+overhead_us,sample", "-g", "flat"],
           ["--children", "-s", "comm,symoff,addr,dso_size", "-g", "address"],
           ["--group", "--percentage", "relative", "-s", "cgroup_id,sym", "-g", "none"]]
# The same for branch stacks.
BRANCHES = ("google+perf_data_converter/src/quipper/testdata/perf.data.callgraph_and_branch-3.4", 16 << 20)
HISTORIES = [["--branch-history", "--time", "10%-30%,40%-90%", "--percentage", "relative"], ["--branch-history", "--children", "-s", "addr"],
             ["-g", "caller,0,branch", "--hierarchy", "-s", "comm,sym,callchain_branch_predicted"]]
# The same for the cycles in them, the second with a damaged copy, too.
CYCLES = ("google+perf_data_converter/src/quipper/testdata/perf.data.branch-4.14", 8 << 20)
BLOCKS = [["-s", "dso,ipc_lbr"], ["--total-cycles", "--percent-limit", "0"]]
ALL_TIME = ["--time", "0,9999999999"]
DAMAGED = 4  # copies of each long one


def lengthen(path, length, out):
    """Returns the events of @path and its data several times, without features, which would follow the data."""
    with open(path, "rb") as f:
        old = f.read()
    head = list(struct.unpack_from("<13Q", old))
    start, size = head[5], head[6]
    data = old[start:start + size]
    times = length // size + 1
    head[6] = size * times
    head[9:13] = [0] * 4
    out.write(struct.pack("<13Q", *head) + old[HEADER:start])
    for _ in range(times):
        out.write(data)
    out.flush()


def damage(path, seed):
    """Overwrites some bytes in the second half of the file."""
    rng = random.Random(seed)
    size = os.path.getsize(path)
    with open(path, "r+b") as f:
        for _ in range(1 + seed % 4):
            f.seek(rng.randrange(size // 2, size - 16))
            f.write(rng.randbytes(rng.randrange(1, 16)))


def show(ringtail, command, path, options, cpus):
    command = [ringtail, command, "-i", path, "-f", "--symfs", "/nonexistent", "--kallsyms",
               "/dev/null"] + options
    return run(command, cpus)


def run(command, cpus):
    p = subprocess.run(command, capture_output=True, text=True, errors="replace", check=False,
                       preexec_fn=lambda: os.sched_setaffinity(0, cpus))
    return p.stdout, p.stderr, p.returncode


class Checker:
    def __init__(self, ringtail):
        self.ringtail, self.cpus, self.failed = ringtail, os.sched_getaffinity(0), 0

    def check(self, title, path, options, whole):
        one = show(self.ringtail, "report", path, options, {min(self.cpus)})
        many = show(self.ringtail, "report", path, options, self.cpus)
        single = many if "--time" in options else show(self.ringtail, "report", path, options + ALL_TIME, self.cpus)
        if "have no time" not in single[1]:
            good = one == many == single
        else:
            good = one == many
        good = good and one[2] in (0, 1) and (not whole or one[2] == 0 and "%" in one[0])
        self.failed += not good
        print("ok" if good else "FAIL", title, *options)

    def check_script(self, title, path):
        for options in [], ["-F", "comm,event,ip,sym"]:
            one, many = (show(self.ringtail, "script", path, options, cpus) for cpus in ({min(self.cpus)}, self.cpus))
            good = one == many and one[2] in (0, 1) and one[0]
            self.failed += not good
            print("ok" if good else "FAIL", title, "script", *options)


    def check_diff(self, one, two, options):
        command = [self.ringtail, "diff", one, two, "--symfs", "/nonexistent", "--kallsyms", "/dev/null"] + options
        first = run(command, {min(self.cpus)})
        good = first == run(command, self.cpus) and first[2] == 0 and first[0]
        self.failed += not good
        print("ok" if good else "FAIL", "diff", *options)


def corpus_files(corpus):
    with open(os.path.join(corpus, "EXPECTED.tsv"), encoding="utf-8") as f:
        return [line.split("\t")[0] for line in f if "\t" in line and not line.startswith(("#", "file\t"))]


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    checker, corpus = Checker(sys.argv[1]), sys.argv[2]
    if len(checker.cpus) < 2:
        print("skip workers: one CPU only")
        sys.exit(0)
    for name in corpus_files(corpus):
        checker.check(name, os.path.join(corpus, name), ["-g", "none", "-s", "comm,pid,cpu"], False)
    with tempfile.NamedTemporaryFile(suffix=".data") as f:
        lengthen(os.path.join(corpus, BRANCHES[0]), BRANCHES[1], f)
        for options in HISTORIES:
            checker.check("long " + BRANCHES[0], f.name, options, True)
    with tempfile.NamedTemporaryFile(suffix=".data") as f:
        lengthen(os.path.join(corpus, CYCLES[0]), CYCLES[1], f)
        for options in BLOCKS:
            checker.check("long " + CYCLES[0], f.name, options, True)
        damage(f.name, 0)
        checker.check("damaged 0 " + CYCLES[0], f.name, BLOCKS[1], False)
    for source, length in LONG:
        with tempfile.NamedTemporaryFile(suffix=".data") as f:
            lengthen(os.path.join(corpus, source), length, f)
            checker.check_script("long " + source, f.name)
            for options in OPTIONS:
                checker.check("long " + source, f.name, options, True)
            for seed in range(DAMAGED):
                damage(f.name, seed)
                checker.check(f"damaged {seed} " + source, f.name, OPTIONS[seed % 3], False)
    with tempfile.NamedTemporaryFile(suffix=".data") as one, tempfile.NamedTemporaryFile(suffix=".data") as two:
        lengthen(os.path.join(corpus, "local/switch-ns-cg.data"), 20 << 20, one)
        lengthen(os.path.join(corpus, "local/regs.data"), 10 << 20, two)
        for options in [], ["--json", "-s", "comm,pid,sym"], ["--folded"]:
            checker.check_diff(one.name, two.name, options)
    sys.exit(1 if checker.failed else 0)


main()
