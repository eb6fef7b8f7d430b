#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes HTML pages of recordings whose every sample is known, and reads them in Chromium.

usage: run.py [--pictures DIR] RINGTAIL [NAME ...]     NAME selects tests by substring

It prints `ok NAME`, `FAIL NAME reason` or `skip NAME reason`. A page may neither complain nor ask for anything but itself.
With --pictures each view is written to DIR as PNG.
"""
import argparse
import os
import random
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), 'export'))
import browser  # noqa: E402 pylint: disable=wrong-import-position
import lab  # noqa: E402 pylint: disable=wrong-import-position
import recording  # noqa: E402 pylint: disable=wrong-import-position
import test_files  # noqa: E402 pylint: disable=wrong-import-position
import test_page  # noqa: E402 pylint: disable=wrong-import-position
import test_views  # noqa: E402 pylint: disable=wrong-import-position


class Bench(lab.Lab):
    """Recordings, their pages, and the browser that shows them."""

    def __init__(self, ringtail, folder, pictures):
        super().__init__(ringtail, folder)
        self.pictures, self.chromium, self.pages = pictures, None, {}

    def page(self, kind):
        """Returns the path of the page of a recording of recording()."""
        if kind not in self.pages:
            self.pages[kind] = self.path(kind + '.html')
            self.report(kind, '--html', self.pages[kind])
        return self.pages[kind]

    def large(self):
        """Returns the paths of a recording of 100000 samples and of its page, which workers decode."""
        data, page, root = self.path('large.data'), self.path('large.html'), self.path('large-root')
        if os.path.exists(page):
            return data, page
        os.mkdir(root)
        with open(os.path.join(root, 'program'), 'wb') as f:
            f.write(recording.elf([b'function_%d' % i for i in range(50)]))
        out = recording.Recording(data)
        out.comm(100, 100, b'task')
        out.map(100, b'/program')
        chance = random.Random(1)
        for i in range(100000):
            stack = chance.randrange(20000)
            out.sample(100, 100, [stack * 7919 % (k + 3) * 3 % 50 for k in range(12)], 0, 1000 + chance.randrange(251), i % 4)
        out.close()
        subprocess.run([self.ringtail, 'report', '-i', data, '--symfs', root, '--html', page], check=True)
        return data, page

    def browser(self):
        if not shutil.which('chromium'):
            raise lab.Skipped('chromium is not installed')
        if not self.chromium:
            try:
                self.chromium = browser.Browser(self.folder)
            except (OSError, EOFError, TimeoutError) as e:
                raise lab.Skipped(f'chromium does not start: {e}') from e
        return self.chromium

    def show(self, path, fragment=''):
        """Opens a page. Returns the browser."""
        chromium = self.browser()
        lab.expect('the page is shown', chromium.open(path, fragment), chromium.errors)
        return chromium

    def check(self):
        """The page made no errors and asked for nothing."""
        if not self.chromium:
            return
        errors, mine = self.chromium.errors[:], ('file://' + self.folder, 'blob:file:')  # a blob is memory of the page
        self.chromium.errors.clear()
        lab.expect('no errors', not errors, errors)
        others = [url for url in self.chromium.requests if not url.startswith(mine)]
        lab.expect('no requests', not others and sum(u.startswith('file:') for u in self.chromium.requests) <= 1, others)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument('--pictures')
    parser.add_argument('ringtail')
    parser.add_argument('names', nargs='*')
    args = parser.parse_args()
    failed = 0
    with tempfile.TemporaryDirectory() as folder:
        bench = Bench(os.path.abspath(args.ringtail), folder, args.pictures)
        for suite in test_files, test_page, test_views:
            for name, test in vars(suite).items():
                name = f'{suite.__name__.removeprefix("test_")} {name.removeprefix("test_")}'
                if not getattr(test, '__name__', '').startswith('test_') or test.__class__.__name__ != 'function' or (
                        args.names and not any(word in name for word in args.names)):
                    continue

                def both(it, run=test):
                    run(it)
                    it.check()
                failed += not bench.try_test(name, both)
        if bench.chromium:
            bench.chromium.__exit__()
    return 1 if failed else 0


if __name__ == '__main__':
    sys.exit(main())
