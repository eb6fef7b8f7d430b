# SPDX-License-Identifier: Apache-2.0
"""Recordings name what they have on a machine that has nothing but ringtail and the recording."""
import collections
import os
import re
import shutil
import subprocess

from lab import Skip, need_mount_namespaces, need_root, scaled
from test_eviction import make_programs

PROGRAMS = scaled(3000, 300)
# Of the samples of the load that have the right name.
SHARE = 0.99
VARIANTS = {'first', 'middle', 'last', 'main'}


# --- a bare root -----------------------------------------------------------------------------------

def copy_with_libraries(root, program, name):
    """Copies a program into a root directory with the libraries that it is linked with."""
    shown = subprocess.run(['ldd', program], text=True, stdout=subprocess.PIPE, check=True).stdout
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
