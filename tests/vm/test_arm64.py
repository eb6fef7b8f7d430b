# SPDX-License-Identifier: GPL-2.0
"""The unit and live tests of this tree on an arm64 kernel, as its own users would run them.

They are built by a cross compiler and run in guests that are an arm64 Debian. Each of their results is printed as it
comes, since all together take hours under emulation.
"""
import functools
import glob
import os
import re
import shutil
import subprocess

from lab import DIR, FILES, HERE, TOP, Skip, arm64_build, call, kernel, last_line

# Seconds: of a program of unit tests, of a step of a live test, and of a guest. Emulation is a tenth as fast as a CPU.
UNIT, STEP, GUEST = 2000, 600, 6 * 3600
# Tests that fail since emulation is slow, and why: their failures are skips. Tests that lack a program skip themselves.
SLOW = {
    'unwind: truncated_stacks_end_early_and_without_a_word':
        'the start of a program takes so long that most samples are in ld.so, which has no symbols',
    'unwind: as_perf_unwinds_them': 'a load of a fixed time makes too few samples',
}
RESULT = re.compile(r'(ok|not ok|FAIL|skip)\b[ :]*(.*)')
PREPARE = r'''for at in {places}; do mkdir -p $at; mount --bind /host$at $at; done
cd {top}
echo nobody:x:65534:65534::/:/bin/false >>/etc/passwd
# As upstream's kernels begin, not as Debian's; and interrupts that emulation makes slow take no samples away.
echo 2 >/proc/sys/kernel/perf_event_paranoid
echo 0 >/proc/sys/kernel/perf_cpu_time_max_percent
'''


@functools.cache
def initramfs():
    """Of an arm64 Debian with this tree's tests and their build below /host: init hides what is in /tmp and /run."""
    kernel('arm64', None)
    p = call([HERE + '/setup', DIR, 'arm64-tree'], timeout=1800)
    if p.returncode:
        raise Skip(last_line(p.stderr))
    build, stage = arm64_build('all'), DIR + '/arm64/stage'
    shutil.rmtree(stage, ignore_errors=True)
    leave_out = shutil.ignore_patterns('*.p', '*.o', '*.a', '__pycache__', 'vm')
    for path in (*(f'{TOP}/{name}' for name in ('tests', 'demo', 'man', 'contrib')),
                 *(f'{build}/{name}' for name in ('tests', 'src', 'demo'))):
        shutil.copytree(path, f'{stage}/host{path}', symlinks=True, ignore=leave_out)
    out = DIR + '/arm64/initramfs-tests'
    p = call([HERE + '/pack', '-r', DIR + '/arm64/root', '-t', DIR + '/arm64/tree', '-t', stage, out])
    shutil.rmtree(stage)
    assert p.returncode == 0, p.stderr
    return out


def judged(result, text):
    """Returns a result as it is to be counted."""
    if '# SKIP' in text:
        return 'skip', text
    slow = next((title for title in SLOW if result == 'FAIL' and text.startswith(title + ' ')), None)
    return ('skip', f'{slow} {SLOW[slow]}') if slow else (result, text)


def run(name, command):
    """Runs a command of the tree in a guest and prints the results of its tests. Returns (passed, failed)."""
    build = DIR + '/arm64/build'
    script, counts, ended = f'{FILES.name}/{name}.sh', {'ok': 0, 'skip': 0}, False
    argv = [HERE + '/boot', '-v', '-t', str(GUEST), '-s', '4', '-M', '4096', '-k', kernel('arm64', None), '-i',
            initramfs(), script]
    with open(script, 'w', encoding='utf-8') as f:
        f.write(PREPARE.format(places=f'{TOP} {build}', top=TOP) + f'{command}; echo "ended: $?"\n')
    os.makedirs(DIR + '/logs', exist_ok=True)
    with open(f'{DIR}/logs/{name}', 'w', encoding='utf-8') as log, \
            subprocess.Popen(argv, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                             text=True, errors='replace') as child:
        for line in child.stdout:
            log.write(line)
            line = line.rstrip()
            match = RESULT.fullmatch(line)
            ended |= line.startswith('ended: ')
            if match:
                result, text = judged(match[1], match[2])
                counts[result] = counts.get(result, 0) + 1
                line = f'{result} arm64 {name}: {text}'
            if match or counts.get('FAIL') or counts.get('not ok'):
                print(line if match else '    ' + line, flush=True)
    passed, skipped = counts.pop('ok'), counts.pop('skip')
    assert ended, f'the guest went down: see {DIR}/logs/{name}'
    assert passed + skipped + sum(counts.values()), f'no test ran: see {DIR}/logs/{name}'
    return passed, sum(counts.values())


def long_arm64_unit_tests():
    passed, failed = run('unit', f'UNIT_SECONDS={UNIT} tests/unit/run {DIR}/arm64/build')
    assert not failed, f'{failed} of {passed + failed} failed'


def long_arm64_live_tests():
    """A guest for each module, so that one that goes down takes no other results with it."""
    build, failed, down = DIR + '/arm64/build', 0, []
    for path in sorted(glob.glob(TOP + '/tests/live/test_*.py')):
        name = os.path.basename(path)[len('test_'):-len('.py')]
        try:
            failed += run(name, f'PATIENCE={STEP} python3 tests/live/run.py {build} {build} {name}:')[1]
        except AssertionError as reason:
            print(f'FAIL arm64 {name}: {reason}', flush=True)
            down.append(name)
    assert not failed and not down, f'{failed} failed, and guests of {down}'
