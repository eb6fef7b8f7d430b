# SPDX-License-Identifier: Apache-2.0
"""Tests of `ringtail view`, and of `ringtail report` on a terminal."""
import base64
import collections
import json
import os
import re
import signal
import struct
import subprocess

import lab
import recording

ROW = re.compile(r'^[-+ ] +([0-9.]+)%  (.*)$')


def rows(lines):
    """[(percent, rest)] of the rows on the screen."""
    return [(float(m[1]), ' '.join(m[2].split())) for m in map(ROW.match, lines) if m]


def json_rows(bench, kind, *args, event=0):
    """The same of report --json."""
    report = json.loads(bench.report(kind, '--json', *args))
    return [(round(row['percent'] + 1e-9, 2), ' '.join([row['comm'], row['dso'], row['sym']]))
            for row in report['tables'][event]['rows']]


def same(shown, wanted):
    """Rows on a screen of 100 columns may be cut."""
    return shown and len(shown) <= len(wanted) and all(
        abs(a[0] - b[0]) < 0.011 and b[1].startswith(a[1].rstrip()) for a, b in zip(shown, wanted))


def ended(term):
    """Waits until the program has ended. Returns its status; the terminal must be as before."""
    lines = term.wait_for('status=')
    text = ' '.join(term.wait_for('echo '))
    lab.expect('the terminal echoes and takes lines again', ' echo ' in text and ' icanon' in text, text[-400:])
    lab.expect('the screen is left', not any('? help' in line for line in lines))
    return int(re.search(r'status=(\d+)', ' '.join(lines))[1])


def test_numbers_equal_report_json(bench):
    with bench.view('plain') as term:
        shown = rows(term.wait_for('? help'))
        wanted = json_rows(bench, 'plain')
        lab.expect('the rows of report', same(shown, wanted), shown[:5], wanted[:5])
        term.press('Tab')
        term.wait_for('(2 of 2)')
        shown, wanted = rows(term.lines()), json_rows(bench, 'plain', event=1)
        lab.expect('the rows of the second event', same(shown, wanted), shown[:5], wanted[:5])
        term.press('q')
        lab.expect('status 0', ended(term) == 0)


def test_report_opens_the_view(bench):
    with bench.view('plain', command='report') as term:
        term.wait_for('? help')
        term.press('q')
        lab.expect('status 0', ended(term) == 0)
    with bench.view('plain', '--stdio', '--no-pager', command='report') as term:
        term.wait_for('status=0')
        lab.expect('a table as text', any('# Overhead' in line or '%' in line for line in term.lines()))
    text = bench.report('plain')
    lab.expect('text where standard output is no terminal', '# Overhead' in text)


def test_options_of_report(bench):
    with bench.view('plain', '--socket-filter', '99') as term:
        term.wait_for('names no CPU of socket 99')
        lab.expect('status 1', ended(term) == 1)
    with bench.view('plain', '--switch-on', 'frob') as term:
        term.wait_for("has no event 'frob'")
    with bench.view('plain', '-s', 'frob') as term:
        term.wait_for("ringtail view: unknown sort key 'frob'")
        lab.expect('status 2', ended(term) == 2)
    with bench.view('plain', '--time', '1999-01-01T00:00:00,1999-01-02T00:00:00') as term:
        term.wait_for('ends before the recording')
    with bench.view('plain', '-v', '--symfs', bench.path('nowhere')) as term:
        term.wait_for('? help')
        term.press('q')
        term.wait_for('no symbols: ')
    with bench.view('plain', '-T', command='report', PAGER='cat') as term:
        term.wait_for('status=0')


def test_counts_of_waits(bench):
    """What a table says of waits is printed when the view has ended."""
    with bench.open([bench.ringtail, 'report', '-i', os.path.abspath('tests/data/corpus/local/sched.data'), '--off-cpu'], 140) as term:
        term.wait_for('? help')
        term.press('q')
        said = term.wait_for('status=0')
        lab.expect('threads that were off CPUs', any('when the recording began: not counted' in line for line in said), said)


def test_moves(bench):
    with bench.view('plain') as term:
        first = term.wait_for('? help')
        nr = int(re.search(r'1/(\d+)', first[-2])[1])

        def at(line):
            term.wait(f'line {line}', lambda lines: lines[-2].startswith(f' {line}/{nr} '))
        for keys, line in ((['j'], 2), (['Down'], 3), (['k'], 2), (['Up'], 1), (['Up'], 1), (['G'], nr), (['g', 'g'], 1),
                           (['End'], nr), (['Home'], 1), (['NPage'], 20), (['H'], 20), (['PPage'], 1), (['L'], 20),
                           (['M'], 10)):
            term.press(*keys)
            at(line)


def chains(bench, comm, sym):
    """Functions below a row with one chain or more, with their weights, by depth."""
    report = json.loads(bench.report('plain', '--json', '-g', 'caller,0'))
    row = next(r for r in report['tables'][0]['rows'] if r['comm'] == comm and r['sym'].endswith(sym))
    found = collections.Counter()

    def add(nodes):
        for node in nodes:
            found[node['symbol']] += 1
            add(node.get('children', []))
    add(row['callgraph'])
    return sum(found.values())


def test_chains_open_and_close(bench):
    with bench.view('plain') as term:
        lines = term.wait_for('? help')
        nr = int(re.search(r'1/(\d+)', lines[-2])[1])
        comm, sym = rows(lines)[0][1].split(' program [.] ')
        nodes = chains(bench, comm, sym)
        term.press('e')
        term.wait_for(f'1/{nr + nodes} ')
        term.press('e')
        term.wait_for(f'1/{nr} ')
        term.press('l')
        opened = term.wait('open', lambda lines: not lines[-2].startswith(f' 1/{nr} '))
        lab.expect('its callers are shown', any(re.match(r' {4}[-+ ] [0-9.]+% \w+', line) for line in opened), opened[3:8])
        term.press('j', 'h', 'h')
        term.wait_for(f'1/{nr} ')
        term.press('+')
        lab.expect('+ opens as much as l does', term.wait(
            'open', lambda lines: not lines[-2].startswith(f' 1/{nr} '))[-2] == opened[-2], term.lines()[-2])
        term.press('+')
        term.wait_for(f'1/{nr} ')
        term.press('E')
        term.wait('all open', lambda lines: not lines[-2].startswith(f' 1/{nr} '))
        term.press('C')
        term.wait_for(f'1/{nr} ')


def test_zooms(bench):
    every = json_rows(bench, 'plain')
    with bench.view('plain') as term:
        term.wait_for('? help')
        comm = every[0][1].split(' program')[0]
        of_comm = [row for row in every if row[1].startswith(comm + ' ')]
        whole_strip = term.lines()[1]
        term.press('t')
        term.wait_for(f'> comm {comm}')
        term.wait('the strip of the thread', lambda lines: lines[1] != whole_strip)
        shown = term.wait_for(f'1/{len(of_comm)} ')
        lab.expect('the rows of the thread', same(rows(shown), of_comm), rows(shown)[:4], of_comm[:4])
        term.press('p')
        shown = rows(term.wait_for('% of shown rows'))
        whole = sum(row[0] for row in of_comm)
        lab.expect('percentages of the shown rows', abs(sum(p for p, _ in shown) - 100) < 0.5 and
                   abs(shown[0][0] - 100 * of_comm[0][0] / whole) < 0.1, shown[:3])
        term.press('d')
        term.wait_for('> dso program')
        term.press('d')  # one zoom with the first
        term.press('Escape')
        term.wait_gone('> dso program')
        term.press('Left')
        term.wait_gone('> comm')
        term.wait('the strip of all', lambda lines: lines[1] == whole_strip)
        term.press('Enter')
        term.wait_for('zoom into its shared object')
        term.press('d')
        term.wait_for('> dso program')


def test_span_of_time(bench):
    with bench.view('plain') as term:
        term.wait_for('? help')
        term.press('[')
        term.wait_for('span of time')
        term.press('Home', '[', 'End', 'Left')
        term.press(']')
        lines = term.wait('zoomed', lambda lines: re.search(r'> 0\.000-([0-9.]+) s', lines[0]) and
                          'counting' not in lines[-2] and '[' not in lines[-2])
        samples = int(re.search(r' (\d+) samples', lines[-2])[1])
        stats = json.loads(bench.report('plain', '--json'))['stats']
        cells = 100 - 12
        span = stats['last_time'] - stats['first_time'] + 1
        stop = stats['first_time'] + int((cells - 1) * (span / cells)) - 1
        part = json.loads(bench.report('plain', '--json', '--time', f'0,{stop // 10**9}.{stop % 10**9:09d}'))
        lab.expect('the samples of the span', samples == part['tables'][0]['samples'], samples,
                   part['tables'][0]['samples'])
        lab.expect('fewer than all', samples < stats['samples'])
        term.press('Escape')
        term.wait_gone('> 0.000')


def test_search(bench):
    every = json_rows(bench, 'plain')
    with bench.view('plain') as term:
        term.wait_for('? help')
        term.press('/')
        term.type('^(parse|hash)')
        wanted = [row for row in every if re.search(r'\] (parse|hash)', row[1])]
        shown = term.wait('found', lambda lines: same(rows(lines), wanted) and len(rows(lines)) == len(wanted))
        lab.expect('the expression is shown', '/^(parse|hash)' in shown[-2], shown[-2])
        term.press('(')
        term.wait('what is no expression is said', lambda lines: 'nmatched' in lines[-2] or 'nbalanced' in lines[-2])
        term.press('BSpace', 'Enter')
        term.wait_for(f'1/{len(wanted)} ')
        term.press('n')
        term.wait_for(f'2/{len(wanted)} ')
        term.press('N')
        term.wait_for(f'1/{len(wanted)} ')
        term.press('Escape')
        term.wait_for(f'1/{len(every)} ')
        term.press('/')
        term.type('nowhere at all')
        term.wait_for('no function matches')
        term.press('Escape')
        term.wait_for(f'1/{len(every)} ')


def test_flame_graph(bench):
    report = json.loads(bench.report('plain', '--json', '-g', 'caller,0'))['tables'][0]
    roots, inner = collections.Counter(), collections.Counter()
    for row in report['rows']:
        for node in row['callgraph']:
            roots[node['symbol']] += node['period']
        inner[row['sym'][4:]] += row['period']
    for keys, wanted in ([], roots), (['c'], inner):
        with bench.view('plain') as term:
            term.wait_for('? help')
            term.press('f', *keys)
            term.wait_for('with their callers below' if keys else 'with their callees below')
            name, period = wanted.most_common(1)[0]
            term.press('j')
            term.wait_for(f'{name}  {100 * period / report["period"]:.2f}%')
            term.press('p', 'Enter')
            term.wait_for(f'{name}  100.00%')
            lines = term.lines()
            lab.expect('the box fills the line', lines[4].startswith((f'▏{name}', f'|{name}')), lines[3:6])
            term.press('p', 'Escape', 'j', 'l')
            name, period = wanted.most_common(2)[1]
            term.wait_for(f'{name}  {100 * period / report["period"]:.2f}%')
            term.press('/')
            term.type('^parse$')
            term.press('Enter')
            term.wait_for('/^parse$: ')
            term.press('Escape', 'q')
            term.wait_for('Overhead')


def test_code(bench):
    with bench.view('plain') as term:
        lines = term.wait_for('? help')
        name = rows(lines)[0][1].split('[.] ')[1]
        term.press('a')
        lines = term.wait_for('q back')
        lab.expect('the function and its instructions', name in lines[2] and any('add ' in s or 'addb' in s for s in lines),
                   lines[2:6])
        hot = [float(m[1]) for m in (re.match(r' +([0-9.]+)  ', line) for line in lines) if m]
        lab.expect('shares of the samples', abs(sum(hot) - 100) < 1, hot)
        term.press('q')
        term.wait_for('Overhead')


def calling_program(bench):
    """Returns (recording, root) of a program whose functions call each other; the last one has no sample."""
    root, data, size = bench.path('root-calls'), bench.path('calls.data'), recording.FUNCTION
    program = bytearray(recording.elf([b'outer', b'inner', b'quiet']))
    code = {0: b'\x74\x06\xe8' + struct.pack('<i', size - 7) + b'\x90\xff\xd0\xc3',  # je +8, call inner, nop, call *%rax, ret
            size: b'\xe8' + struct.pack('<i', size - 5) + b'\x90' * 4 + b'\xc3', 2 * size: b'\x90' * 12 + b'\xc3'}
    for at, words in code.items():
        program[recording.CODE + at:recording.CODE + at + len(words)] = words
    if not os.path.exists(root):
        os.mkdir(root)
        with open(os.path.join(root, 'program'), 'wb') as f:
            f.write(program)
        out = recording.Recording(data)
        out.comm(100, 100, b'calls')
        out.map(100, b'/program')
        for functions in [(0,)] * 3 + [(1, 0)] * 2:
            out.sample(100, 100, functions)
        out.close()
    return data, root


def test_code_follows_calls(bench):
    data, root = calling_program(bench)
    with bench.open([bench.ringtail, 'view', '-i', data, '--symfs', root]) as term:
        term.wait_for('? help')
        term.press('a')
        lines = term.wait_for('Percent  outer')
        lab.expect('a call has the name of its target', any('callq' in s and '<inner>' in s for s in lines), lines)
        term.press('Home', 'Enter')
        term.wait('the target of the jump', lambda lines: re.match(r' 4/\d', lines[-2]))
        term.press('Enter')
        term.wait_for('known at run time')
        term.press('Escape')
        term.wait('where the jump is', lambda lines: re.match(r' 1/\d', lines[-2]))
        term.press('Enter', 'Escape', 'j', 'Enter')
        term.wait_for('Percent  inner')
        term.press('Home', 'Right')
        lines = term.wait_for('Percent  quiet')
        lab.expect('a function without samples', ' 0 samples' in lines[-2], lines[-2])
        term.press('Escape')
        term.wait_for('Percent  inner')
        term.press('Escape')
        term.wait_for('Percent  outer')
        term.wait('the line of the call', lambda lines: re.match(r' 2/\d', lines[-2]))
        term.press('j', 'Enter')
        term.wait_for('Enter follows a jump or a call')
        term.press('k', 'Enter')
        term.wait_for('Percent  inner')
        term.press('q')
        term.wait_for('Overhead')
        term.press('E', 'f', 'Down', 'Down', 'a')
        term.wait_for('Percent  inner')
        term.press('Escape')
        term.wait_for('with their callees below')


def test_code_is_searched_apart(bench):
    data, root = calling_program(bench)
    with bench.open([bench.ringtail, 'view', '-i', data, '--symfs', root]) as term:
        term.wait_for('? help')
        term.press('/')
        term.type('er$')
        term.press('Enter', 'a')
        term.wait_for('Percent  outer')
        term.press('Home', '/')
        term.type('ret')
        term.wait('the line, while it is typed', lambda lines: '/ret_' in lines[-2])
        term.press('Enter')
        term.wait('the line', lambda lines: re.match(r' 5/\d+ .*/ret', lines[-2]))
        term.press('n')
        term.wait('another line, or none', lambda lines: 'no other line' in lines[-2] or not re.match(r' 5/', lines[-2]))
        term.press('Escape', 'q')
        term.wait('the table keeps its own', lambda lines: re.match(r' 1/2 .*/er\$', lines[-2]))


def test_long_messages(bench):
    """A sentence that is wider than the screen takes more lines."""
    data, root = calling_program(bench)
    with bench.open([bench.ringtail, 'view', '-i', data, '--symfs', root], 40, 10) as term:
        term.wait_for('calls.data')
        term.press('e', 'a')
        term.wait_for('Percent')
        term.press('Home', 'Enter', 'Enter')
        lines = term.wait_for('known')
        lab.expect('the whole sentence', 'the target is in a register or in memory: it is known at run time alone' in
                   ' '.join(' '.join(lines).split()), lines)


def test_addresses_with_children(bench):
    """Callers have addresses, too: those of 'report --children'."""
    data, root = calling_program(bench)
    args = ['--children', '-s', 'symoff', '-i', data, '--symfs', root]
    wanted = subprocess.run([bench.ringtail, 'report', '--stdio', '-q', '-g', 'none', *args], check=True, capture_output=True, text=True)
    wanted = [line.split() for line in wanted.stdout.splitlines() if line.strip()]
    with bench.open([bench.ringtail, 'view', *args]) as term:
        term.wait_for('? help')
        lines = term.wait('rows', lambda lines: any('outer+0x8' in line for line in lines))
        shown = [line[1:].split() for line in lines if re.match(r'[-+ ] +[0-9.]+%', line)]
        lab.expect('the rows of the report', len(wanted) >= 2 and shown == wanted, shown, wanted)


def test_resize(bench):
    with bench.view('plain') as term:
        term.wait_for('? help')
        for place in 'table', 'flame', 'help':
            for columns, lines in (40, 10), (300, 80), (15, 4), (1, 1), (100, 24):
                term.resize(columns, lines)
                if columns >= 20:
                    term.wait(f'{place} at {columns}x{lines}', lambda text, n=lines: len(text) == n + 1 and
                              any('Keys' in s for s in text) if place == 'help' else ' samples' in text[-2])
            term.press({'table': 'f', 'flame': '?', 'help': 'q'}[place])
        for columns, lines in (40, 10), (300, 80):
            term.resize(columns, lines)
            shown = term.wait('the boxes', lambda text, w=columns: len(text) > 4 and 'all' in text[3])
            lab.expect('nothing is wider', max(map(len, shown)) <= columns)
        term.press('q', 'q')
        lab.expect('status 0', ended(term) == 0)


def test_interrupt_and_signals(bench):
    for send in 'C-c', signal.SIGTERM, signal.SIGHUP:
        with bench.view('plain') as term:
            term.wait_for('? help')
            if send == 'C-c':
                term.press(send)
            else:
                os.kill(term.pid('ringtail'), send)
            lab.expect('the status tells the signal', ended(term) == (0 if send == 'C-c' else 128 + send))


def test_suspend_and_resume(bench):
    with bench.open(['bash', '--norc', '-i']) as term:
        data = bench.recording('plain')[0]
        term.type(f'{bench.ringtail} view --symfs {bench.path("root-plain")} {data}')
        term.press('Enter')
        term.wait_for('? help')
        term.press('C-z')
        term.wait_for('Stopped')
        term.type('fg')
        term.press('Enter')
        term.wait_for('? help')
        term.press('j')
        term.wait('it goes on', lambda lines: lines[-2].startswith(' 2/'))


def test_hostile_names(bench):
    with bench.view('hostile', columns=200, lines=60) as term:
        shown = term.wait_for('? help')
        wanted = [row[1].replace(' program', '') for row in json_rows(bench, 'hostile')]
        lab.expect('there are rows', len(rows(shown)) > 40 and wanted)
        term.press('E')
        term.wait('open', lambda lines: any(re.match(r' {4}[-+ ] ', line) for line in lines))
        for key in 'f', 'q', 't', 'Escape', 'd':
            term.press(key)
        text = '\n'.join(term.lines(escapes=True))
        lab.expect('no name has steered the terminal', not re.search('\x1b\\[[0-9;]*31m', text.split('reversed')[0]) or
                   'x1b[31mred' in text)
        lab.expect('escapes stand as text', '\\x1b[31mred' in '\n'.join(shown) or '\\x1b' in text)
        term.press('q')
        lab.expect('status 0', ended(term) == 0)


def test_without_colours(bench):
    for env in {'NO_COLOR': '1'}, {'TERM': 'vt100', 'LC_ALL': 'C'}:
        with bench.view('plain', **env) as term:
            term.wait_for('? help')
            term.press('f')
            term.wait_for('q back')
            text = '\n'.join(term.lines(escapes=True))
            codes = {code for codes in re.findall('\x1b\\[([0-9;]*)m', text) for code in codes.split(';')}
            lab.expect('no colours', not codes - {'', '0', '1', '4', '7', '22', '24', '27', '39', '49'}, codes)
            if 'LC_ALL' in env:
                lab.expect('only ASCII', '\n'.join(term.lines()).isascii())
    with bench.view('plain', TERM='xterm-256color') as term:
        term.wait_for('? help')
        lab.expect('colours', re.search('\x1b\\[[0-9;]*48;5;', '\n'.join(term.lines(escapes=True))))
    with bench.view('plain', TERM='dumb') as term:
        term.wait_for('status=2')
        term.wait_for('cannot move its cursor')
    with bench.view('plain', command='report', TERM='dumb') as term:
        term.wait_for('status=0')


def test_copies(bench):
    with bench.view('plain') as term:
        lines = term.wait_for('? help')
        function = rows(lines)[0][1].split('[.] ')[1]
        term.press('l', 'j', 'y')
        term.wait_for('copied ')
        copied = term.copied().split('\n')
        lab.expect('the row and its frames', copied[0].endswith(function) and copied[1].startswith('\t'), copied)
        term.press('Y')
        term.wait_for('ringtail-stacks.txt')
        path = bench.path('ringtail-stacks.txt')
        with open(path, encoding='utf-8') as f:
            lab.expect('the file has the same', f.read().split('\n') == copied)
        lab.expect('mode 0600', os.stat(path).st_mode & 0o777 == 0o600)
    lab.expect('base64 is that of RFC 4648', base64.b64decode(base64.b64encode(b'a')) == b'a')


def million(bench):
    """A recording with a million rows: each sample at an address of its own."""
    path = bench.path('million.data')
    if not os.path.exists(path):
        out = recording.Recording(path)
        out.comm(100, 100, b'task')
        head = struct.pack('<IHH', recording.SAMPLE, 2, 8 + 48 + 24 + 8)
        for i in range(1000000):
            at = 0x10000 + i * 16
            out.file.write(head + struct.pack('<QQIIQIIQQQQQ', 1, at, 100, 100, 2 * 10**9 + i * 1000, i & 3, 0, 2000000 - i,
                                              2, recording.USER_MARK, at, 0))
        out.close()
    return path


def test_million_rows(bench):
    with bench.open([bench.ringtail, 'view', '--sort', 'comm,sym', million(bench)]) as term:
        term.wait_for('1/1000000 ')
        term.press('G')
        lines = term.wait_for('1000000/1000000 ')
        lab.expect('the last row', '0x0000000000f523f0' in lines[-3], lines[-3])
        term.press('PPage', 'g', 'g')
        term.wait_for('1/1000000 ')
        term.press('/')
        term.type('f523.0$')
        term.press('Enter')
        term.wait_for('1/16 ')
        term.press('Escape')
        term.wait_for('1/1000000 ')
        term.press('E', 'G')
        lines = term.wait_for('2000000/2000000 ')
        term.press('f')
        term.wait_for('q back')
        term.press('q', 'q')
        lab.expect('status 0', ended(term) == 0)


def test_leaving_while_it_loads(bench):
    for key in 'q', 'C-c':
        with bench.open([bench.ringtail, 'view', '--sort', 'comm,sym', million(bench)]) as term:
            term.wait_for('q leaves')
            term.press(key)
            lab.expect('status 0', ended(term) == 0)


def test_broken_recording(bench):
    path = bench.path('broken.data')
    with open(bench.recording('plain')[0], 'rb') as f, open(path, 'wb') as out:
        out.write(f.read()[:50])
    with bench.open([bench.ringtail, 'view', path]) as term:
        lab.expect('status 1', ended(term) == 1)
