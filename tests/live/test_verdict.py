# SPDX-License-Identifier: Apache-2.0
"""What a report says about the worth of its own data, for recordings that are bad in one way each."""
import json
import os
import re
import shutil
import subprocess

from lab import LONGER, NOBODY, Skip, need_root, scaled


def verdicts(lab, data, *options):
    """Returns the lines above the tables, and checks that JSON has the same."""
    out = lab.run('report', '-i', data, *options).stdout
    lines = re.findall(r'^# (Warning|Note): (.*?)(?:\. Try: (.*))?$', out, re.M)
    doc = json.loads(lab.run('report', '--json', '-i', data, *options).stdout)
    listed = [('Warning' if x['grave'] else 'Note', x['text'], x['remedy'] or '')
              for table in doc['tables'] for x in table['verdict']]
    assert listed == lines, (listed, lines)
    rows = [x for x in out.splitlines() if x and x[0] != '#']
    quiet = lab.run('report', '-q', '-i', data, *options).stdout
    assert [x for x in quiet.splitlines() if x] == rows  # comments, and nothing else, are added
    return lines


def about(lines, words):
    found = [x for x in lines if words in x[1]]
    assert len(found) <= 1, found
    return found[0] if found else None


def record(lab, data, *words, event='cpu-clock:u'):
    lab.run('record', '-q', '-o', data, '-e', event, '-F', '2000', *words, release=True)


def stripped(lab):
    path = lab.path('no-names')
    shutil.copy(lab.program('stacks'), path)
    subprocess.run(['strip', '-R', '.note.gnu.build-id', path], check=True)  # perf may have cached the program by it
    return path


def test_of_a_good_recording(lab):
    record(lab, 'good.data', '--', lab.program('stacks'), 'chain', 300 * LONGER)
    assert not about(verdicts(lab, 'good.data'), 'no known function')


def test_a_command_with_a_of_its_own_is_not_all_cpus(lab):
    if len(os.sched_getaffinity(0)) < 2:
        raise Skip('one CPU')
    record(lab, 'all.data', 'taskset', '-c', str(min(os.sched_getaffinity(0))), 'ls', '-aR', '/usr/share',
           event='cpu-clock')
    assert not about(verdicts(lab, 'all.data'), 'have no samples')


def test_of_a_program_without_names(lab):
    if not shutil.which('strip'):
        raise Skip('strip is missing')
    record(lab, 'stripped.data', '--', stripped(lab), 'chain', 300)
    kind, text, remedy = about(verdicts(lab, 'stripped.data'), 'no known function')
    assert kind == 'Warning' and ' in no-names (' in text and 'DEBUGINFOD_URLS' in remedy, (kind, text, remedy)
    assert not about(verdicts(lab, 'stripped.data', '-s', 'dso'), 'no known function')


def test_of_code_without_frame_pointers(lab):
    if os.uname().machine != 'x86_64':
        raise Skip('frame pointers of ' + os.uname().machine)
    record(lab, 'fp.data', '-g', '--', lab.program('stacks'), 'chain', 300)
    line = about(verdicts(lab, 'fp.data'), 'frame pointers')
    assert line and line[0] == 'Warning' and line[2].endswith('--call-graph dwarf'), line
    record(lab, 'none.data', '--', lab.program('stacks'), 'chain', 300)
    assert not about(verdicts(lab, 'none.data'), 'call chains')
    record(lab, 'whole.data', '-g', '--', lab.workload, scaled(300))
    assert not about(verdicts(lab, 'whole.data'), 'frame pointers')


def test_of_short_copies_of_stacks(lab):
    """What the verdict advises is enough."""
    if os.uname().machine not in ('x86_64', 'aarch64'):
        raise Skip('stacks of ' + os.uname().machine + ' are not unwound')
    record(lab, 'short.data', '--call-graph', 'dwarf,1024', '--', lab.program('stacks'), 'deep', 300)
    kind, text, remedy = about(verdicts(lab, 'short.data'), 'lack their outer callers')
    assert kind == 'Warning' and '1024 bytes' in text and remedy.endswith('dwarf,2048'), (kind, text, remedy)
    record(lab, 'long.data', '--call-graph', 'dwarf,16384', '--', lab.program('stacks'), 'deep', 300)
    assert not about(verdicts(lab, 'long.data'), 'lack their outer callers')


def test_of_losses(lab):
    """A ring of one page, for samples of 3000 bytes and more."""
    lab.run('record', '-q', '-o', 'lost.data', '-e', 'cpu-clock:u', '-c', '20000', '-m', '4K', '--call-graph',
            'dwarf,3000', '--buffer-memory', '1M', '--', lab.program('stacks'), 'chain', 500, release=True)
    if not lab.lost('lost.data'):
        raise Skip('nothing was lost')
    text = lab.run('report', '-i', 'lost.data').stdout
    share = float(re.search(r'Total Lost Samples: \d+ \(([0-9.]+)%', text).group(1))
    line = about(verdicts(lab, 'lost.data'), 'were lost')
    assert bool(line) == (share >= 1), (line, share)
    assert not line or abs(float(line[1].split('%')[0]) - share) < 0.1, (line, share)


def test_of_hidden_kernel_addresses(lab):
    """Users without privileges read no addresses in /proc/kallsyms."""
    need_root()
    record(lab, 'k.data', '--symbols=none', '--', 'dd', 'if=/dev/zero', 'of=/dev/null', 'bs=1M', 'count=10000',
           event='cpu-clock:k')
    assert not about(verdicts(lab, 'k.data'), 'no known function')
    os.chown(lab.path('k.data'), NOBODY, NOBODY)
    os.chmod(lab.dir, 0o755)
    out = lab.run('report', '-i', lab.path('k.data'), user=NOBODY).stdout
    assert re.search(r'^# Warning: 100.0% of the samples .* in \[kernel.kallsyms\] .*Try: .*kptr_restrict', out, re.M), out


def test_of_a_recording_inside_of_a_container(lab):
    """A recorder in a PID namespace sees the tasks outside as PID 0, without their maps."""
    need_root()
    inside = ['unshare', '--pid', '--fork', '--mount-proc']
    if not shutil.which('unshare') or subprocess.run([*inside, 'true'], check=False, stderr=subprocess.DEVNULL).returncode:
        raise Skip('no namespaces of PIDs')
    lab.spawn(lab.program('stacks'), 'chain', '600000')
    subprocess.run([*inside, lab.release + '/src/cli/ringtail', 'record', '-q', '-a', '-o', lab.path('p.data'), '-e', 'cpu-clock:u', '-F', '2000',
                    'sleep', '0.3'], check=True, timeout=60, cwd=lab.path('.'))
    _, text, remedy = about(verdicts(lab, 'p.data'), 'no known function')
    assert 'of tasks outside of the recorder' in text and 'PIDs' in remedy, (text, remedy)
