#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Opens recordings whose every sample is known in a terminal (tmux), types keys and reads the cells.

usage: run.py RINGTAIL [NAME ...]     NAME selects tests by substring

It prints `ok NAME`, `FAIL NAME reason` or `skip NAME reason`.
"""
import os
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), 'export'))
import lab  # noqa: E402 pylint: disable=wrong-import-position
import terminal  # noqa: E402 pylint: disable=wrong-import-position
import test_terminal  # noqa: E402 pylint: disable=wrong-import-position
import test_top  # noqa: E402 pylint: disable=wrong-import-position
import test_view  # noqa: E402 pylint: disable=wrong-import-position


class Bench(lab.Lab):
    """Recordings, and terminals that show them."""

    def view(self, kind, *args, command='view', columns=100, lines=24, **env):
        """Opens a recording of recording()."""
        data = self.recording(kind)[0]
        return self.open([self.ringtail, command, '-i', data, '--symfs', self.path(f'root-{kind}'), *args], columns, lines,
                         **env)

    def open(self, argv, columns=100, lines=24, **env):
        return terminal.Terminal(self.folder, argv, columns, lines, **{'LC_ALL': 'C.UTF-8', **env})


def attempt(bench, name, test):
    def guarded(it):
        try:
            test(it)
        except (TimeoutError, subprocess.CalledProcessError) as e:
            raise lab.Failed(str(e)) from e
    return bench.try_test(name, guarded)


def main():
    ringtail, *names = sys.argv[1:]
    failed = 0
    if not shutil.which('tmux'):
        print('skip views tmux is not installed')
        return 0
    with tempfile.TemporaryDirectory() as folder:
        bench = Bench(os.path.abspath(ringtail), folder)
        for name, test in [*vars(test_view).items(), *vars(test_top).items(), *vars(test_terminal).items()]:
            if name.startswith('test_') and (not names or any(word in name for word in names)):
                failed += not attempt(bench, name.removeprefix('test_'), test)
    return 1 if failed else 0


if __name__ == '__main__':
    sys.exit(main())
