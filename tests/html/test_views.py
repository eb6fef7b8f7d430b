# SPDX-License-Identifier: Apache-2.0
"""Code, diff and scheduler of a page: their numbers are those of `annotate`, `diff` and `report sched`; keys and links."""
import json
import os
import re
import shutil
import subprocess
import time

import browser
import recording
from lab import Skipped, expect
from test_page import picture, status_of

SCHED = 'tests/data/corpus/local/sched.data'
SOURCE = '''\
unsigned state = 1;

__attribute__((noinline)) unsigned hash(const unsigned char *p, int n) {
\tunsigned h = 0; /* <b>&amp;</b> */
\tfor (int i = 0; i < n; i++) {
\t\th = h * 31 + p[i];
\t\tif (h & 1)
\t\t\th ^= 0x5bd1e995;
\t}
\treturn h;
}

__attribute__((noinline)) void fill(unsigned char *p, int n) {
\tfor (int i = 0; i < n; i++)
\t\tp[i] = (state = state * 1103515245 + 12345) >> 8;
}

int main(void) {
\tunsigned char b[64];
\tfill(b, 64);
\treturn hash(b, 64) & 1;
}
'''


def ringtail(bench, *args):
    p = subprocess.run([bench.ringtail, *args], capture_output=True, timeout=120, check=False)
    expect(f'status of {args}', p.returncode == 0, p.returncode, p.stderr)
    return p.stdout.decode()


def compiled(bench):
    """Returns (recording, page): samples in each instruction of hash() and fill() of a program with lines."""
    data, page, program = bench.path('code.data'), bench.path('code.html'), bench.path('code-program')
    if os.path.exists(page):
        return data, page
    if not shutil.which('gcc'):
        raise Skipped('gcc is not installed')
    with open(bench.path('code.c'), 'w', encoding='utf-8') as f:
        f.write(SOURCE)
    build_id = os.urandom(20)  # its paths are of this run, so no cache may have it
    subprocess.run(['gcc', '-g', '-O1', '-no-pie', '-Wl,--build-id=0x' + build_id.hex(), '-o', program,
                    bench.path('code.c')], check=True)
    symbols = subprocess.run(['nm', '-S', program], capture_output=True, check=True).stdout.decode()
    at = {name: (int(start, 16), int(size, 16)) for start, size, name in re.findall(r'(\w+) (\w+) T (hash|fill|main)\n', symbols)}
    out = recording.Recording(data)
    out.comm(100, 100, b'task')
    out.map(100, program.encode(), build_id, 0x400000)
    for number in range(2000):
        start, size = at['hash' if number % 3 else 'fill']
        out.sample_at(100, 100 + number % 2, [start + number * 7 % size, at['main'][0] + 8], period=1 + number % 5, cpu=number % 4)
    out.close()
    ringtail(bench, 'report', '-i', data, '--html', page)
    return data, page


def shown_code(chromium):
    """Waits for the code. Returns {address: (sum, text)} of the rows that can be seen, and the sum of the function."""
    for _ in range(200):
        if not chromium.run('document.documentElement.dataset.loading'):
            break
        time.sleep(0.05)
    rows = chromium.run('''[...document.querySelectorAll('#code-window [data-row]')].map(r => [r.querySelector('.code-address').textContent,
        Number(r.dataset.sum), r.querySelector('.code-text').textContent])''')
    return {int(a, 16): (n, text) for a, n, text in rows}, chromium.run("Number(document.getElementById('code').dataset.sum)")


def annotated(bench, data, name, *args):
    """{address: (period, text)} of `annotate --json`, and the function's sum."""
    functions = json.loads(ringtail(bench, 'annotate', '-i', data, '--json', *args))['functions']
    f = next(f for f in functions if f['symbol'] == name)
    return {int(i['address'], 16): (i['period'], i['text']) for i in f['instructions']}, f['period']


def test_code(bench):
    data, page = compiled(bench)
    chromium = bench.show(page, '#view=code')
    chromium.resize(1280, 2000)  # all rows can be seen
    chromium = bench.show(page, '#view=code')
    expect('the hottest function', shown_code(chromium) == annotated(bench, data, 'hash'), shown_code(chromium), annotated(bench, data, 'hash'))
    lines = chromium.run("[...document.querySelectorAll('.code-line')].map(r => r.textContent)")
    expect('source lines', any('h = h * 31 + p[i];' in line and 'code.c:6' in line for line in lines), lines)
    expect('source is text', any('<b>&amp;</b>' in line for line in lines), lines)
    chromium.key('n')
    expect('the next one by a key', shown_code(chromium) == annotated(bench, data, 'fill'), shown_code(chromium))
    expect('it is in the link', 'code=' in chromium.run('location.hash'), chromium.run('location.hash'))
    chromium.key('p')
    chromium.run('''(e => { e.value = [...e.options].find(o => o.text.includes('/101)')).value;
        e.dispatchEvent(new Event('change')); })(document.getElementById('thread'))''')
    expect('of a thread', shown_code(chromium) == annotated(bench, data, 'hash', '--tid', '101'), shown_code(chromium))
    chromium.key('x')
    chromium.key('u')
    samples = sum(1 for n in range(2000) if n % 3)
    expect('samples instead of periods', shown_code(chromium)[1] == samples, shown_code(chromium)[1])
    picture(bench, 'code-tall')
    chromium.resize(1280, 800)


def test_code_keys_and_links(bench):
    _, page = compiled(bench)
    chromium = bench.show(page, '#view=table')
    chromium.run("[...document.querySelectorAll('#functions td.name')].find(c => c.textContent === 'fill').click()")
    chromium.key('3')
    shown_code(chromium)
    expect('the chosen function', 'of fill' in chromium.run("document.getElementById('code-about').textContent"))
    chromium.key('h')
    hot = chromium.run("Number(document.querySelector('#code-window [aria-selected=true]').dataset.sum)")
    most = max(n for n, _ in shown_code(chromium)[0].values())
    expect('the hottest instruction', hot == most > 0, hot, most)
    chromium.key('ArrowDown')
    link, row = chromium.run('location.hash'), chromium.run("document.querySelector('#code-window [aria-selected=true]').dataset.row")
    expect('the link has the row', f'row={row}' in link, link, row)
    chromium = bench.show(page, link)
    expect('a link restores it', chromium.run("document.querySelector('#code-window [aria-selected=true]').dataset.row") == row)
    text = dict(chromium.run("[...document.querySelectorAll('#code-window [data-row]')].map(r => [r.dataset.row, r.querySelector('.code-text').textContent])"))
    jump = next(row for row, t in text.items() if t.startswith('j'))
    chromium.run(f"document.querySelector('#code-window [data-row=\"{jump}\"]').click()")
    chromium.key('Enter')
    target = chromium.run("document.querySelector('#code-window [aria-selected=true] .code-address').textContent").strip()
    expect('Enter follows a jump', text[jump].split()[-1] == '0x' + target, text[jump], target)
    for wrong in '#view=code&code=99', '#view=code&row=-3', '#view=code&row=99999999', '#view=code&code=x':
        chromium = bench.show(page, wrong)
        expect(f'{wrong} shows code', shown_code(chromium)[0], chromium.errors)


def test_code_that_is_missing(bench):
    """A program that is gone: the page says so."""
    data, page = bench.recording('plain')[0], bench.path('gone.html')
    ringtail(bench, 'report', '-i', data, '--symfs', bench.path('nowhere'), '--html', page)
    chromium = bench.show(page, '#view=code')
    expect('says why', 'No sample is in a function' in chromium.run("document.getElementById('code-none').textContent"))


def test_why_a_function_has_no_code(bench):
    """Its name is known, from the recording; its program is gone."""
    data, packed, page = bench.recording('plain')[0], bench.path('packed.data'), bench.path('packed.html')
    ringtail(bench, 'pack', '-q', '-i', data, '--symfs', bench.path('root-plain'), '-o', packed)
    ringtail(bench, 'report', '-i', packed, '--symfs', bench.path('nowhere'), '--html', page)
    chromium = bench.show(page, '#view=code&fn=0')
    text = chromium.run("document.getElementById('code-none').textContent")
    expect('names it, and why', text.startswith('No code of ') and '/program: No such file' in text, text)


def two(bench):
    """Returns (before, after, page): after it, hash has more samples, sort has none, and copy is new."""
    page, root = bench.path('diff.html'), bench.path('diff-root')
    paths = [bench.path(f'diff-{n}.data') for n in range(2)]
    if os.path.exists(page):
        return *paths, page
    os.mkdir(root)
    with open(os.path.join(root, 'program'), 'wb') as f:
        f.write(recording.elf([b'main', b'parse', b'hash', b'sort', b'copy', b'</script><b>']))
    for n, path in enumerate(paths):
        out = recording.Recording(path)
        out.comm(100, 100, b'task')
        out.map(100, b'/program')
        for i in range(3000):
            leaf = [1, 2, 3, 1, 5, 1, 2, 3, 1, 1][i % 10] if not n else [1, 2, 2, 1, 5, 2, 2, 4, 1, 1][i % 10]
            out.sample(100, 100 + i % 2, [leaf, 0], 0, 1000, i % 4)
        out.close()
    ringtail(bench, 'diff', *paths, '--symfs', root, '--html', page)
    return *paths, page


def diff_of(chromium):
    """{function: (before, after, whether it changed, p)} of the list."""
    rows = chromium.run('''[...document.querySelectorAll('#diff-rows tbody tr')].map(r => [r.querySelector('.name').textContent,
        Number(r.dataset.before), Number(r.dataset.after), r.dataset.changed === 'true', Number(r.dataset.p)])''')
    return {name: (a, b, changed, float(f'{p:.4g}')) for name, a, b, changed, p in rows}


def test_diff(bench):
    before, after, page = two(bench)
    chromium = bench.show(page, '#view=diff')
    table = json.loads(ringtail(bench, 'diff', before, after, '--symfs', bench.path('diff-root'), '--json'))['tables'][0]
    wanted = {row['sym'][4:]: (row['recordings'][0]['period'], row['recordings'][1]['period'], row['changes'][0]['changed'],
                               float(f"{row['changes'][0]['p_corrected']:.4g}")) for row in table['rows']}
    expect('the list is that of diff', diff_of(chromium) == wanted, diff_of(chromium), wanted)
    verdict = chromium.run("(d => [Number(d.rows), Number(d.tested), Number(d.changed)])(document.getElementById('diff-about').dataset)")
    expect('the verdict', verdict == [table['verdicts'][0][k] for k in ('rows', 'tested', 'changed')], verdict, table['verdicts'])
    chromium.key('ArrowDown')
    chromium.key('ArrowDown')
    detail = chromium.run("document.getElementById('detail').textContent")
    expect('a frame is explained', 'before' in detail and 'points' in detail, detail)
    chromium.key('b')
    expect('widths before', 'side=before' in chromium.run('location.hash'))
    chromium.key('l')
    chromium.key('ArrowDown')
    chromium.key('Enter')
    expect('a row chooses its function', 'fn=' in chromium.run('location.hash'), chromium.run('location.hash'))
    link, chosen = chromium.run('location.hash'), diff_of(chromium)
    chromium = bench.show(page, link)
    expect('a link restores it', diff_of(chromium) == chosen and len(chosen) == 1, chosen)
    chromium = bench.show(page, '#view=table')
    expect('the table is of the later recording', status_of(chromium)[0] == 3000, status_of(chromium))
    expect('names are text', chromium.run("document.querySelectorAll('script:not([data-part])').length") == 1)


def test_diff_of_one(bench):
    """A page of one recording has no diff, and no key or link leads there."""
    chromium = bench.show(bench.page('plain'), '#view=diff')
    shown = 'document.querySelector("[role=tab][aria-selected=true]").dataset.view'
    expect('the link', chromium.run(shown) == 'flame')
    chromium.key('7')
    expect('the key', chromium.run(shown) == 'flame')
    p = subprocess.run([bench.ringtail, 'diff', 'a', 'b', 'c', '--html', 'x.html'], capture_output=True, check=False)
    expect('three recordings', p.returncode == 2 and b'compares two recordings' in p.stderr, p.stderr)
    p = subprocess.run([bench.ringtail, 'diff', 'a', 'b', '--json', '--html', 'x.html'], capture_output=True, check=False)
    expect('two outputs', p.returncode == 2 and b'exclude each other' in p.stderr, p.stderr)


def sched_page(bench):
    page = bench.path('sched.html')
    if not os.path.exists(page):
        ringtail(bench, 'report', '-i', SCHED, '--html', page)
    return page


KEYS = {'ran': 'ran_ns', 'runs': 'runs', 'switches': 'switches', 'migrations': 'migrations', 'delays': 'delays', 'delayed': 'delay_ns',
        'longest': 'max_delay_ns', 'preempted': 'preempted', 'preemptedNs': 'preempted_ns', 'blocked': 'blocked_ns'}


def sched_of(chromium, by):
    """{thread or CPU: {key: number}} of the table."""
    rows = chromium.run(f'''[...document.querySelectorAll('#sched-rows tbody tr')].map(r => [Number(r.dataset.{by}),
        Object.fromEntries([...r.querySelectorAll('td')].map(c => [c.dataset.key, Number(c.dataset.value)]))])''')
    return {number: {key: cells[key] for key in KEYS} for number, cells in rows}


def sched_reported(bench, by, *args):
    rows = json.loads(ringtail(bench, 'report', 'sched', '-i', SCHED, '--json', *args))['threads' if by == 'tid' else 'cpus']
    return {row[by]: {key: row[name] for key, name in KEYS.items()} for row in rows}


def test_sched(bench):
    chromium = bench.show(sched_page(bench), '#view=sched')
    wanted = sched_reported(bench, 'tid')
    expect('threads', sched_of(chromium, 'tid') == wanted and wanted, sched_of(chromium, 'tid'), wanted)
    chromium.key('t')
    expect('CPUs', sched_of(chromium, 'cpu') == sched_reported(bench, 'cpu'), sched_of(chromium, 'cpu'), sched_reported(bench, 'cpu'))
    chromium.key('t')
    chromium.key('ArrowDown')
    chromium.key('Enter')
    chosen = sched_of(chromium, 'tid')
    expect('Enter chooses a thread', len(chosen) == 1 and 'thread=' in chromium.run('location.hash'), chosen)
    link = chromium.run('location.hash')
    chromium = bench.show(sched_page(bench), link)
    expect('a link restores it', sched_of(chromium, 'tid') == chosen, chosen)
    chromium.key('x')
    x, y, _, _ = chromium.box('#sched-lanes')
    chromium.drag(x + 400, y + 20, x + 800, y + 25)
    link = dict(pair.split('=') for pair in chromium.run('location.hash')[1:].split('&'))
    first = int(json.loads(ringtail(bench, 'report', '-i', SCHED, '--json'))['stats']['first_time'])
    tick = int(chromium.run('document.documentElement.dataset.tick'))
    times = [first + int(link['from']) * tick, first + int(link['to']) * tick + tick - 1]
    span = ','.join(f'{t // 10 ** 9}.{t % 10 ** 9:09}' for t in times)
    expect('a range of time', sched_of(chromium, 'tid') == sched_reported(bench, 'tid', '--time', span), span)


def test_diff_of_other_events(bench):
    """An event that one recording lacks is named; a confidence that the page does not have is refused."""
    before, after, _ = two(bench)
    other = bench.recording('plain')[0]
    argv = [bench.ringtail, 'diff', '--html', bench.path('other.html')]
    p = subprocess.run([*argv, before, other], capture_output=True, text=True, timeout=120, check=False)
    expect('what is not compared', p.returncode == 0 and 'is not compared: only ' + other in p.stderr, p.stderr)
    p = subprocess.run([*argv, '--confidence', '99', before, after], capture_output=True, text=True, timeout=120, check=False)
    expect('confidence', p.returncode == 2 and 'leave out --confidence' in p.stderr, p.stderr)


def test_sched_of_others(bench):
    chromium = bench.show(bench.page('hostile'), '#view=sched')
    expect('nothing about delays', chromium.run("document.getElementById('sched-about').textContent") == '')


def comes(chromium, script, wanted):
    """Waits until a script gives what is wanted. Returns None, or what it gives after the patience of a browser."""
    end = time.monotonic() + browser.PATIENCE
    while (got := chromium.run(script)) != wanted:
        if time.monotonic() > end:
            return got
        time.sleep(0.05)
    return None


def test_prints(bench):
    """Paper is light, also where the screen is dark, and has one width; then the screen is as before."""
    chromium = bench.browser()
    chromium.resize(1280, 800, True)
    for view, page in ('code', compiled(bench)[1]), ('diff', two(bench)[2]), ('sched', sched_page(bench)), ('flame', bench.page('plain')):
        bench.show(page, f'#view={view}')
        shown_code(chromium)
        chromium.call('Emulation.setEmulatedMedia', media='print', features=[{'name': 'prefers-color-scheme', 'value': 'dark'}])
        looks = comes(chromium, "[document.body.clientWidth, getComputedStyle(document.documentElement).getPropertyValue('--paper').trim(), "
                                "getComputedStyle(document.querySelector('header label')).display]", [1000, '#fff', 'none'])
        expect(f'{view} on paper', looks is None, looks)
        if view == 'code':
            rows = chromium.run("document.querySelectorAll('#code-window > div').length")
            expect('all rows', rows == chromium.run("document.getElementById('code-rows').clientHeight") / 18 > 20, rows)
        picture(bench, f'{view}-print')
        chromium.call('Emulation.setEmulatedMedia', media='', features=[{'name': 'prefers-color-scheme', 'value': 'dark'}])
        expect('the screen again', comes(chromium, 'document.documentElement.className', '') is None)
    pdf = chromium.call('Page.printToPDF', printBackground=True)['data']
    expect('a PDF', len(pdf) > 10000, len(pdf))
    chromium.resize(1280, 800)


def test_waits_on_a_page(bench):
    """A page of waits opens at the event that its samples have."""
    for option in '--off-cpu', '--wall':
        page, table = bench.path(f'page{option}.html'), json.loads(ringtail(bench, 'report', '-i', SCHED, option, '--json'))['tables']
        ringtail(bench, 'report', '-i', SCHED, option, '--html', page)
        chromium = bench.show(page, '#view=table')
        wanted = next(t for t in table if t['samples'])
        expect(option, status_of(chromium) == (wanted['samples'], wanted['period']), status_of(chromium), wanted['samples'], wanted['period'])


def test_pictures(bench):
    """Each new view, light, dark and narrow."""
    chromium = bench.browser()
    pages = [('code', compiled(bench)[1]), ('diff', two(bench)[2]), ('sched', sched_page(bench))]
    for dark, width in (False, 1280), (True, 1280), (False, 480):
        chromium.resize(width, 800, dark)
        for view, page in pages:
            bench.show(page, f'#view={view}')
            picture(bench, f'{view}-{"narrow" if width < 1000 else "dark" if dark else "light"}')
    chromium.resize(1280, 800)
