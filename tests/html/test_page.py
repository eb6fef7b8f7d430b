# SPDX-License-Identifier: Apache-2.0
"""What a page shows in Chromium: the numbers of `report --json`, selections, links, keys, and every view as a picture."""
import json
import os
import struct
import subprocess

import recording
from lab import expect

VIEWS = ['flame', 'table', 'code', 'timeline', 'sched', 'heatmap', 'diff', 'quality', 'recording']
TICK = 10 ** 6  # ns between the samples of a recording of lab.py, and a little more


def table_of(chromium):
    """{name: (self, total)} of the table of functions."""
    rows = chromium.run('''[...document.querySelectorAll('#functions tbody tr')].map(
        r => [r.querySelector('.name').textContent, Number(r.dataset.self), Number(r.dataset.total)])''')
    return {name: (own, total) for name, own, total in rows}


def status_of(chromium):
    """(samples, sum) of the selection."""
    return tuple(chromium.run('''(d => [Number(d.count), Number(d.sum)])(document.getElementById('status').dataset)'''))


def tables(bench, kind, *args):
    """[the tables of report --json], by event."""
    return json.loads(bench.report(kind, '--json', '--percent-limit', '0', *args))['tables']


def reported(bench, kind, *args, event=0):
    """{name: (self, total)} of a report."""
    rows = tables(bench, kind, '--sort', 'sym', '--children', *args)[event]['rows']
    return {row['sym'][4:]: (row['period'], row['children_period']) for row in rows}


def test_numbers_are_those_of_the_report(bench):
    chromium = bench.show(bench.page('plain'), '#view=table')
    expect('table', table_of(chromium) == reported(bench, 'plain'), table_of(chromium), reported(bench, 'plain'))
    first = tables(bench, 'plain')[0]
    expect('sums', status_of(chromium) == (first['samples'], first['period']), status_of(chromium))


def test_large_page(bench):
    """Its parts are decoded by workers."""
    data, page = bench.large()
    chromium = bench.show(page, '#view=table')
    rows = json.loads(subprocess.run([bench.ringtail, 'report', '-i', data, '--symfs', bench.path('large-root'), '--json', '--children',
                                      '-g', 'none', '--sort', 'sym'], capture_output=True, check=True).stdout)['tables'][0]['rows']
    wanted = {row['sym'][4:]: (row['period'], row['children_period']) for row in rows}
    expect('table', table_of(chromium) == wanted, table_of(chromium), wanted)
    expect('workers were used', any(url.startswith('blob:') for url in chromium.requests), chromium.requests)
    expect('all samples', status_of(chromium)[0] == 100000)
    chromium.key(']')
    chromium.key('}')
    count = status_of(chromium)[0]
    x, y, width, height = chromium.box('#overview')
    chromium.drag(x + width * 0.02, y + height / 2, x + width * 0.98, y + height / 2)
    most = table_of(chromium)
    expect('a part', 0 < count < 50000, count)
    link = chromium.run('location.hash')
    thread = bench.show(page, link + '&thread=0')  # counts sample by sample, not by what is left out
    expect('nearly all, counted in two ways', table_of(thread) == most and status_of(thread)[0] > 90000, status_of(thread))


def test_row_keeps_the_keys(bench):
    """A row that is chosen is drawn anew, and arrows go on from it."""
    chromium, focused = bench.show(bench.page('plain'), '#view=table'), 'Number(document.activeElement.dataset.fn)'
    rows = chromium.run("[...document.querySelectorAll('#functions tbody tr')].map(row => Number(row.dataset.fn))")
    chromium.key('2')
    for _ in range(2):
        chromium.key('ArrowDown')
    expect('the third row', chromium.run(focused) == rows[2], chromium.run(focused), rows)
    chromium.key('Enter')
    expect('it is chosen', chromium.run("Number(document.querySelector('#functions [aria-selected]').dataset.fn)") == rows[2])
    expect('it has the keys', chromium.run(focused) == rows[2], chromium.run(focused))


def test_other_event(bench):
    chromium = bench.show(bench.page('plain'), '#view=table')
    chromium.run('''(e => { e.value = 1; e.dispatchEvent(new Event('change')); })(document.getElementById('event'))''')
    expect('table', table_of(chromium) == reported(bench, 'plain', event=1), table_of(chromium))
    expect('it is in the link', 'event=1' in chromium.run('location.hash'))


def test_samples_instead_of_periods(bench):
    chromium = bench.show(bench.page('plain'), '#view=table')
    chromium.key('u')
    rows = tables(bench, 'plain', '--sort', 'sym')[0]['rows']
    expect('self', {k: v[0] for k, v in table_of(chromium).items() if v[0]} == {r['sym'][4:]: r['samples'] for r in rows})


def test_thread_and_cpu(bench):
    chromium = bench.show(bench.page('plain'), '#view=table')
    chromium.run('''(e => { e.value = [...e.options].find(o => o.text.includes('(101)')).value;
        e.dispatchEvent(new Event('change')); })(document.getElementById('thread'))''')
    expect('thread', table_of(chromium) == reported(bench, 'plain', '--tid', '101'), table_of(chromium))
    chromium.run('''(e => { e.value = 3; e.dispatchEvent(new Event('change')); })(document.getElementById('cpu'))''')
    expect('and CPU 2', table_of(chromium) == reported(bench, 'plain', '--tid', '101', '--cpu', '2'), table_of(chromium))
    chromium.click_on('#chips .chip')
    expect('CPU 2 alone', table_of(chromium) == reported(bench, 'plain', '--cpu', '2'), table_of(chromium))


def chosen_time(bench, chromium):
    """Returns the times of the selection as report takes them."""
    link = dict(pair.split('=') for pair in chromium.run('location.hash')[1:].split('&'))
    first = json.loads(bench.report('plain', '--json'))['stats']['first_time']
    tick = int(chromium.run('document.documentElement.dataset.tick'))
    times = [first + int(link[key]) * tick for key in ('from', 'to')]
    return ','.join(f'{t // 10 ** 9}.{t % 10 ** 9:09}' for t in times)


def test_drag_selects_time(bench):
    chromium = bench.show(bench.page('plain'), '#view=table')
    x, y, width, height = chromium.box('#overview')
    chromium.drag(x + width * 0.25, y + height / 2, x + width * 0.5, y + height / 2)
    time = chosen_time(bench, chromium)
    expect('table', table_of(chromium) == reported(bench, 'plain', '--time', time), time)
    expect('about a quarter', 400 < status_of(chromium)[0] < 800, status_of(chromium))
    chromium.key(']')
    time = chosen_time(bench, chromium)
    expect('moved by a key', table_of(chromium) == reported(bench, 'plain', '--time', time), time)
    chromium.key('x')
    expect('all again', table_of(chromium) == reported(bench, 'plain'))


def test_drag_in_heatmap_and_timeline(bench):
    chromium = bench.show(bench.page('plain'), '#view=heatmap')
    x, y, width, height = chromium.box('#heatmap')
    chromium.drag(x + 200, y + height / 2, x + 400, y + height / 3)
    count = status_of(chromium)[0]
    time = chosen_time(bench, chromium)
    expect('heatmap', count == tables(bench, 'plain', '--time', time)[0]['samples'] > 10, count, time)
    chromium.key('4')
    x, y, width, height = chromium.box('#timeline')
    chromium.drag(x + 400, y + 50, x + 700, y + 60)
    time = chosen_time(bench, chromium)
    expect('timeline', status_of(chromium)[0] == tables(bench, 'plain', '--time', time)[0]['samples'] > 10, time)
    chromium.click(x + 40, y + 30)
    expect('a row is a thread', 'thread=' in chromium.run('location.hash'), chromium.run('location.hash'))


def test_search(bench):
    chromium = bench.show(bench.page('plain'), '#view=table')
    chromium.key('/')
    chromium.type('^(parse|hash)$')
    names = chromium.run("[...document.querySelectorAll('#functions td.name')].map(c => c.textContent)")
    expect('rows', sorted(names) == ['hash', 'parse'], names)
    samples = [s for s in bench.recording('plain')[2] if not s.event and {1, 4} & set(s.functions)]
    total = int(chromium.run("document.getElementById('matches').dataset.sum"))
    expect('total', total == sum(s.period for s in samples), total)
    chromium.type('(')
    expect('a wrong one is told', 'no regular' in chromium.run("document.getElementById('matches').textContent"))


def test_function_selects_samples(bench):
    chromium = bench.show(bench.page('plain'), '#view=table')
    chromium.run("[...document.querySelectorAll('#functions td.name')].find(c => c.textContent === 'sort').click()")
    samples = [s for s in bench.recording('plain')[2] if not s.event and 5 in s.functions]
    expect('sums', status_of(chromium) == (len(samples), sum(s.period for s in samples)), status_of(chromium))


def test_flame_graph(bench):
    """Clicks and keys: a frame is zoomed, its numbers are read in the line below."""
    chromium = bench.show(bench.page('plain'), '#view=flame')
    chromium.key('ArrowDown')
    chromium.key('ArrowDown')
    detail = chromium.run("document.getElementById('detail').textContent")
    outer = reported_outer(bench, detail.split()[0])
    expect('share of the outermost frame', f'{outer:.2f} %' in detail, detail, outer)
    chromium.key('Enter')
    expect('zoomed', 'zoom=' in chromium.run('location.hash'), chromium.run('location.hash'))
    chromium.key('Backspace')
    expect('zoomed out', 'zoom=' not in chromium.run('location.hash'))
    x, y, _, _ = chromium.box('#flame')
    chromium.click(x + 100, y + 30)
    expect('a click zooms', 'zoom=' in chromium.run('location.hash'))
    chromium.key('s')
    expect('sandwich', 'mode=sandwich' in chromium.run('location.hash'), chromium.run('location.hash'))


def reported_outer(bench, name):
    """Percentage of the samples whose outermost function is @name."""
    samples = [s for s in bench.recording('plain')[2] if not s.event]
    names = bench.recording('plain')[1]
    return 100 * sum(s.period for s in samples if names[s.functions[-1]] == name) / sum(s.period for s in samples)


def test_links_restore_the_view(bench):
    chromium = bench.show(bench.page('plain'), '#view=table&from=50000000&to=150000000&search=a&unit=samples')
    before, link = table_of(chromium), chromium.run('location.hash')
    count = status_of(chromium)
    chromium = bench.show(bench.page('plain'), link)
    expect('the same', table_of(chromium) == before and status_of(chromium) == count and len(before) > 2, before)
    for wrong in '#from=x&to=3', '#fn=99999', '#view=frob&thread=-5', '#zoom=1.x', '#from=9&to=2', '#event=-1&cpu=77777':
        chromium = bench.show(bench.page('plain'), wrong)
        expect(f'{wrong} selects all', status_of(chromium)[0] == tables(bench, 'plain')[0]['samples'], status_of(chromium))


def test_losses(bench):
    chromium = bench.show(bench.page('plain'), '#view=quality')
    cells = chromium.run("[...document.querySelectorAll('.losses tbody tr:last-child td')].map(c => Number(c.dataset.value))")
    stats = json.loads(bench.report('plain', '--json'))['stats']
    expect('lost', cells[4] == stats['lost'] and cells[0] == stats['lost_in_rings'] == 17, cells, stats)
    text = chromium.run("document.getElementById('quality').textContent")
    for verdict in tables(bench, 'plain', '-g', 'caller')[0]['verdict']:
        expect('verdict', verdict['text'] in text, verdict['text'], text[:300])


def test_help_and_tabs(bench):
    chromium = bench.show(bench.page('plain'))
    chromium.key('?')
    expect('help', chromium.run("document.getElementById('help').open"))
    chromium.key('Escape')
    expect('is closed', not chromium.run("document.getElementById('help').open"))
    for number, view in enumerate(VIEWS):
        if view == 'diff':  # the page has one recording
            continue
        chromium.key(str(number + 1))
        expect(view, chromium.run('document.querySelector("[role=tab][aria-selected=true]").dataset.view') == view)


def test_hostile_names(bench):
    """Names are text as report prints them, in every view."""
    chromium = bench.show(bench.page('hostile'), '#view=table')
    names = set(chromium.run("[...document.querySelectorAll('#functions td.name')].map(c => c.textContent)"))
    wanted = {name[:300] for name in bench.recording('hostile')[1]}
    expect('names', wanted <= names, wanted - names)
    for view in VIEWS:
        chromium = bench.show(bench.page('hostile'), f'#view={view}&search=%3C%2Fscript%3E')
        expect('no element of a name', chromium.run("document.querySelectorAll('script:not([data-part])').length") == 1)


def test_recordings_that_lack_things(bench):
    """No samples; one sample; no times; no call chains. No view fails."""
    for name, samples, lacking in ('none', 0, 0), ('one', 1, 0), ('timeless', 20, 4), ('chainless', 20, 0x20):
        page = lacking_page(bench, name, samples, lacking)
        for view in VIEWS:
            chromium = bench.show(page, f'#view={view}')
            expect(f'{name}: count', status_of(chromium)[0] == samples, status_of(chromium))
            for key in ['ArrowDown', 'ArrowRight', 'Enter', 'c', 't', ']', 'z', 's', 'f', 'Escape', 'Escape', 'Escape', 'x']:
                chromium.key(key)
            picture(bench, f'{name}-{view}')


def lacking_page(bench, name, samples, lacking):
    """Writes a recording of cpu-clock whose samples lack fields, and returns its page."""
    data, page = bench.path(name + '.data'), bench.path(name + '.html')
    fields = (1 | 2 | 4 | 0x20 | 0x80 | 0x100) & ~lacking
    attr = bytearray(136)
    struct.pack_into('<IIQQQQQ', attr, 0, 1, len(attr), 0, 1, fields, 0, 0)
    body = b''
    for i in range(samples):
        sample = struct.pack('<QII', 0x400000 + i, 7, 7)
        sample += b'' if lacking & 4 else struct.pack('<Q', 10 ** 9 + i * TICK)
        sample += struct.pack('<IIQ', i % 2, 0, 1000)
        sample += b'' if lacking & 0x20 else struct.pack('<QQQ', 2, recording.USER_MARK, 0x400000 + i)
        body += recording.record(recording.SAMPLE, 2, sample)
    head = struct.pack('<8sQQQQQQQQ32s', b'PERFILE2', 104, 152, 104, 152, 256, len(body), 0, 0, bytes(32))[:104]
    with open(data, 'wb') as f:
        f.write(head + bytes(attr) + bytes(16) + body)
    p = subprocess.run([bench.ringtail, 'report', '-i', data, '--html', page], capture_output=True, check=False)
    expect(f'{name}: status', p.returncode == 0, p.returncode, p.stderr)
    return page


def test_every_view_light_and_dark(bench):
    chromium = bench.browser()
    for dark in False, True:
        chromium.resize(1280, 800, dark)
        for view in VIEWS:
            bench.show(bench.page('plain'), f'#view={view}&from=80000000&to=140000000&search=parse')
            picture(bench, f'{view}-{"dark" if dark else "light"}')
    chromium.resize(480, 800)
    for view in VIEWS:
        bench.show(bench.page('plain'), f'#view={view}')
        picture(bench, f'{view}-narrow')
    chromium.resize(1280, 800)


def picture(bench, name):
    """Writes what is shown, and finds that it is no empty sheet."""
    path = os.path.join(bench.pictures or bench.folder, name + '.png')
    bench.browser().picture(path)
    expect(f'{name}: something is shown', os.path.getsize(path) > 5000, os.path.getsize(path))
