# SPDX-License-Identifier: Apache-2.0
"""Tries every key of perf report -s and every field of perf script -F: sections of docs/COMPARED.md.

perf-keys.tsv beside this file lists them. A key is tried with recordings that have what it shows, one after the other. It
works if it has a value in one of them. It is known if ringtail takes it, or says that the recordings lack it, but it has a
value in none.
"""
import collections
import os
import re
import shutil
import subprocess

HERE = os.path.dirname(os.path.abspath(__file__))
OPTIONS = {'report': '-s', 'script': '-F'}
MORE = {'report': ['--stdio', '-q', '-g', 'none', '-t', ';'], 'script': []}
LACKING = 'samples of this recording have no'
EMPTY = re.compile(r'(0|0x0|0/0x0|0\.0+%?|-|N/A|\[unknown\]|\(\[unknown\]\))?')  # what stands where there is no value
# What differs from perf, where a key works.
DIFFERENT = {
    ('report', 'callchain_branch_predicted'): 'perf shows half of it',
    ('report', 'callchain_branch_cycles'): 'perf shows half of it',
    ('report', 'weight'): 'of one sample; perf multiplies it by the number of samples',
    ('report', 'p_stage_cyc'): 'as local_p_stage_cyc',
    ('report', 'ins_lat'): 'as local_ins_lat',
    ('report', 'retire_lat'): 'the field weight3: a mean',
}
# Their values come from programs and debug information, which a machine may have or not: data_types.py compiles some.
OF_PROGRAMS = {('report', name) for name in ('type', 'typeoff', 'typecln')}
# What is accepted, but shows nothing.
UNUSED = {('script', 'metric'): 'ringtail has no metrics'}
SECTIONS = {
    'report': ('Keys of report -s', """
The keys that `perf report -s` and `-F` know, tried with `ringtail report -s`. ringtail has more: fields of tracepoints,
and those of waits (ringtail-report(1)). A key works if it has a value in a recording of the test corpus. It is *known* if
ringtail takes it, but no recording there has what it shows. `type`, `typeoff` and `typecln` are tried with programs of
their own, by `tests/cli/data_types.py`.
"""),
    'script': ('Fields of script -F', """
The fields that `perf script -F` knows, tried with `ringtail script -F`, as the keys above.
"""),
}


def listed():
    """(command, name, versions) of each key."""
    with open(os.path.join(HERE, 'perf-keys.tsv'), encoding='utf-8') as f:
        return [line.rstrip('\n').split('\t') for line in f if not line.startswith('#')]


def has_value(command, text, plain):
    """Whether output has a value of what it was asked for. `plain` is what script prints without that."""
    lines = text.splitlines()
    if command == 'report' and any(';' in line for line in lines):
        lines = [re.sub(r'^(\s*[\d.]+%\s*;)+', '', line) for line in lines]
    values = collections.Counter(word for line in lines for word in line.replace(';', ' ').split()) - \
        collections.Counter(plain.split())
    return any(not EMPTY.fullmatch(word) for word in values)


def judged(run, ringtail, folder, files, command, name):
    """('works' | 'differs' | 'unused' | 'known' | 'refused', text), or None with the fault."""
    texts, taken = [], False
    for file in files:
        beside = ['--branch-history'] if name.startswith('callchain_branch') else []
        beside = [ringtail, command, '-i', file, '-f', *beside, *MORE[command], OPTIONS[command]]
        # Some fields are of an address, and need it.
        plain = run(folder, [*beside, 'ip']).stdout if command == 'script' and name != 'ip' else ''
        p = run(folder, [*beside, name if not plain else 'ip,' + name])
        text = p.stderr.strip().replace('\n', ' ')
        refused = re.match(r"ringtail(?: report)?: sort key '[^']*': (.*)$", text)
        if refused:
            return ('refused', refused.group(1)), None
        if p.returncode == 0 and (command, name) not in OF_PROGRAMS and has_value(command, p.stdout, plain):
            different = DIFFERENT.get((command, name))
            return ('differs', different) if different else ('works', ''), None
        taken |= p.returncode == 0
        if p.returncode:
            texts.append(text)
    if taken and (command, name) in OF_PROGRAMS:
        return ('works', ''), None
    if taken and (command, name) in UNUSED:
        return ('unused', UNUSED[command, name]), None
    other = [text for text in texts if LACKING not in text and 'need the switches' not in text]
    return (('known', ''), None) if taken or not other else (None, other[-1][:300])


def keys_of_perf(command, file):
    """The names that the installed perf lists for an unknown one."""
    p = subprocess.run(['perf', command, '-f', '-i', file, OPTIONS[command], 'nonsense'], text=True, check=False,
                       stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    found = re.search(r'sort by key\(s\):((?:\s+[\w ]+)+)|Fields: ([\w,-]+)', p.stdout)
    if not found:
        return None
    return set(re.split(r'[\s,]+', (found.group(1) or found.group(2)).strip()))


def section(command, rows):
    title, text = SECTIONS[command]
    count = {kind: sum(r[2][0] == kind for r in rows) for kind in ('works', 'differs', 'unused', 'known', 'refused')}
    out = [f'\n## {title}\n{text}', f'{len(rows)}: {count["works"]} work, {count["differs"]} work differently, '
           f'{count["known"]} are known, {count["unused"]} are accepted without effect, {count["refused"]} are refused.\n',
           '| name | perf | |', '| --- | --- | --- |']
    for name, versions, (kind, why) in rows:
        say = {'works': 'works', 'differs': f'works differently: {why}', 'unused': f'no effect: {why}', 'known': 'known',
               'refused': f'refused: {why}'}[kind]
        out.append(f'| `{name}` | {versions.replace(" ", ", ")} | {say} |')
    return '\n'.join(out) + '\n'


def compare(run, result, ringtail, folder, files):
    """Reports each fault by result(NAME, FAULT). Returns the sections."""
    text = ''
    for command in OPTIONS:
        rows = []
        known = {name: versions for c, name, versions in listed() if c == command}
        for name, versions in known.items():
            row, fault = judged(run, ringtail, folder, files, command, name)
            if fault:
                result(f'{command} {OPTIONS[command]} {name}', fault)
            else:
                rows.append((name, versions, row))
        result(f'{command} {OPTIONS[command]}: {len(rows)} names', '' if rows else 'none')
        text += section(command, rows)
        if shutil.which('perf'):
            names = keys_of_perf(command, files[0])
            more = names - set(known) if names else {'none found'}
            result(f'{command} {OPTIONS[command]}: all names of the perf here', f'not in the list: {sorted(more)}' if more else '')
    return text
