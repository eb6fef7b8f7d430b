#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs tests/cli/golden/NAME.cmd and compares with NAME.out beside it.

usage: golden.py [--update] RINGTAIL CORPUS [NAME...]

A .cmd file is one line of shell words: the arguments of ringtail, with {corpus} for the corpus, {aux}
for the recordings of an AUX area beside it, {branches} for those of branch stacks, and {tmp} for an empty directory. The .out file is standard
output, then "--- stderr" and standard error if there is any, then each file that is in {tmp} with its
size and checksum, then the exit status. The run sees no symbols of this machine, and UTC.
"""

import difflib
import hashlib
import os
import shlex
import subprocess
import sys
import tempfile

LIMIT_S = 60
ENV = {"PATH": os.environ.get("PATH", ""), "HOME": "/nonexistent", "TZ": "UTC", "LC_ALL": "C",
       "ASAN_OPTIONS": os.environ.get("ASAN_OPTIONS", "")}


def files(folder):
    text = ""
    for root, dirs, names in os.walk(folder):
        dirs.sort()
        for name in sorted(names):
            path = os.path.join(root, name)
            with open(path, "rb") as f:
                data = f.read()
            text += (f"--- {os.path.relpath(path, folder)}: {len(data)} bytes, "
                     f"sha256 {hashlib.sha256(data).hexdigest()[:16]}\n")
    return text.encode()


def outcome(ringtail, corpus, command):
    with tempfile.TemporaryDirectory() as tmp:
        data = os.path.dirname(corpus)
        places = {"{corpus}": corpus, "{aux}": os.path.join(data, "aux"),
                  "{branches}": os.path.join(data, "branches"), "{tmp}": tmp}
        return run(ringtail, places, command)


def run(ringtail, places, command):
    args = shlex.split(command, comments=True)
    for name, path in places.items():
        args = [w.replace(name, path) for w in args]
    p = subprocess.run([ringtail] + args, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=ENV,
                       timeout=LIMIT_S, check=False)
    text = p.stdout
    if p.stderr:
        text += b"--- stderr\n" + p.stderr
    text += files(places["{tmp}"])
    text += b"--- exit status %d\n" % p.returncode
    text = text.decode("utf-8", "backslashreplace")
    for name, path in places.items():
        text = text.replace(path, name)
    lines = text.splitlines(True)
    return "".join(x for x in lines if not x.lstrip(' #"').startswith("captured"))  # file's mtime


def check(ringtail, corpus, base, update):
    name = os.path.basename(base)
    with open(base + ".cmd", encoding="utf-8") as f:
        ours = outcome(ringtail, corpus, f.read())
    if update:
        with open(base + ".out", "w", encoding="utf-8") as f:
            f.write(ours)
    with open(base + ".out", encoding="utf-8") as f:
        expected = f.read()
    if ours == expected:
        print(f"ok {name}")
        return True
    print(f"FAIL {name}")
    sys.stdout.writelines(difflib.unified_diff(expected.splitlines(True), ours.splitlines(True),
                                               "expected", "ours", n=1))
    return False


def main():
    args = sys.argv[1:]
    update = "--update" in args
    args = [a for a in args if a != "--update"]
    if len(args) < 2:
        sys.exit(__doc__)
    ringtail, corpus, only = os.path.abspath(args[0]), os.path.abspath(args[1]), args[2:]
    folder = os.path.join(os.path.dirname(os.path.abspath(__file__)), "golden")
    names = sorted(n[:-4] for n in os.listdir(folder) if n.endswith(".cmd"))
    names = [n for n in names if not only or n in only]
    good = sum(check(ringtail, corpus, os.path.join(folder, n), update) for n in names)
    print(f"{good} of {len(names)} as expected")
    sys.exit(0 if good == len(names) else 1)


if __name__ == "__main__":
    main()
