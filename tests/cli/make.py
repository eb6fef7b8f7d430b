#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tries a newcomer's commands: make, make run, make install and uninstall; and tests/run where nothing builds.

usage: make.py [NAME ...]     NAME selects by substring

For root, the tree belongs to another user. Prints `ok NAME` or `FAIL NAME reason`;
exit status 1 on failure.
"""
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import traceback

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
OTHER = 65534  # nobody
FAKES = {
    # Configures, and notes with which options.
    'meson': 'echo "$@" >>"$FAKES/said"; mkdir -p "$2" && touch "$2/build.ninja"',
    'ninja': 'echo "x.c:1: error: no such thing"; exit 1',
    'cc': 'echo "$FAKE_VERSION"',
}


class Tree:
    """A copy of the sources; for root, it belongs to another user."""

    def __init__(self, folder):
        self.top = folder + '/tree'
        self.other = os.geteuid() == 0
        self.env = dict(os.environ, CCACHE_DISABLE='1', HOME=folder, LC_ALL='C')
        for name in 'MAKEFLAGS', 'MFLAGS', 'MAKELEVEL', 'DESTDIR', 'CFLAGS':
            self.env.pop(name, None)
        shutil.copytree(TOP, self.top, symlinks=True, ignore=lambda path, names: [
            name for name in names if path == TOP and name.startswith(('build', '.git', 'perf.data'))
            or name == '__pycache__'])
        os.chmod(folder, 0o755)
        if self.other:
            for path, _, names in os.walk(self.top):
                for name in ['.', *names]:
                    os.lchown(os.path.join(path, name), OTHER, OTHER)

    def run(self, *argv, owner=False, status=0):
        """Runs a command and returns its output; with `owner`, as the owner of the tree."""
        if owner and self.other:
            argv = ['setpriv', f'--reuid={OTHER}', f'--regid={OTHER}', '--clear-groups', *argv]
        p = subprocess.run(argv, cwd=self.top, env=self.env, text=True, errors='replace', check=False,
                           stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        assert p.returncode == status, f'{" ".join(argv)}: exit {p.returncode}: {p.stdout[-1500:]}'
        return p.stdout


def contents(folder):
    """Returns {path: content} of everything below a folder."""
    found = {}
    for path, _, names in os.walk(folder):
        found[os.path.relpath(path, folder)] = None
        for name in names:
            with open(os.path.join(path, name), 'rb') as f:
                found[os.path.relpath(f.name, folder)] = f.read()
    return found


def write(path, text, mode=0o644):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, 'w', encoding='utf-8') as f:
        f.write(text)
    os.chmod(path, mode)


def foreign(tree):
    """Lists the files in the tree that another user than its owner made."""
    uid = OTHER if tree.other else os.getuid()
    return [os.path.join(path, name) for path, _, names in os.walk(tree.top) for name in ['.', *names]
            if os.lstat(os.path.join(path, name)).st_uid != uid]


def check_library(tree, prefix):
    """A program builds with the flags of pkg-config, and runs."""
    found = [os.path.join(path, name) for path, _, names in os.walk(prefix) for name in names]
    config = next(name for name in found if name.endswith('/pkgconfig/ringtail.pc'))
    linked = next(name for name in found if name.endswith('/libringtail.so'))
    assert os.path.islink(linked) and os.path.exists(linked + '.0'), found
    tree.env['PKG_CONFIG_PATH'] = os.path.dirname(config)
    flags = tree.run('pkg-config', '--cflags', '--libs', 'ringtail').split()
    program = prefix + '-program'
    write(program + '.c', '#include <ringtail/ringtail.h>\nint main(void) { return *ringtail_version() != 48; }\n')
    tree.run('cc', '-o', program, program + '.c', *flags, f'-Wl,-rpath,{os.path.dirname(linked)}')
    assert 'libringtail.so.0' in tree.run('ldd', program)
    tree.run(program)


def test_make_run_and_install(folder):
    """The owner runs them, then root, then the owner again."""
    tree = Tree(folder)
    # Built as make does, but quickly.
    tree.run('meson', 'setup', 'build/release', '--buildtype', 'plain', owner=True)
    said = tree.run('make', 'run', owner=True)
    data = said.rsplit('report -i ', 1)[1].split()[0]
    assert said.count(data) >= 4, said
    out = tree.run('build/release/src/cli/ringtail', 'report', '-i', data, '--stdio', owner=True)
    assert 'scan_tokens' in out, out

    prefix = folder + '/prefix'
    write(prefix + '/bin/other', 'not of ringtail')
    os.makedirs(prefix + '/share/man')
    before = contents(prefix)
    with open(tree.top + '/src/cli/main.c', 'a', encoding='ascii') as f:
        f.write('\n')  # something to build, for root
    tree.run('make', 'install', f'PREFIX={prefix}')
    assert foreign(tree) == []
    tests = [name for name in contents(tree.top + '/build') if os.path.basename(name).startswith(('test-', 'storm'))
             and not name.endswith('.p') and '.p/' not in name]
    assert tests == [], tests
    added = contents(prefix).keys() - before
    assert added >= {'bin/ringtail', 'share/man/man1/ringtail.1', 'lib/systemd/system/ringtail.service'}, added
    check_library(tree, prefix)
    with open(prefix + '/lib/systemd/system/ringtail.service', encoding='utf-8') as f:
        assert f'ExecStart={prefix}/bin/ringtail record' in f.read()
    assert 'ringtail 0' in tree.run(prefix + '/bin/ringtail', 'version', owner=True)
    with open(tree.top + '/src/cli/main.c', 'a', encoding='ascii') as f:
        f.write('\n')
    tree.run('make', owner=True)
    assert foreign(tree) == []

    # Another version had one file more. What is not in the list, and what is not empty, stays.
    write(prefix + '/share/ringtail/old', 'of an old version')
    with open(prefix + '/share/ringtail/installed', 'a', encoding='utf-8') as f:
        f.write('share/ringtail/old\n')
    tree.run('make', 'install', f'PREFIX={prefix}')
    assert not os.path.exists(prefix + '/share/ringtail/old')
    tree.run('make', 'uninstall', f'PREFIX={prefix}')
    assert contents(prefix) == before, contents(prefix).keys() ^ before.keys()
    said = tree.run('make', 'uninstall', f'PREFIX={prefix}', status=2)
    assert 'nothing was installed there' in said, said
    assert foreign(tree) == []

    # A package is made below DESTDIR, of the same paths.
    tree.run('make', 'install', 'PREFIX=/usr', f'DESTDIR={folder}/package')
    assert os.path.exists(folder + '/package/usr/bin/ringtail')
    with open(folder + '/package/usr/lib/systemd/system/ringtail.service', encoding='utf-8') as f:
        assert 'ExecStart=/usr/bin/ringtail record' in f.read()
    tree.run('make', 'uninstall', 'PREFIX=/usr', f'DESTDIR={folder}/package')
    assert contents(folder + '/package').keys() <= {'.'}


def install_with_fake(folder, *argv, may=True, destdir=''):
    """Runs scripts/install where the linker searches only PREFIX/known. Returns (output, number of calls of
    ldconfig)."""
    prefix = folder + '/prefix'
    write(folder + '/bin/ldconfig', f"""#!/bin/sh
if [ "$1" ]; then printf '%s: (from test:1)\\n\\tlibx.so.0 -> libx.so.0.1\\n' {prefix}/known; exit 0; fi
echo >>{folder}/ran
exit {int(not may)}
""", 0o755)
    write(folder + '/ran', '')
    env = dict(os.environ, PATH=f'{folder}/bin:{os.environ["PATH"]}', DESTDIR=destdir)
    p = subprocess.run([TOP + '/scripts/install', *argv, prefix], env=env, text=True, check=True, stdout=subprocess.PIPE)
    with open(folder + '/ran', encoding='utf-8') as f:
        return p.stdout, len(f.readlines())


def test_install_updates_the_linker(folder):
    stage, prefix = folder + '/stage', folder + '/prefix'
    for where, runs, advice in ('known', 1, 'run as root: ldconfig'), ('other', 0, f'LD_LIBRARY_PATH={prefix}/other'):
        library = f'{stage}{prefix}/{where}/libringtail.so.0.1'
        write(library, 'a library')
        said, ran = install_with_fake(folder, stage)
        assert (ran, advice in said) == (runs, where == 'other'), (where, ran, said)
        said, ran = install_with_fake(folder, stage, may=False)
        assert ran == runs and advice in said, (where, ran, said)
        said, ran = install_with_fake(folder, '--remove')
        assert ran == runs and advice not in said and not os.path.exists(prefix), (where, ran, said)
        for argv in (stage,), ('--remove',):
            said, ran = install_with_fake(folder, *argv, destdir=folder + '/package')
            assert ran == 0 and 'LD_LIBRARY' not in said, (where, ran, said)
        os.unlink(library)
    write(f'{stage}{prefix}/known/ringtail', 'no library')
    said, ran = install_with_fake(folder, stage)
    assert ran == 0, said


def run_with_fakes(folder, version, *suites):
    """Runs tests/run where no program builds. Returns (status, output, the arguments that Meson got)."""
    write(folder + '/tree/tests/run', '', 0o755)
    shutil.copy(TOP + '/tests/run', folder + '/tree/tests/run')
    for name, text in FAKES.items():
        write(f'{folder}/bin/{name}', f'#!/bin/sh\n{text}\n', 0o755)
    env = dict(os.environ, PATH=f'{folder}/bin:{os.environ["PATH"]}', FAKES=folder, FAKE_VERSION=version)
    p = subprocess.run([folder + '/tree/tests/run', *suites], env=env, text=True, check=False,
                       stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    with open(folder + '/said', encoding='utf-8') as f:
        return p.returncode, p.stdout, f.read()


def test_a_failed_build_ends_the_run(folder):
    status, out, _ = run_with_fakes(folder, '12', 'build-gcc', 'golden', 'manual')
    assert status == 1 and out.splitlines()[-1] == '0 passed, 1 failed, 0 skipped', out
    assert 'stopped: build-gcc failed' in out and 'golden, manual' in out and '== golden' not in out, out
    assert 'error: no such thing' in out, out


def test_warnings_are_errors_of_known_compilers_alone(folder):
    for version, strict in ('12', 'true'), ('14', 'false'), ('12.2.0', 'true'), ('16', 'false'), ('120', 'false'):
        said = run_with_fakes(f'{folder}/{version}', version, 'build-gcc')[2]
        assert f'-Dwerror={strict}' in said, (version, said)


def test_make_dist_is_reproducible(folder):
    """Two checkouts of a commit, of users with other umasks and settings of xz, make the same bytes."""
    author = ['-c', 'user.name=x', '-c', 'user.email=x@example.org']
    made = []
    for umask, threads in ('022', '-T1'), ('077', '-9 -T2'):
        top = f'{folder}/{umask}'
        subprocess.run(['sh', '-ec', f'umask {umask}; mkdir -p {top}; cp --no-preserve=mode {TOP}/meson.build {top}; '
                        f'cp -r {TOP}/scripts {top}; chmod -R go-rwx {top}' if umask == '077' else
                        f'mkdir -p {top}; cp {TOP}/meson.build {top}; cp -r {TOP}/scripts {top}'], check=True)
        env = dict(os.environ, XZ_OPT=threads, GIT_COMMITTER_DATE='@1700000000 +0000', GIT_CONFIG_GLOBAL='/dev/null')
        for argv in ['init', '-q'], ['add', '-A'], [*author, 'commit', '-q', '-m', 'all']:
            subprocess.run(['git', *argv], cwd=top, env=env, check=True)
        subprocess.run(['sh', '-ec', f'umask {umask}; scripts/package dist'], cwd=top, env=env, check=True,
                       stdout=subprocess.DEVNULL)
        dist = next(name for name in os.listdir(top + '/build/dist') if name.endswith('.tar.xz'))
        with open(f'{top}/build/dist/{dist}', 'rb') as f:
            made.append(f.read())
    assert made[0] == made[1], [len(data) for data in made]


def run_one(name, function):
    """Runs one test. Returns False if it failed."""
    with tempfile.TemporaryDirectory(prefix='ringtail-make-', ignore_cleanup_errors=True) as folder:
        try:
            function(folder)
            print('ok', name, flush=True)
        except Exception as reason:  # a test that dies is a failed test, and the next one's turn
            frame = traceback.extract_tb(reason.__traceback__)[1]
            print('FAIL', name, f'{frame.lineno}: {frame.line}', f'{type(reason).__name__} {reason}'.replace('\n', '\n    '),
                  flush=True)
            return False
    return True


def main():
    wanted, fine = sys.argv[1:], True
    signal.signal(signal.SIGTERM, lambda number, _: sys.exit(128 + number))
    for name, function in list(globals().items()):
        if name.startswith('test_') and (not wanted or any(word in name for word in wanted)):
            fine &= run_one(name[len('test_'):], function)
    return 0 if fine else 1


if __name__ == '__main__':
    sys.exit(main())
