# SPDX-License-Identifier: Apache-2.0
"""What commands print on a terminal: colors, lines that fit, a pager, a progress bar."""
import fcntl
import os
import pty
import re
import select
import signal
import struct
import subprocess
import termios
import time

import lab
import recording
import terminal

COLOR = re.compile(r'\x1b\[\d*m')
ENVIRONMENT = {'TERM': 'xterm-256color', 'LC_ALL': 'C.UTF-8', 'PAGER': 'cat'}


def run(bench, *args, columns=100, only='', **env):
    """Runs ringtail in a pseudo terminal; of its streams that in @only ('out', 'err') alone, if any. Returns text, status."""
    master, slave = pty.openpty()
    fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack('HHHH', 24, columns, 0, 0))
    environment = {name: value for name, value in os.environ.items()
                   if name not in ('LESS', 'NO_COLOR', 'RINGTAIL_PAGER', 'DEBUGINFOD_URLS')}
    environment.update(ENVIRONMENT)
    environment.update({name: value for name, value in env.items() if value is not None})
    for name in [name for name, value in env.items() if value is None]:
        environment.pop(name, None)
    child = subprocess.Popen([bench.ringtail, *args], stdin=slave, stdout=slave if only != 'err' else subprocess.DEVNULL,
                             stderr=slave if only != 'out' else subprocess.DEVNULL, env=environment, cwd=bench.folder,
                             start_new_session=True)
    os.close(slave)
    text, end = b'', time.monotonic() + terminal.PATIENCE
    while time.monotonic() < end:
        if not select.select([master], [], [], 1)[0]:
            continue
        try:
            more = os.read(master, 65536)
        except OSError:
            more = b''
        if not more:
            break
        text += more
    os.close(master)
    return text.decode(errors='replace').replace('\r\n', '\n'), child.wait(timeout=terminal.PATIENCE)


def arguments(bench, kind, *args):
    return [args[0], '-i', bench.recording(kind)[0], '--symfs', bench.path(f'root-{kind}'), *args[1:]]


def report(bench, *args, kind='plain', **env):
    return run(bench, *arguments(bench, kind, 'report', '--stdio', *args), **env)


def test_colors_are_those_of_perf(bench):
    plain, _ = report(bench, NO_COLOR='1')
    lab.expect('no escape sequence with NO_COLOR', '\x1b' not in plain, plain[:400])
    colored, status = report(bench)
    lab.expect('status 0', status == 0)
    lab.expect('the text is the same', COLOR.sub('', colored) == plain, colored[:400])
    red = re.findall(r'\x1b\[31m +([0-9.]+)%\x1b\[m', colored)
    green = re.findall(r'\x1b\[32m +([0-9.]+)%\x1b\[m', colored)
    none = re.findall(r'^ +([0-9.]+)%', colored, re.M)
    lab.expect('red from 5 % on', red and all(float(share) >= 5 for share in red), red)
    lab.expect('green below', all(0.5 <= float(share) < 5 for share in green), green)
    lab.expect('none up to 0.5 %', all(float(share) <= 0.5 for share in none), none)
    lab.expect('call graphs, too', re.search(r'--\x1b\[31m[0-9.]+%\x1b\[m--', report(bench, '-g')[0]))
    lab.expect('annotate, too', '\x1b[31m' in run(bench, *arguments(bench, 'plain', 'annotate', '--stdio-color=always'))[0])
    for setting in {'TERM': 'dumb'}, {'TERM': None}:
        lab.expect(f'none with {setting}', '\x1b' not in report(bench, **setting)[0])


def test_color_is_chosen(bench):
    piped = subprocess.run([bench.ringtail, *arguments(bench, 'plain', 'report', '--color=always')], capture_output=True,
                           check=True, text=True).stdout
    lab.expect('always: in a pipe', '\x1b[31m' in piped)
    for option in ['--color=auto'], []:
        piped = subprocess.run([bench.ringtail, *arguments(bench, 'plain', 'report', *option)], capture_output=True,
                               check=True, text=True).stdout
        lab.expect('auto: not in a pipe', '\x1b' not in piped)
    for option in ['--color=never'], ['--stdio-color', 'never']:
        lab.expect('never: not on a terminal', '\x1b' not in report(bench, *option)[0], option)
    for option in '--color=always', '--stdio-color=always':
        lab.expect('always: whatever NO_COLOR says', '\x1b[31m' in report(bench, option, NO_COLOR='1')[0])
    text, status = report(bench, '--color=frob')
    lab.expect('a wrong word', status == 2 and '--color is auto, always or never' in text, text)


def test_reports_fit_the_width(bench):
    wide, _ = report(bench, '-g', '--color=never', columns=200)
    lab.expect('there are long lines', any(len(line) > 50 for line in wide.split('\n') if not line.startswith('#')))
    for columns in 50, 80:
        for color in 'never', 'always':
            lines = COLOR.sub('', report(bench, '-g', f'--color={color}', columns=columns)[0]).split('\n')
            long = [line for line in lines if len(line) > columns and not line.startswith(('# ', 'ringtail: '))]
            lab.expect(f'{columns} columns', not long, long)


def test_narrow_tables_keep_their_names(bench):
    path, file, symbol = bench.path('names.data'), 'libwith-a-long-name.so.1.0', 'do_something_long(struct argument *)'
    root = bench.path('root-names')
    os.mkdir(root)
    with open(os.path.join(root, file), 'wb') as f:
        f.write(recording.elf([symbol.encode()]))
    rec = recording.Recording(path)
    rec.comm(10, 10, b'command-of-some')
    rec.map(10, b'/' + file.encode())
    for _ in range(100):
        rec.sample(10, 10, [0])
    rec.close()
    tables = (['report', '--stdio', '-i', path], ['report', '--stdio', '--show-total-period', '-i', path], ['diff', path, path])
    for command in tables:
        text, _ = run(bench, *command, '--symfs', root, columns=200)
        lab.expect('wide: all is there', f'{file}  [.] {symbol}' in text, text)
        for columns, least in (60, 18), (80, 24), (100, 32):
            text, _ = run(bench, *command, '--symfs', root, columns=columns)
            row = next(COLOR.sub('', line) for line in text.split('\n') if '[.]' in line)
            lab.expect(f'{columns}: a row is a line', len(row) <= columns, text)
            lab.expect(f'{columns}: the name', f'[.] {symbol}'[:least] in row, text)
            lab.expect(f'{columns}: the object', file[:4] in row, text)
    text, _ = run(bench, *tables[0], '-w', '0,30,60', '--symfs', root, columns=60)
    lab.expect('-w keeps all', symbol in text, text)
    text, _ = run(bench, *tables[2], '--sort', 'comm,dso,sym', '--symfs', root, columns=50)
    lab.expect('a line that cannot fit is longer', f'[.] {symbol}'[:18] in text, text)


MARKED = 'sed s/^/paged:/'


def all_paged(text):
    return all(line.startswith('paged:') for line in text.split('\n')[:-1] if not line.startswith('ringtail: '))


def test_pager_is_that_of_the_user(bench):
    for args in (['report', '--stdio'], ['script'], ['annotate'], ['report', '--stdio', '--header'], ['report', '--stats']):
        text, _ = run(bench, *arguments(bench, 'plain', *args), PAGER=MARKED)
        lab.expect(f'PAGER shows {args}', 'paged:' in text and all_paged(text), text[:300])
    data = bench.recording('plain')[0]
    for args in ['dump', data], ['diff', data, data], ['list', 'sw']:
        text, _ = run(bench, *args, PAGER=MARKED)
        lab.expect(f'PAGER shows {args}', 'paged:' in text and all_paged(text), text[:300])
    text, _ = report(bench, PAGER='false', RINGTAIL_PAGER=MARKED)
    lab.expect('RINGTAIL_PAGER wins', all_paged(text), text[:300])
    for env in {'PAGER': MARKED, 'RINGTAIL_PAGER': ''}, {'PAGER': ''}, {'PAGER': 'cat'}, {'PAGER': MARKED, 'TERM': 'dumb'}:
        lab.expect(f'no pager with {env}', 'paged:' not in report(bench, **env)[0])
    text, _ = report(bench, '--no-pager', PAGER=MARKED)
    lab.expect('--no-pager', 'paged:' not in text and '%' in text)
    text, _ = run(bench, '--no-pager', *arguments(bench, 'plain', 'script'), PAGER=MARKED)
    lab.expect('--no-pager before the command', 'paged:' not in text and '+0x' in text, text[:300])
    piped = subprocess.run([bench.ringtail, *arguments(bench, 'plain', 'report')], capture_output=True, check=True, text=True,
                           env={**os.environ, **ENVIRONMENT, 'PAGER': MARKED}).stdout
    lab.expect('none where standard output is no terminal', 'paged:' not in piped and '%' in piped)


def test_less_gets_its_settings(bench):
    tell = 'cat >/dev/null; echo LESS=$LESS'
    lab.expect('FRX', 'LESS=FRX' in report(bench, PAGER=tell)[0])
    lab.expect('the setting of the user stays', 'LESS=-i\n' in report(bench, PAGER=tell, LESS='-i')[0])
    lab.expect('no colors for a less that shows their codes',
               '\x1b[31m' not in report(bench, PAGER='less -F -X', LESS='-F')[0])


def test_less_shows_long_output(bench):
    argv = [bench.ringtail, *arguments(bench, 'plain', 'script')]
    with bench.open(['env', '-u', 'LESS', '-u', 'PAGER', '-u', 'RINGTAIL_PAGER', *argv]) as term:
        term.wait('the prompt of less', lambda lines: any(line.startswith(':') for line in lines))
        os.kill(term.pid('ringtail'), signal.SIGTERM)
        term.press('Space')
        term.wait('less goes on', lambda lines: any(line.startswith(':') for line in lines))
        term.press('q')
        lines = term.wait_for('status=')
        lab.expect('the signal ends ringtail after less', 'status=143' in ' '.join(lines), lines)
        lab.expect('the terminal is as before', ' echo ' in ' '.join(term.wait_for('echo ')))
    with bench.open(['env', '-u', 'LESS', '-u', 'PAGER', '-u', 'RINGTAIL_PAGER', *argv]) as term:
        term.wait('the prompt of less', lambda lines: any(line.startswith(':') for line in lines))
        term.press('q')
        lab.expect('status 0', 'status=0' in ' '.join(term.wait_for('status=')))
    with bench.open(['env', '-u', 'LESS', '-u', 'PAGER', '-u', 'RINGTAIL_PAGER', bench.ringtail,
                     *arguments(bench, 'plain', 'report', '--stdio', '-g', 'none', '--percent-limit', '5')],
                    lines=60) as term:
        lab.expect('short output does not wait', 'status=0' in ' '.join(term.wait_for('status=')))


def test_hostile_pagers(bench):
    wanted, _ = report(bench, NO_COLOR='1')
    text, status = report(bench, PAGER='/nowhere/pager -x', NO_COLOR='1')
    lab.expect('one that is missing', status == 0 and text.endswith(wanted), text[:300])
    lab.expect('and is named', "the pager '/nowhere/pager -x' does not start: No such file" in text, text[:300])
    text, status = report(bench, PAGER='/dev/null', NO_COLOR='1')
    lab.expect('one that may not be executed', status == 0 and text.endswith(wanted) and 'Permission denied' in text)
    for pager in 'head -n 1', 'true', 'false', 'exec 0<&-; true', 'kill -9 $$':
        _, status = run(bench, *arguments(bench, 'plain', 'script'), PAGER=pager)
        lab.expect(f'{pager}: status 0', status == 0, status)
    text, status = report(bench, PAGER='exec /nowhere/$x', NO_COLOR='1')
    lab.expect('one that the shell cannot find', status == 1 and 'ended with status 127; --no-pager' in text, text)
    damaged = bench.path('damaged.data')
    with open(bench.recording('plain')[0], 'rb') as f:
        whole = f.read()
    with open(damaged, 'wb') as f:
        f.write(whole[:-40])
    for pager in 'cat', 'head -n 1', 'sleep 0.3; cat':
        text, status = run(bench, 'report', '--stdio', '-f', '-i', damaged, PAGER=pager)
        lab.expect(f'{pager}: the status for damage stays', status == 1, status, text[-300:])
    text, _ = report(bench, PAGER='sleep 0.3; cat', NO_COLOR='1')
    lab.expect('ringtail waits for a slow one', text == wanted, text[:300])
    text, _ = run(bench, 'report', '--stdio', '-f', '-i', damaged, PAGER='cat; echo end of pager')
    lab.expect('messages come behind it', text.rfind('ringtail: ') > text.find('end of pager') > 0, text[-500:])


def test_progress_of_long_work(bench):
    path = bench.path('long.data')
    rec = recording.Recording(path)
    rec.comm(10, 10, b'work')
    begin = rec.file.tell()
    for i in range(2000):
        rec.sample(10, 10, [i % 7])
    rec.file.flush()
    with open(path, 'rb') as f:
        f.seek(begin)
        block = f.read()
    for _ in range(1000):
        rec.file.write(block)
    rec.close()
    text, status = run(bench, 'report', '--stdio', '-i', path, only='err')
    lab.expect('status 0', status == 0, text[-300:])
    if 'Reading [' not in text and 'Counting [' not in text:
        raise lab.Skipped('this machine reads 2 million samples in less than half a second')
    lab.expect('the bar is erased', '\x1b[K' in text and text.rstrip().endswith('\x1b[K') or 'ringtail: ' in text.split('\x1b[K')[-1],
               text[-200:])
    short, _ = report(bench, only='err')
    lab.expect('none for short work', '[#' not in short and '\r' not in short, short)
    dumb, _ = run(bench, 'report', '--stdio', '-i', path, only='err', TERM='dumb')
    lab.expect('none on a terminal that cannot erase', '[#' not in dumb, dumb[-200:])
