# SPDX-License-Identifier: Apache-2.0
"""speedscope: the schema of its package accepts the file, and its page shows it."""
import base64
import html
import collections
import json
import os
import re
import shutil
import subprocess

from lab import EVENTS, Skipped, escape, expect, from_npm


def merged(samples):
    """Stacks of a thread in time order, those in sequence that are the same as one."""
    out = []
    for s in samples:
        if out and out[-1][0] == s.functions:
            out[-1][1] += s.period
        else:
            out.append([s.functions, s.period])
    return out


def compare(bench, kind):
    _, names, samples = bench.recording(kind)
    doc = json.loads(bench.run(kind, '--to', 'speedscope').decode('utf-8'))
    threads = collections.defaultdict(list)
    for s in samples:
        threads[f'{EVENTS[s.event]}: {escape(s.comm)} ({s.pid}/{s.tid})'].append(s)
    frames = [f['name'] for f in doc['shared']['frames']]
    ours = {p['name']: p for p in doc['profiles']}
    expect('profiles:', ours.keys() == threads.keys() and len(ours) == len(doc['profiles']))
    for name, profile in ours.items():
        known = merged(threads[name])
        stacks = [[frames[i] for i in stack] for stack in profile['samples']]
        expect('stacks:', stacks == [[names[f] for f in reversed(k[0])] for k in known])
        expect('weights:', profile['weights'] == [k[1] for k in known] and profile['unit'] == 'nanoseconds' and
               profile['startValue'] == 0 and profile['endValue'] == sum(profile['weights']))
    totals = [p['endValue'] for p in doc['profiles']]
    expect('the heaviest profile is active', totals[doc['activeProfileIndex']] == max(totals))
    return doc


def test_has_each_sample(bench):
    compare(bench, 'plain')


def test_has_hostile_names(bench):
    compare(bench, 'hostile')


def test_fits_the_schema(bench):
    release = os.path.join(from_npm('speedscope'), 'speedscope', 'dist', 'release')
    try:
        import jsonschema  # pylint: disable=import-outside-toplevel
    except ImportError as e:
        raise Skipped('python3-jsonschema is not installed') from e
    with open(os.path.join(release, 'file-format-schema.json'), encoding='utf-8') as f:
        schema = json.load(f)
    for kind in 'plain', 'hostile':
        doc = json.loads(bench.run(kind, '--to', 'speedscope'))
        for profile in doc['profiles']:  # the validator is slow
            profile['samples'], profile['weights'] = profile['samples'][:50], profile['weights'][:50]
        for error in jsonschema.Draft7Validator(schema).iter_errors(doc):
            expect('schema:', False, error.message)


def dom_of(bench, kind, form):
    """What speedscope's page shows of an export, in its table of functions."""
    release = os.path.join(from_npm('speedscope'), 'speedscope', 'dist', 'release')
    chromium = shutil.which('chromium') or shutil.which('chromium-browser')
    if not chromium:
        raise Skipped('chromium is not installed')
    script = bench.path('profile.js')
    with open(script, 'w', encoding='ascii') as f:  # as speedscope's own command does
        text = base64.b64encode(bench.run(kind, '--to', form)).decode()
        f.write(f'speedscope.loadFileFromBase64("profile", "{text}")')
    page = f'file://{release}/index.html#localProfilePath={script}&view=sandwich'
    p = subprocess.run([chromium, '--headless', '--no-sandbox', '--disable-gpu', '--allow-file-access-from-files',
                        f'--user-data-dir={bench.path("chromium")}', '--virtual-time-budget=20000', '--dump-dom', page],
                       capture_output=True, timeout=60, check=False)
    return html.unescape(re.sub('<[^>]*>', ' ', p.stdout.decode(errors='replace').split('<body', 1)[-1]))


def shows(bench, kind, form):
    """The names of the functions that most samples have."""
    _, names, _ = bench.recording(kind)
    text = dom_of(bench, kind, form)
    expect('the page has an error:', 'Something went wrong' not in text, text)
    missing = [name for name in names[:6] if (name.replace(';', ':') if form == 'folded' else name) not in text]
    expect('the page lacks names:', not missing, missing, text[:400])


def test_is_shown_by_its_page(bench):
    shows(bench, 'plain', 'speedscope')


def test_page_shows_hostile_names(bench):
    shows(bench, 'hostile', 'speedscope')


def test_page_shows_folded(bench):
    shows(bench, 'plain', 'folded')


def test_page_shows_folded_hostile_names(bench):
    shows(bench, 'hostile', 'folded')
