# SPDX-License-Identifier: Apache-2.0
"""The file of a page: outputs that fail, wrong options, and what the file contains."""
import os
import re
import shutil
import subprocess

from lab import expect


def html(bench, data, out, *args, status=0, **options):
    """Runs report --html. Returns what it printed on standard error."""
    p = subprocess.run([bench.ringtail, 'report', '-i', data, '--html', out, *args], capture_output=True, timeout=120,
                       check=False, **options)
    expect(f'status {p.returncode}, not {status}:', p.returncode == status, p.stderr[-400:])
    return p.stderr.decode()


def test_full_disk(bench):
    data = bench.recording('plain')[0]
    expect('says why', 'No space left' in html(bench, data, '/dev/full', status=1))
    expect('/dev/full is there', os.path.exists('/dev/full'))


def test_no_part_is_left(bench):
    """A page that does not fit is removed."""
    data, out = bench.recording('plain')[0], bench.path('half.html')
    p = subprocess.run(['bash', '-c', 'ulimit -f 16; trap "" XFSZ; exec "$0" "$@"', bench.ringtail, 'report', '-i', data, '--html', out],
                       capture_output=True, check=False)
    expect('status', p.returncode == 1 and b'File too large' in p.stderr, p.returncode, p.stderr)
    expect('no file is left', not os.path.exists(out))


def test_file_is_private(bench):
    data, path, link = bench.recording('plain')[0], bench.path('private.html'), bench.path('link.html')
    html(bench, data, path, umask=0)
    expect('mode', os.stat(path).st_mode & 0o777 == 0o600, oct(os.stat(path).st_mode))
    os.truncate(path, 0)
    os.symlink(path, link)
    html(bench, data, link, status=1)
    expect('a link is not followed, and stays', os.path.getsize(path) == 0 and os.path.islink(link))
    size = os.path.getsize(data)
    expect('the recording is no output', 'recording itself' in html(bench, data, data, status=1))
    expect('it is as it was', os.path.getsize(data) == size)


def test_standard_output_and_input(bench):
    data, path = bench.recording('plain')[0], bench.path('same.html')
    html(bench, data, path)
    with open(path, 'rb') as f, open(data, 'rb') as recorded:
        page = f.read()
        p = subprocess.run([bench.ringtail, 'report', '-i', data, '--html', '-'], capture_output=True, check=True)
        expect('the same on standard output', p.stdout == page)
        p = subprocess.run(f'cat | "{bench.ringtail}" report -i - --html -', shell=True, stdin=recorded, capture_output=True, check=False)
        expect('a file through a pipe', p.returncode == 0 and len(p.stdout) > len(page) / 2, p.stderr)


def test_directory(bench):
    folder, path = bench.path('folder.data'), bench.path('folder.html')
    os.mkdir(folder)
    shutil.copy(bench.recording('plain')[0], folder + '/data')
    html(bench, folder, path)
    expect('a page', os.path.getsize(path) > 10000)


def test_wrong_options(bench):
    for args in ['--json'], ['--stats'], ['--header-only'], ['-D'], ['--branch-history'], ['-g', 'branch']:
        html(bench, bench.recording('plain')[0], bench.path('wrong.html'), *args, status=2)
    expect('no file', not os.path.exists(bench.path('wrong.html')))
    html(bench, bench.recording('plain')[0], bench.path('none/x.html'), status=1)


def test_page_is_closed(bench):
    """The policy allows hashes alone, names are in no markup, and the page names no other place."""
    with open(bench.page('hostile'), encoding='ascii', errors='surrogateescape') as f:
        page = f.read()
    policy = re.search(r'Content-Security-Policy" content="([^"]*)"', page)[1]
    expect('the policy', policy.startswith("default-src 'none'; script-src 'sha256-") and 'unsafe' not in policy, policy)
    expect('one script runs', len(re.findall(r'<script>', page)) == 1)
    expect('nothing from outside', not re.search(r'https?://|<link|<img|\ssrc=|\shref=', page))
    script = page[page.index('<script>'):page.index('</script>')]
    expect('text is never markup', not re.search(r'innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\b|fetch\(', script))


def test_page_is_small(bench):
    """A large recording gives a page of a tenth of it."""
    data, page = bench.large()
    share = os.path.getsize(page) / os.path.getsize(data)
    expect('at most a tenth', share < 0.1, share)
