#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Reads every file of the corpus and compares the output with perf's.

usage: corpus.py RINGTAIL CORPUS [FILE...]

Compares for each line of CORPUS/EXPECTED.tsv the numbers of records and samples ("report --stats"), and,
where CORPUS/expected has perf's output, each line of "script". White space between columns does not count.
The corpus was made without symbols, so the test switches off lookups.

Where perf's output is known to differ, DIFFERENCES has the reason and a function for the comparison.
"""

import gzip
import os
import re
import subprocess
import sys

LIMIT_S = 120
NO_SYMBOLS = ["--symfs", "/nonexistent", "--kallsyms", "/dev/null"]
FIELDS_BY_COLUMN = ("comm", "tid", "cpu", "time", "event", "ip", "sym")
FRAME = re.compile(r"^\s+[0-9a-f]+ ")


# --- ways to compare ---------------------------------------------------------------------------

def same(ours, theirs):
    return ours, theirs


def blocks(lines):
    """Yields the samples: each is one line, or a line and its frames up to an empty line."""
    out = []
    for line in lines:
        if not line.strip():
            continue
        if FRAME.match(line) and out and out[-1][0].rstrip().endswith(":"):
            out[-1].append(line)
        else:
            out.append([line])
    return out


def real_samples(ours, theirs):
    """Keeps only the recorded samples: perf decodes the AUX area into branches and errors."""
    kept = [x for x in theirs if "instruction trace error" not in x and
            not re.search(r"\b(branches|instructions|psb|cbr|transactions)(:[a-zA-Z]+)?:", x)]
    return ours, kept


def no_samples(ours, theirs):
    """Drops perf's lines: it prints the counts of a stat file here, which has no samples."""
    return ours, []


def no_user_frames(ours, theirs):
    """Forgets user frames: perf shows none of a stack whose innermost frame is in a file that is missing here. The
    sample has the address of that frame, and ringtail shows it."""
    return [x for x in ours if not (FRAME.match(x) and int(x.split()[0], 16) < 1 << 63)], theirs


def pid_comm(ours, theirs):
    """Gives both sides the same name of a task: perf from 6.12 on forgets it at the task's EXIT and prints :TID
    for the samples that follow."""
    out = []
    for a, b in zip(ours, theirs):
        word = b.split()[:1]
        if word and re.fullmatch(r":-?\d+", word[0]):
            a = re.sub(r"^\s*.*?(?=\s+-?\d+\s)", word[0], a, count=1)
        out.append(a)
    return out + ours[len(theirs):], theirs


def branch_stack_leaf(ours, theirs):
    """Forgets the innermost user frame of each sample: perf 6.1 shows the beginning of the function, where the
    newest branch led, in place of the sampled address."""
    def user(line):
        return bool(FRAME.match(line)) and int(line.split()[0], 16) < 1 << 63

    def rest(lines):
        pairs = zip([""] + lines, lines)
        return [x for before, x in pairs if not user(x) or user(before)]
    return rest(ours), rest(theirs)


# file name ending -> why its counts in EXPECTED.tsv are only a lower bound
MORE_RECORDS = {
    "perf_with_tracepoint_event.data":
        "the reader that counted stopped at simpleperf's TRACING_DATA, whose size includes the data",
}

# file name ending -> (reason, function)
DIFFERENCES = {
    "perf.data.intel_pt-4.14": ("perf synthesizes samples from the AUX area", real_samples),
    "local/dwarf.data": ("user frames of a stack whose files are missing", no_user_frames),
    "perf.data.dwarf": ("user frames of a stack whose files are missing", no_user_frames),
    "covlizer/examples/perf.data": ("the leaf of a branch stack", branch_stack_leaf),
    "local/stat.data": ("perf prints counters of a stat recording", no_samples),
}


def fail(name, reason):
    print(f"FAIL {name} {reason}")
    return False


def run(args):
    return subprocess.run(args, stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=LIMIT_S,
                          check=False, env={**os.environ, "HOME": "/nonexistent"})


def stats(ringtail, path):
    """Returns (exit status, records, samples, stderr)."""
    p = run([ringtail, "report", "-i", path, "-f", "--stats"])
    text = p.stdout.decode("utf-8", "replace").partition("Aggregated stats:\n")[2]
    counts = {}
    for line in text.splitlines():
        m = re.match(r"\s*(\w+) events:\s+(\d+)", line)
        if m:
            counts.setdefault(m.group(1), m.group(2))  # those of single events come later
    return (p.returncode, int(counts.get("TOTAL", -1)), int(counts.get("SAMPLE", 0)),
            p.stderr.decode("utf-8", "replace"))


def fields_from(lines):
    """Guesses the fields of an output whose options are unknown from its first line."""
    line = next((x for x in lines if x.strip()), "")
    fields = ["comm", "tid"]
    if re.search(r"\s\[\d{3}\]\s", line):
        fields.append("cpu")
    if re.search(r"\s\d+\.\d{9}:", line):
        fields.append("time")
    return ",".join(fields + ["event", "ip", "sym"])


def read_expected(corpus, name):
    path = os.path.join(corpus, "expected", name + ".script.gz")
    if not os.path.exists(path):
        return None
    with gzip.open(path) as f:
        return f.read().decode("utf-8", "backslashreplace").splitlines()


def script(ringtail, path, fields):
    p = run([ringtail, "script", "-i", path, "-f", "-F", fields, "--ns"] + NO_SYMBOLS)
    return p.returncode, p.stdout.decode("utf-8", "replace").splitlines()


def squeeze(line):
    return " ".join(line.split())


def frame_addresses(line):
    """Returns both addresses of one of ringtail's frames: (as sampled, in its file)."""
    words = line.split()
    m = re.search(r"\+0x([0-9a-f]+)\)$", line)
    return words[0], m.group(1) if m else words[0]


def same_line(a, b, offsets):
    if squeeze(a) == squeeze(b):
        return True
    # perf 6.1 prints user frames of call chains as offsets in their file, not as sampled
    if offsets is None or not FRAME.match(a) or not FRAME.match(b):
        return False
    if b.split()[1:] != a.split()[1:]:
        return False
    if b.split()[0] in frame_addresses(offsets):
        return True
    # perf looks addresses that are left from before an exec up in the maps that the exec replaced
    return offsets.endswith("([unknown])") and a.split()[0][-3:] == b.split()[0][-3:]


def compare_script(ringtail, corpus, name, fields):
    """Returns None if both are equal, else the difference."""
    theirs = read_expected(corpus, name)
    path = os.path.join(corpus, name)
    if theirs is None:
        return None
    if fields in ("None", "", "-"):
        fields = fields_from(theirs)
    _, ours = script(ringtail, path, fields)
    offsets = [None] * max(len(ours), 1)
    if any(FRAME.match(x) for x in theirs):
        offsets = script(ringtail, path, fields + ",dsoff")[1]
    how = DIFFERENCES.get(next((k for k in DIFFERENCES if name.endswith(k)), None))
    if how:
        offsets = how[1](offsets, theirs)[0] if offsets[0] else None
        ours, theirs = how[1](ours, theirs)
        offsets = offsets or [None] * len(ours)
    ours, theirs = pid_comm(ours, theirs)
    for i, (a, b) in enumerate(zip(ours, theirs)):
        if not same_line(a, b, offsets[i]):
            return f"script line {i + 1}: ours {squeeze(a)!r}, expected {squeeze(b)!r}"
    if len(ours) != len(theirs):
        return f"script: {len(ours)} lines, expected {len(theirs)}"
    return None


def check(ringtail, corpus, row):
    name = row["file"]
    code, records, samples, _ = stats(ringtail, os.path.join(corpus, name))
    if code not in (0, 1):
        return fail(name, f"report --stats: exit status {code}")
    for what, ours in (("records", records), ("samples", samples)):
        if not row[what].isdigit() or int(row[what]) == ours:
            continue
        if ours < int(row[what]) or not any(name.endswith(k) for k in MORE_RECORDS):
            return fail(name, f"{ours} {what}, expected {row[what]}")
    problem = compare_script(ringtail, corpus, name, row["script_fields"])
    if problem:
        return fail(name, problem)
    how = DIFFERENCES.get(next((k for k in DIFFERENCES if name.endswith(k)), None))
    print(f"ok {name}" + (f" (differs from perf: {how[0]})" if how else ""))
    return True


def main():
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    ringtail, corpus, only = sys.argv[1], sys.argv[2], sys.argv[3:]
    with open(os.path.join(corpus, "EXPECTED.tsv"), encoding="utf-8") as f:
        head = f.readline().rstrip("\n").split("\t")
        rows = [dict(zip(head, line.rstrip("\n").split("\t"))) for line in f]
    if only:
        rows = [r for r in rows if any(r["file"].endswith(o) for o in only)]
    good = 0
    for row in rows:
        try:
            good += check(ringtail, corpus, row)
        except subprocess.TimeoutExpired:
            fail(row["file"], f"no end within {LIMIT_S} s")
    print(f"{good} of {len(rows)} files as expected")
    sys.exit(0 if good == len(rows) else 1)


if __name__ == "__main__":
    main()
