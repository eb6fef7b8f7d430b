# SPDX-License-Identifier: Apache-2.0
"""Recordings that carry the names of their functions, for machines that have none of the programs."""
import collections
import os
import re
import shutil
import subprocess

from lab import Skip, scaled


def names(lab, data):
    """{symbol: percentage} on a machine without files and without a user's cache."""
    os.makedirs(lab.path('empty'), exist_ok=True)
    env = dict(os.environ, HOME=lab.path('empty'), XDG_CACHE_HOME=lab.path('empty'))
    shown = lab.run('report', '-i', data, '--sort', 'dso,symbol', '--stdio', '--symfs', lab.path('empty'),
                    '-k', '/dev/null', '--no-children', '-g', 'none', env=env).stdout
    return table(shown)


def of_perf(lab, data):
    """perf's table without its tip of the day."""
    shown = lab.perf('report', '-i', data, '--stdio', '--sort', 'comm', '-g', 'none').stdout
    return [line for line in shown.splitlines() if '(Tip: ' not in line]


def table(shown):
    """{symbol: percentage} of a report."""
    return {line.split('] ', 1)[1].strip(): float(line.split('%')[0])
            for line in shown.splitlines() if re.match(r' +\d+\.\d+%', line)}


def record_program(lab, *options):
    """Records a program that the test deletes. Returns the names that are known before."""
    shutil.copy(lab.program('variants'), lab.path('gone'))
    lab.run('record', '--symbols=none', '-e', 'cpu-clock', '-F', '999', '-g', '-o', 'p.data', *options, '--', lab.path('gone'),
            '3000')
    shown = lab.run('report', '-i', 'p.data', '--sort', 'dso,symbol', '--stdio', '--no-children', '-g', 'none').stdout
    return table(shown)


def test_a_packed_recording_needs_no_files(lab):
    for options in [], ['-z'], ['--threads']:
        before = record_program(lab, *options)
        known = {name: share for name, share in before.items() if not name.startswith('0x')}
        assert sum(known.values()) > 90, before
        directory = os.path.isdir(lab.path('p.data'))
        counts = None if directory else of_perf(lab, 'p.data')
        size = sum(os.path.getsize(os.path.join(at, f)) for at, _, files in os.walk(lab.path('.')) for f in files)
        said = lab.run('pack', 'p.data').stderr
        assert re.search(r'p\.data: carries the names of [\d,]+ functions in [\d,]+ files', said), said
        grown = sum(os.path.getsize(os.path.join(at, f)) for at, _, files in os.walk(lab.path('.')) for f in files)
        assert grown - size < 200000, (size, grown)
        os.unlink(lab.path('gone'))
        assert names(lab, 'p.data') == before
        said = lab.run('report', '-i', 'p.data', '-v').stderr
        assert re.search(r'gone: the recording itself names \d+ function', said), said
        assert directory or of_perf(lab, 'p.data') == counts
        # Packing where the program is gone loses nothing; without the table its names are lost.
        lab.run('pack', 'p.data')
        assert names(lab, 'p.data') == before
        lab.run('pack', '--symbols', 'none', 'p.data')
        assert collections.Counter(names(lab, 'p.data')) != collections.Counter(before)
        subprocess.run(['rm', '-r', lab.path('p.data')], check=True)


def test_record_keeps_the_names_of_a_program_that_vanishes(lab):
    """--symbols=names: the program's file goes while it runs, so nothing else can name its functions."""
    script = f'cp {lab.program("variants")} gone; ./gone {scaled(6000)} & sleep .4; rm gone; wait $!'
    for options in [], ['-z'], ['--aio'], ['--threads'], ['-M', '16M', '--snapshot-on-exit']:
        for symbols in 'none', 'names':
            lab.run('record', f'--symbols={symbols}', '-e', 'cpu-clock:u', '-F', '999', '-g', '-o', 'p.data', *options, '--',
                    'sh', '-c', script)
            shares = names(lab, 'p.data')
            known = sum(share for name, share in shares.items() if name in ('first', 'middle', 'last'))
            assert known > 80 if symbols == 'names' else known == 0, (options, symbols, shares)
        lab.perf('report', '-i', 'p.data', '--stdio')
        assert 'ERROR' not in lab.run('report', '-i', 'p.data', '-v').stderr
        subprocess.run(['rm', '-r', lab.path('p.data')], check=True)


def test_a_budget_keeps_what_is_hot(lab):
    before = record_program(lab)
    hottest = max(before, key=before.get)
    said = lab.run('pack', '--symbols-budget', '64', '-o', 'q.data', 'p.data').stderr
    assert re.search(r'functions? left out: the budget is 64 B', said), said
    os.unlink(lab.path('gone'))
    found = names(lab, 'q.data')
    assert found.get(hottest) == before[hottest], (found, before)
    assert lab.samples('q.data') == lab.samples('p.data')


def refused(lab, words, *args):
    """Expects a refusal with these words; p.data stays as it is."""
    with open(lab.path('p.data'), 'rb') as f:
        before = f.read()
    said = lab.run('pack', *args, status=1).stderr
    assert re.search(words, said), said
    with open(lab.path('p.data'), 'rb') as f:
        assert f.read() == before
    left = [name for name in os.listdir(lab.path('.')) if re.fullmatch(r'.\.data\..{6}', name)]
    assert not left, left


def test_a_recording_that_is_open_for_writing_stays(lab):
    record_program(lab)
    with open(lab.path('p.data'), 'r+b'):
        refused(lab, 'open for writing', 'p.data')
    lab.run('pack', 'p.data')


def test_damage_is_not_hidden(lab):
    for stream in False, True:
        record_program(lab)
        if stream:
            with open(lab.path('p.data'), 'wb') as f:
                subprocess.run(lab.argv(['record', '--symbols=none', '-e', 'cpu-clock', '-o', '-', '--', lab.path('gone'), '300']),
                               check=True, stdout=f, stderr=subprocess.DEVNULL)
        size = os.path.getsize(lab.path('p.data'))
        os.truncate(lab.path('p.data'), size // 2 if not stream else size - 3)
        refused(lab, 'leaves a damaged recording as it is', 'p.data')
        refused(lab, 'leaves a damaged recording as it is', 'p.data', '-o', 'q.data')
        assert not os.path.exists(lab.path('q.data'))


def test_an_output_is_a_file(lab):
    record_program(lab)
    refused(lab, '/dev/null is not a regular file', 'p.data', '-o', '/dev/null')
    os.symlink('/dev/null', lab.path('null'))
    refused(lab, 'null is not a regular file', 'p.data', '-o', 'null')
    refused(lab, 'pack writes a file', 'p.data', '-o', '-')
    os.symlink('p.data', lab.path('link'))
    lab.run('pack', '-i', 'p.data', '-o', 'link')
    assert os.path.islink(lab.path('link'))


def test_a_replaced_program_gets_no_names(lab):
    if not shutil.which('objcopy'):
        raise Skip('no objcopy (package binutils)')
    for name, program in ('first', lab.program('variants')), ('next', lab.release + '/demo/workload'):
        subprocess.run(['objcopy', '--remove-section', '.note.gnu.build-id', program, lab.path(name)], check=True)
    with open(lab.path('both'), 'w', encoding='ascii') as f:
        f.write('cp first gone; ./gone 1000; mv next gone; ./gone 60')
    lab.run('record', '--symbols=none', '-e', 'cpu-clock', '-F', '999', '-o', 'p.data', '--', 'sh', 'both')
    said = lab.run('pack', 'p.data').stderr
    assert re.search('functions? left out: programs of one name', said), said
    said = lab.run('report', '-i', 'p.data', '-v').stderr
    assert 'pack left them out' in said and 'gone: the recording itself' not in said, said


def test_code_at_an_address_used_again_gets_no_names(lab):
    if os.uname().machine not in ('x86_64', 'aarch64'):
        raise Skip(f'the JIT makes no code for {os.uname().machine}')
    lab.run('record', '--symbols=none', '-q', '-k', 'mono', '-e', 'cpu-clock:u', '-F', '400', '-o', 'p.data', '--', lab.program('jit'),
            lab.path('.'), release=True)
    left_out = '2 functions left out: .*code at one address'
    p = lab.run('pack', '-i', 'p.data', '-o', 'q.data', status=None)
    assert re.search(left_out, p.stderr), p.stderr
    if p.returncode:
        refused(lab, 'no function to carry(.|\n)*' + left_out, 'p.data')
        return
    # A sample of the program's start, in a function that stays.
    for name in os.listdir(lab.dir):
        if name.endswith('.dump'):
            os.unlink(lab.path(name))
    assert not {'first', 'second'} & set(names(lab, 'q.data')), p.stderr


def test_a_budget_without_a_function_writes_nothing(lab):
    record_program(lab)
    refused(lab, 'no function to carry', 'p.data', '--symbols-budget', '1')


def test_a_stream_is_packed_again(lab):
    record_program(lab)
    for options in ['--symbols=none'], [], ['-z']:
        with open(lab.path('p.data'), 'wb') as f:
            subprocess.run(lab.argv(['record', *options, '-e', 'cpu-clock', '-o', '-', '--', lab.path('gone'), '300']),
                           check=True, stdout=f, stderr=subprocess.DEVNULL)
        lab.run('pack', '-o', 'q.data', 'p.data')
        size = os.path.getsize(lab.path('q.data'))
        named = names(lab, 'q.data')
        assert 'middle' in str(named), named
        lab.run('pack', 'q.data')  # the table takes the place of the one before
        assert names(lab, 'q.data') == named and os.path.getsize(lab.path('q.data')) == size
        lab.run('pack', '--symbols=none', 'q.data')
        assert os.path.getsize(lab.path('q.data')) < size and 'middle' not in str(names(lab, 'q.data'))
        with open(lab.path('q.data'), 'rb') as f:
            shown = subprocess.run(['perf', 'report', '-i', '-', '--stdio'], stdin=f, text=True, check=True,
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE).stdout
        assert 'gone' in shown, shown


def test_an_archive_for_perf_has_what_perf_needs(lab):
    if not shutil.which('perf'):
        raise Skip('no perf (package linux-perf)')
    before = record_program(lab)
    known = {name for name, share in before.items() if share > 5 and not name.startswith('0x')}
    assert known, before
    said = lab.run('pack', '--perf', 'p.data').stderr
    assert re.search(r'p\.data\.tar\.bz2: has \d+ files?; .* tar xf p\.data\.tar\.bz2 -C ~/\.debug', said), said
    os.unlink(lab.path('gone'))
    os.makedirs(lab.path('home/.debug'))
    shown = {}
    for home in 'empty', 'home':
        os.makedirs(lab.path(home), exist_ok=True)
        if home == 'home':
            subprocess.run(['tar', 'xf', lab.path('p.data.tar.bz2'), '-C', lab.path('home/.debug')], check=True)
        text = subprocess.run(['perf', 'report', '--stdio', '--no-children', '-i', lab.path('p.data'), '--sort', 'sym', '-g',
                               'none', '--no-inline'], env=dict(os.environ, HOME=lab.path(home)), check=True, text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout
        shown[home] = set(re.findall(r'\[[.k]\] (\S+)', text))
    assert known <= shown['home'], (known, shown)
    assert not known & shown['empty'], (known, shown)


def test_an_archive_says_what_it_lacks(lab):
    record_program(lab)
    os.unlink(lab.path('gone'))
    said = lab.run('pack', '--perf', '-v', 'p.data').stderr
    assert re.search(r'gone is not in the archive: ', said), said
    assert re.search(r'\d+ files? with samples (is|are) not in the archive', said), said
    lab.run('pack', '--perf', '-o', '/dev/full', 'p.data', status=1)
    # An archive that fails leaves the one before as it is.
    with open(lab.path('p.data.tar.bz2'), 'w', encoding='ascii') as f:
        f.write('earlier')
    script = 'trap "" XFSZ; ulimit -f 8; exec "$@"'
    failed = subprocess.run(['sh', '-c', script, 'sh', *lab.argv(['pack', '--perf', 'p.data'])], cwd=lab.dir, check=False,
                            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    with open(lab.path('p.data.tar.bz2'), encoding='ascii') as f:
        assert failed.returncode and f.read() == 'earlier'
    assert not os.path.exists(lab.path('p.data.tar.bz2.part'))
    said = lab.run('pack', '--perf', '--symbols=none', 'p.data', status=2).stderr
    assert 'leave out --symbols' in said, said
