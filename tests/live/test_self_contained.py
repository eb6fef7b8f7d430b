# SPDX-License-Identifier: Apache-2.0
"""Recordings name what they have on a machine that has nothing but ringtail and the recording."""
import collections
import glob
import os
import re
import shutil
import signal
import subprocess

from lab import LOAD_DIVISOR, PATIENCE, Skip, need_mount_namespaces, need_root, scaled
from test_eviction import make_programs
from test_faults import FailingFs

PROGRAMS = scaled(3000, 300)
# Of the samples of the load that have the right name.
SHARE = 0.99
VARIANTS = {'first', 'middle', 'last', 'main'}


# --- a bare root -----------------------------------------------------------------------------------

def copy_with_libraries(root, program, name):
    """Copies a program into a root directory with the libraries that it is linked with."""
    # What ldd does, which is in a package of its own.
    shown = subprocess.run([program], text=True, stdout=subprocess.PIPE, check=True,
                           env={**os.environ, 'LD_TRACE_LOADED_OBJECTS': '1'}).stdout
    for library in re.findall(r'(/\S+) \(0x', shown):
        os.makedirs(root + os.path.dirname(library), exist_ok=True)
        shutil.copy(library, root + library)
    shutil.copy(program, f'{root}/{name}')


def bare_root(lab):
    need_root()
    if not os.path.exists(lab.path('bare')):
        os.mkdir(lab.path('bare'))
        copy_with_libraries(lab.path('bare'), f'{lab.release}/src/cli/ringtail', 'ringtail')
    return lab.path('bare')


def samples(lab, data):
    """Yields (comm, symbol, dso) of all samples, as a machine without files sees them."""
    root = bare_root(lab)
    subprocess.run(['rm', '-rf', f'{root}/data'], check=True)
    subprocess.run(['cp', '-r', lab.path(data), f'{root}/data'], check=True)
    shown = subprocess.run(['chroot', root, '/ringtail', 'script', '-i', '/data', '-G', '-F', 'comm,ip,sym,dso'],
                           text=True, stdout=subprocess.PIPE, check=True,
                           env={'PATH': os.environ['PATH'], 'HOME': '/'}).stdout
    for words in (line.split() for line in shown.splitlines() if line.strip()):
        yield words[0], words[2], os.path.basename(words[-1].strip('()'))


def check_names(found, is_right, least=100):
    """Checks that the samples of the load have the right names. Returns them with their numbers."""
    right, wrong = collections.Counter(), collections.Counter()
    for comm, symbol, dso in found:
        (right if is_right(comm, symbol, dso) else wrong)[symbol] += 1
    total = right.total() + wrong.total()
    assert total >= least, (right, wrong)
    assert right.total() >= SHARE * total, (right.total() / total, right.most_common(9), wrong.most_common(9))
    return right


def is_variant(comm, symbol, dso):
    return symbol in VARIANTS or not dso.startswith(comm) and symbol != '[unknown]'


def record(lab, *args):
    return lab.run('record', '-v', '-e', 'cpu-clock:u', '-F', '999', '-g', '-o', 'p.data', *args).stderr


def bare_run(root, *args):
    """Runs ringtail in a root directory that has nothing else. Returns its result."""
    return subprocess.run(['chroot', root, '/ringtail', *args], text=True, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, check=False, env={'PATH': os.environ['PATH'], 'HOME': '/home'})


# --- files that are gone ---------------------------------------------------------------------------

DELETED = f'cp "$1" gone; ./gone {scaled(6000)} & sleep .3; rm gone; wait $!'
MODES = ([], ['-z'], ['--aio'], ['--threads'], ['--threads', '-z'], ['-M', '16M', '--snapshot-on-exit'],
         ['-M', '16M', '--snapshot-on-exit', '-z'], ['--overwrite'],
         ['--switch-output=16K'], ['--switch-output=16K', '--threads'])


def test_a_deleted_program_is_named_in_all_modes(lab):
    for options in MODES:
        record(lab, *options, '--', 'sh', '-c', DELETED, 'sh', lab.program('variants'))
        found = []
        for name in [name for name in os.listdir(lab.path('.')) if name.startswith('p.data')]:
            of_this = list(samples(lab, name))
            found += of_this
            if of_this:  # perf calls it an error that the last output may have none
                lab.perf('report', '-i', name, '--stdio')
            subprocess.run(['rm', '-r', lab.path(name)], check=True)
        check_names([s for s in found if s[0] == 'gone'], is_variant)


def test_a_stream_names_a_deleted_program(lab):
    for options in [], ['-z'], ['--threads']:
        argv = ['record', '-e', 'cpu-clock:u', '-F', '999', '-o', '-', *options, '--', 'sh', '-c', DELETED, 'sh',
                lab.program('variants')]
        with open(lab.path('p.data'), 'wb') as f:
            subprocess.run(lab.argv(argv), cwd=lab.dir, check=True, stdout=f, stderr=subprocess.DEVNULL)
        check_names([s for s in samples(lab, 'p.data') if s[0] == 'gone'], is_variant)


def test_none_keeps_no_names(lab):
    """So the other tests would fail if names came from elsewhere."""
    record(lab, '--symbols=none', '--', 'sh', '-c', DELETED, 'sh', lab.program('variants'))
    assert not VARIANTS & {symbol for _, symbol, _ in samples(lab, 'p.data')}


def test_a_program_in_memory_is_named(lab):
    record(lab, '--', lab.program('in-memory'), lab.program('variants'), scaled(6000))
    found = [s for s in samples(lab, 'p.data') if s[0] != 'in-memory']
    assert check_names(found, is_variant)['last'], found


def test_a_replaced_program_is_named_by_its_build(lab):
    """The second build has other names at the same addresses."""
    script = f'cp "$1" gone; ./gone {scaled(4000)}; cp "$2" next; mv next gone; ./gone {scaled(3000)}; rm gone'
    record(lab, '--', 'sh', '-c', script, 'sh', lab.program('variants'), lab.program('variants-renamed'))
    found = [s for s in samples(lab, 'p.data') if s[0] == 'gone']
    check_names(found, lambda comm, symbol, dso: symbol.startswith('other_') or is_variant(comm, symbol, dso))
    own = [symbol.startswith('other_') for _, symbol, _ in found if re.fullmatch('(other_)?(first|middle|last)', symbol)]
    assert own == sorted(own) and 50 < sum(own) < len(own) - 50, own


def test_a_program_written_in_place_gets_no_wrong_names(lab):
    """Both builds are one file with one number: records do not tell them apart."""
    script = 'cp "$1" gone; ./gone 3000; cat "$2" >gone; ./gone 3000'
    said = record(lab, '--', 'sh', '-c', script, 'sh', lab.program('variants'), lab.program('variants-renamed'))
    found = [s for s in samples(lab, 'p.data') if s[0] == 'gone' and s[2] == 'gone']
    assert len(found) > 100 and {symbol for _, symbol, _ in found} == {'[unknown]'}, found[:9]
    assert re.search(r'--symbols: \d+ places in code without a name, whose files were written in place', said), said


def test_a_container_is_named(lab):
    """A root directory in a mount namespace of its own, which goes with the last process."""
    need_mount_namespaces()
    os.mkdir(lab.path('image'))
    copy_with_libraries(lab.path('image'), lab.program('variants'), 'gone')
    copy_with_libraries(lab.path('image'), '/bin/true', 'true')
    os.mkdir(lab.path('root'))
    script = 'mount -t tmpfs none root && cp -r image/. root && exec chroot root /gone ' + str(scaled(6000))
    record(lab, '--', 'unshare', '-m', 'sh', '-c', script)
    subprocess.run(['rm', '-r', lab.path('image')], check=True)
    check_names([s for s in samples(lab, 'p.data') if s[0] == 'gone'], is_variant)


def test_3000_short_programs_are_named(lab):
    make_programs(lab, PROGRAMS)
    script = 'for p in bin/*; do ./$p 2; done; rm -r bin'
    said = record(lab, '-F', '4000', '--', 'sh', '-c', script)
    found = [s for s in samples(lab, 'p.data') if s[0].startswith('prog')]
    if LOAD_DIVISOR > 1:  # emulated CPUs are in ld.so most of the time, whose functions have names on few machines
        found = [s for s in found if s[1] != '[unknown]' or not s[2].startswith('ld-')]
    check_names(found, lambda comm, symbol, dso: symbol == 'work_' + comm[4:] or symbol in ('main', '_start') or
                dso != comm and symbol != '[unknown]', PROGRAMS)
    named = {symbol for _, symbol, _ in found if symbol.startswith('work_')}
    assert len(named) >= SHARE * PROGRAMS, (len(named), said)


def test_a_removed_perf_map_is_known(lab):
    if os.uname().machine not in ('x86_64', 'aarch64'):
        raise Skip(f'the JIT makes no code for {os.uname().machine}')
    for options in [], ['--threads', '-z'], ['-M', '16M', '--snapshot-on-exit']:
        record(lab, *options, '--', lab.program('jit-map'))
        found = [s for s in samples(lab, 'p.data') if s[0] == 'jit-map']
        right = check_names(found, lambda comm, symbol, dso: symbol.startswith('generated_') or
                            not dso.startswith(('perf-', '[JIT')) and symbol != '[unknown]')
        assert {f'generated_{i}' for i in range(4)} <= set(right), (options, right)
        subprocess.run(['rm', '-r', lab.path('p.data')], check=True)


def test_the_kernel_is_named(lab):
    lab.run('record', '-e', 'cpu-clock:k', '-F', '999', '-o', 'p.data', '--', 'dd', 'if=/dev/zero', 'of=/dev/null', 'bs=64K',
            f'count={scaled(100000)}')
    check_names([s for s in samples(lab, 'p.data') if s[0] == 'dd'],
                lambda comm, symbol, dso: symbol != '[unknown]' and dso == '[kernel.kallsyms]')


def test_a_file_system_that_hangs_costs_only_names(lab):
    """Its server stands still once the program runs, so nothing of its files can be read at the end."""
    disk = FailingFs(lab, 1 << 30, 'EIO')
    with disk:
        shutil.copy(lab.program('variants'), lab.path('behind/gone'))
        child = lab.start('record', '-e', 'cpu-clock', '-F', '999', '-g', '-o', 'p.data', '--', 'sh', '-c',
                          'disk/gone 4000; kill -STOP $1', 'sh', str(disk.server.pid), release=True)  # LSan waits for all threads
        try:
            said = child.communicate(timeout=PATIENCE)[1]
        finally:
            os.kill(disk.server.pid, signal.SIGCONT)
    assert child.returncode == 0 and 'places in code not looked up' in said, (child.returncode, said)
    assert len(list(samples(lab, 'p.data'))) > 100


# --- lines -----------------------------------------------------------------------------------------

FIELDS = ['-F', 'comm,ip,sym,srcline']


def bare_script(lab, data):
    """Samples with lines and inlined functions, as a machine without files sees them."""
    root = bare_root(lab)
    subprocess.run(['rm', '-rf', f'{root}/data'], check=True)
    subprocess.run(['cp', '-r', lab.path(data), f'{root}/data'], check=True)
    return subprocess.run(['chroot', root, '/ringtail', 'script', '-i', '/data', *FIELDS], text=True,
                          stdout=subprocess.PIPE, check=True, env={'PATH': os.environ['PATH'], 'HOME': '/'}).stdout


def places(shown):
    """How many lines of the program's source, and how many of them of inlined functions."""
    return shown.count('inlined.c:'), len(re.findall(r'inlined\.c:\d+ \(inlined\)', shown))


def test_lines_are_those_of_the_recording_machine(lab):
    for options in [], ['-z'], ['-M', '16M', '--snapshot-on-exit']:
        record(lab, '--symbols=lines', *options, '--', lab.program('inlined'), '9000')
        lab.run('pack', '--symbols=none', '-o', 'none.data', 'p.data')
        here = lab.run('script', '-i', 'none.data', *FIELDS).stdout
        assert all(n > 50 for n in places(here)) and 'innermost' in here and 'between' in here, here[:3000]
        assert places(bare_script(lab, 'none.data')) == (0, 0)
        assert bare_script(lab, 'p.data') == here
        own = r'inlined: the recording itself has the source lines of \d+ pieces? of code'
        assert re.search(own, lab.run('script', '-v', '-i', 'p.data', *FIELDS).stderr)
        assert not re.search(own, lab.run('script', '-v', '-i', 'none.data', *FIELDS).stderr)
        lab.run('pack', '--symbols=lines', '-o', 'lines.data', 'none.data')
        assert bare_script(lab, 'lines.data') == here
        # Packed again, lines stay; names alone are asked for by name.
        lab.run('pack', 'lines.data')
        assert bare_script(lab, 'lines.data') == here
        lab.run('pack', '--symbols=names', 'lines.data')
        assert places(bare_script(lab, 'lines.data')) == (0, 0)
        assert lab.perf('script', '-i', 'p.data', '-F', 'comm,ip,sym').stdout.count('inlined') > 50
        os.unlink(lab.path('p.data'))


def test_lines_are_in_directories_and_streams(lab):
    record(lab, '--symbols=lines', '--threads', '--', lab.program('inlined'), '9000')
    assert all(n > 50 for n in places(bare_script(lab, 'p.data')))
    with open(lab.path('q.data'), 'wb') as f:
        subprocess.run(lab.argv(['record', '--symbols=lines', '-e', 'cpu-clock:u', '-F', '999', '-g', '-o', '-', '--',
                                 lab.program('inlined'), '9000']), check=True, stdout=f, stderr=subprocess.DEVNULL)
    assert all(n > 50 for n in places(bare_script(lab, 'q.data')))


def test_lines_of_a_deleted_program(lab):
    script = 'cp "$1" gone; ./gone 9000 & sleep .3; rm gone; wait $!'
    record(lab, '--symbols=lines', '--', 'sh', '-c', script, 'sh', lab.program('inlined'))
    assert all(n > 30 for n in places(bare_script(lab, 'p.data')))


def test_lines_have_a_budget(lab):
    said = record(lab, '--symbols=lines', '--symbols-budget=100B', '--', lab.program('inlined'), '3000')
    assert re.search(r'--symbols: \d+ places in code without source lines, beyond --symbols-budget', said), said
    said = lab.run('pack', '--symbols=lines', '--symbols-budget=100', 'p.data').stderr
    assert re.search(r'\d+ places? in code left without source lines: the budget is 100 B', said), said


# --- exports and code ------------------------------------------------------------------------------

FORMATS = 'folded', 'speedscope', 'pprof', 'otlp', 'chrome', 'perfetto', 'firefox', 'parquet'


def test_exports_are_the_same_on_a_bare_machine(lab):
    record(lab, '--symbols=lines', '--', lab.program('inlined'), '9000')
    root = bare_root(lab)
    shutil.copy(lab.path('p.data'), f'{root}/data')
    for name in FORMATS:
        lab.run('export', '--to', name, '-i', 'p.data', '-o', 'here')
        done = bare_run(root, 'export', '--to', name, '-i', '/data', '-o', '/there')
        assert done.returncode == 0, (name, done.stderr)
        assert subprocess.run(['diff', '-r', lab.path('here'), f'{root}/there'], check=False).returncode == 0, name
        subprocess.run(['rm', '-r', lab.path('here'), f'{root}/there'], check=True)
    assert ';between;innermost ' in bare_run(root, 'export', '--to', 'folded', '-i', '/data', '-o', '-').stdout


def test_an_archive_has_the_code_for_annotate(lab):
    """A recording has no code. Without an archive annotate says what is missing."""
    record(lab, '--symbols=lines', '--', lab.program('inlined'), '9000')
    root = bare_root(lab)
    shutil.copy(lab.path('p.data'), f'{root}/data')
    words = 'annotate', '--stdio', '-i', '/data', '-s', 'work'
    assert re.search('work in .*inlined: no code: ', bare_run(root, *words).stderr)
    lab.run('pack', '--perf', '-o', 'code.tar', 'p.data')
    os.makedirs(f'{root}/home/.debug')
    subprocess.run(['tar', 'xf', lab.path('code.tar'), '-C', f'{root}/home/.debug'], check=True)
    library = next(iter(glob.glob('/usr/lib/*/libcapstone.so.[0-9]')), None)
    if not library:
        raise Skip('libcapstone is not installed')
    os.makedirs(root + os.path.dirname(library), exist_ok=True)
    shutil.copy(library, root + library)
    shown = bare_run(root, *words).stdout
    assert '<work>:' in shown and re.search(r'inlined\.c:\d+', shown), shown[:2000]
