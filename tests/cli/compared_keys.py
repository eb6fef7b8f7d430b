# SPDX-License-Identifier: Apache-2.0
"""Tries every key of perf report -s and every field of perf script -F: sections of docs/COMPARED.md.

perf-keys.tsv beside this file lists them. A key is tried with recordings that have what it shows, one after the other. It
works if a report of one of them has it; it is known if all of them lack it, and the message says so.
"""
import os
import re
import shutil
import subprocess

HERE = os.path.dirname(os.path.abspath(__file__))
OPTIONS = {'report': '-s', 'script': '-F'}
LACKING = 'samples of this recording have no'
# What differs from perf, where a key works.
DIFFERENT = {
    ('report', 'callchain_branch_predicted'): 'perf shows half of it',
    ('report', 'callchain_branch_cycles'): 'perf shows half of it',
    ('report', 'weight'): 'of one sample; perf multiplies it by the number of samples',
    ('report', 'p_stage_cyc'): 'as local_p_stage_cyc',
    ('report', 'ins_lat'): 'as local_ins_lat',
    ('report', 'retire_lat'): 'the field weight3: a mean',
    ('script', 'metric'): 'shows nothing: ringtail has no metrics',
}
SECTIONS = {
    'report': ('Keys of report -s', """
The keys that `perf report -s` and `-F` know, tried with `ringtail report -s`. ringtail has more: fields of tracepoints,
and those of waits (ringtail-report(1)). A key is *known* if no recording of the test corpus has what it shows.
"""),
    'script': ('Fields of script -F', """
The fields that `perf script -F` knows, tried with `ringtail script -F`.
"""),
}


def listed():
    """(command, name, versions) of each key."""
    with open(os.path.join(HERE, 'perf-keys.tsv'), encoding='utf-8') as f:
        return [line.rstrip('\n').split('\t') for line in f if not line.startswith('#')]


def judged(run, ringtail, folder, files, command, name):
    """('works' | 'known' | 'refused', text), or None with the fault."""
    texts = []
    for file in files:
        beside = ['--branch-history'] if name.startswith('callchain_branch') else []
        p = run(folder, [ringtail, command, '-i', file, '-f', *beside, OPTIONS[command], name])
        text = p.stderr.strip().replace('\n', ' ')
        refused = re.match(r"ringtail(?: report)?: sort key '[^']*': (.*)$", text)
        if refused:
            return ('refused', refused.group(1)), None
        if p.returncode == 0:
            return ('works', DIFFERENT.get((command, name), '')), None
        texts.append(text)
    missing = [text for text in texts if LACKING in text or 'need the switches' in text]
    if len(missing) == len(texts):
        return ('known', ''), None
    return None, texts[-1][:300]


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
    count = {kind: sum(r[2][0] == kind for r in rows) for kind in ('works', 'known', 'refused')}
    out = [f'\n## {title}\n{text}', f'{len(rows)}: {count["works"]} work, {count["known"]} are known, '
           f'{count["refused"]} are refused.\n', '| name | perf | |', '| --- | --- | --- |']
    for name, versions, (kind, why) in rows:
        say = {'works': 'works' + (f' differently: {why}' if why else ''), 'known': 'known', 'refused': f'refused: {why}'}[kind]
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
