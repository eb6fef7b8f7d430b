# SPDX-License-Identifier: Apache-2.0
"""Uprobes and breakpoints by the names of functions and variables: N calls are N samples."""
import os
import re
import shutil
import signal
import subprocess

from lab import APART, NOBODY, TRACING, Skip, interrupt, need_root, running, wait_for


def need_uprobes():
    need_root()
    if not os.path.exists('/sys/bus/event_source/devices/uprobe/type'):
        raise Skip('no uprobes for events in this kernel')


def probes(lab):
    """Returns the probes in tracefs that ringtail has made in this test's programs. Other runs of the same tests
    make some, too, but remove them."""
    places = lab.dir, os.path.realpath(lab.release)
    try:
        with open(TRACING + '/uprobe_events', encoding='utf-8') as f:
            return [line for line in f if 'ringtail' in line and any(place in line for place in places)]
    except FileNotFoundError:
        return []


def count(lab, event, *command, options=(), samples):
    """Records the command; ringtail and perf count that many samples."""
    said = lab.run('record', '-e', event, *options, '-o', 'f.data', '--', *command).stderr
    assert lab.samples('f.data') == lab.perf_samples('f.data') == samples, f'{event}: {samples} wanted: {said}'
    return said


def the_same_in_scripts(lab, function):
    """Each sample is in that function, for ringtail and for perf, which prints no warning."""
    mine = lab.run('script', '-i', 'f.data', '-F', 'ip,sym').stdout.splitlines()
    theirs = lab.perf('script', '-i', 'f.data', '-F', 'ip,sym').stdout.splitlines()
    assert mine and [line.split() for line in mine] == [line.split() for line in theirs]
    assert all(line.split()[1].split('+')[0] == function for line in mine), mine[:3]


def copied(lab):
    """Returns a program of this test alone: with -a the calls of other tests' processes count, too."""
    return shutil.copy(lab.program('functions'), lab.path('functions'))


def test_calls_of_a_function_are_samples(lab):
    """The programs are a PIE, one that is no PIE, and one with dynamic symbols only."""
    need_uprobes()
    for name in 'functions', 'functions-no-pie':
        program = lab.program(name)
        count(lab, f'uprobe:{program}:work', program, 'work 7', samples=7)
        the_same_in_scripts(lab, 'work')
        count(lab, f'uretprobe:{program}:work', program, 'work 7', samples=7)
        the_same_in_scripts(lab, 'work_often')
        if not shutil.which('strip'):
            raise Skip('no strip (package binutils)')
        subprocess.run(['strip', '-o', lab.path('stripped'), program], check=True)
        count(lab, 'uprobe:./stripped:work', './stripped', 'work 7', samples=7)
    offset = re.search(r'\{ bp_len, config2 \} = (0x\w+)', lab.run('report', '-i', 'f.data', '--header-only').stdout)
    count(lab, f'uprobe:./stripped:{offset.group(1)}', './stripped', 'work 4', samples=4)
    said = lab.run('record', '-e', 'uprobe:./stripped:qqqqqqqq', 'true', status=1).stderr
    assert 'is stripped, and no debug file was found: install its package with -dbgsym or -debuginfo' in said, said
    wait_for(lambda: not probes(lab), what='no probe')


def test_symbols_that_are_elsewhere(lab):
    """A stripped program's function that is not exported has its symbol in a debug file, or packed in the
    program."""
    need_uprobes()
    if not shutil.which('objcopy') or not shutil.which('xz'):
        raise Skip('no objcopy (package binutils) or no xz (package xz-utils)')
    make = '''set -e
        objcopy --only-keep-debug "$0" linked.debug
        strip -o linked "$0"
        objcopy --add-gnu-debuglink=linked.debug linked
        objcopy --strip-debug linked.debug packed.debug && xz packed.debug
        strip -o packed "$0"
        objcopy --add-section .gnu_debugdata=packed.debug.xz packed'''
    for program in lab.program('functions'), lab.program('functions-no-pie'):
        subprocess.run(['sh', '-c', make, program], cwd=lab.dir, check=True, stderr=subprocess.PIPE)
        for name in 'linked', 'packed':
            count(lab, f'uprobe:./{name}:work_often', f'./{name}', 'work 1', 'thread 5', 'work 2', samples=3)
        os.unlink(lab.path('linked.debug'))
        said = lab.run('record', '-e', 'uprobe:./linked:work_often', '-o', 'f.data', '--', 'true', status=1).stderr
        assert "no symbol 'work_often'" in said, said
        os.unlink(lab.path('packed.debug.xz'))


def test_threads_and_children_inherit(lab):
    """It also works where a fork would fail if the probe's event were inherited."""
    need_uprobes()
    program = copied(lab)
    command = [program, 'work 3', 'thread 5', 'fork 11', 'thread 2']
    count(lab, f'uprobe:{program}:work', *command, samples=21)
    count(lab, f'uprobe:{program}:work', *command, options=['-a'], samples=21)
    count(lab, f'uprobe:{program}:work', *command, options=['--threads'], samples=21)
    count(lab, f'uprobe:{program}:work', *command, options=['-i'], samples=3)
    count(lab, f'uprobe:{program}:work,uretprobe:{program}:work', *command, samples=42)
    count(lab, f'uprobe:{program}:work', *command, options=['-M', '4M', '--snapshot-on-exit'], samples=21)
    wait_for(lambda: not probes(lab), what='no probe')


def test_without_tracefs_it_is_said(lab):
    """Programs started later have no probe then, and run as if there were none."""
    need_uprobes()
    if not shutil.which('unshare'):
        raise Skip('no unshare (package util-linux)')
    program = lab.program('functions')
    argv = lab.argv(['record', '-e', f'uprobe:{program}:work', '-o', 'f.data', '--', program, 'work 3', 'thread 5',
                     'fork 11'])
    hide = APART + 'mount -t tmpfs none /sys/kernel/tracing && exec "$@"'
    p = subprocess.run(['unshare', '-m', '--propagation', 'unchanged', 'sh', '-c', hide, 'sh', *argv], cwd=lab.dir,
                       text=True, check=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert 'is not inherited' in p.stderr and 'fork 11' in p.stdout, p.stderr
    assert lab.samples('f.data') == 3, p.stderr


def test_a_library_that_is_loaded_late(lab):
    need_uprobes()
    program, library = lab.program('functions'), lab.program('libfunctions.so')
    copy = lab.path('with space,and:colon.so')
    shutil.copy(library, copy)
    load = f'load {library} 9'
    count(lab, f'uprobe:{library}:in_library', program, 'work 1', load, samples=9)
    os.symlink(copy, lab.path('link.so'))
    for options in [], ['-a']:
        count(lab, f"uprobe:'{copy}':in_library", program, 'work 1', f'load {lab.path("link.so")} 9', options=options,
              samples=9)


def test_filters_and_periods(lab):
    need_uprobes()
    program = copied(lab)
    for options in [], ['-a']:
        count(lab, f'uprobe:{program}:work', program, 'work 5', 'fork 6',
              options=['--filter', 'common_pid == 1', *options], samples=0)
        count(lab, f'uprobe:{program}:work', program, 'work 5', 'fork 6',
              options=['--filter', 'common_pid > 1', *options], samples=11)
    count(lab, f'uprobe:{program}:work/period=4/', program, 'work 12', samples=3)
    refused = lab.run('record', '-e', f'uprobe:{program}:work', '--filter', 'nosuch == 1', '-o', 'f.data', '--',
                      'true', status=1).stderr
    assert 'refuses the filter' in refused, refused


class Process:
    """A process that obeys lines."""

    def __init__(self, lab, name='functions'):
        self.child = subprocess.Popen([lab.program(name)], text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        lab.children.append(self.child)
        self.pid = self.child.pid
        self.do('work 0')

    def do(self, *commands):
        for command in commands:
            self.child.stdin.write(command + '\n')
            self.child.stdin.flush()
            assert self.child.stdout.readline() == command + '\n'


def watch(lab, event, processes, *commands, options=()):
    """Records processes that run and obey; returns the recorder's messages."""
    pids = ','.join(str(p.pid) for p in processes)
    recorder = lab.start('record', '-e', event, '-p', pids, '-o', 'f.data', *options)
    running(lab, recorder)
    for process in processes:
        process.do(*commands)
    status, _, said = interrupt(recorder)
    assert status == 0, said
    assert lab.samples('f.data') == lab.perf_samples('f.data'), said
    return lab.samples('f.data')


def test_processes_that_run(lab):
    """Records two processes at a time, each with its own addresses, and their new children."""
    need_uprobes()
    both = [Process(lab), Process(lab), Process(lab, 'functions-no-pie')]
    program = lab.program('functions')
    assert watch(lab, f'uprobe:{program}:work', both, 'work 3', 'thread 4', 'fork 5') == 24
    assert watch(lab, f'uprobe:{program}:work', both[2:], 'work 3') == 0
    many = both[:2] + [Process(lab) for _ in range(9)]
    assert watch(lab, f'uprobe:{program}:work', many, 'work 3', 'thread 4', 'fork 5', options=['-i']) == 33
    wait_for(lambda: not probes(lab), what='no probe')


def need_breakpoints(lab):
    need_root()
    if lab.run('record', '-q', '-e', 'mem:0x1000:w:u', '-o', 'try.data', '--', 'true', status=None).returncode:
        raise Skip('no breakpoints in hardware here')


def test_writes_to_a_variable_are_samples(lab):
    need_breakpoints(lab)
    program, fixed = lab.program('functions'), lab.program('functions-no-pie')
    both = [Process(lab), Process(lab)]
    assert watch(lab, f'mem:{program}:written:w', both, 'write 6') == 12
    the_same_in_scripts(lab, 'obey')
    assert watch(lab, f'mem:{program}:written', both, 'work 3', 'write 1', 'write 2') == 6
    assert watch(lab, f'mem:{program}:others+8/8:w', both, 'write 6') == 12
    assert watch(lab, f'mem:{program}:others+16/8:w', both, 'write 6') == 0
    assert watch(lab, f'mem:{program}:work', both, 'work 3', 'thread 4', 'fork 5') == 24
    the_same_in_scripts(lab, 'work')
    count(lab, f'mem:{fixed}:written:w:u', fixed, 'write 6', samples=6)
    trigger = ['-M', '4M', '--trigger', f'mem:{program}:written:w,reason=it was, written']
    assert watch(lab, 'cpu-clock', both, 'work 10000000', 'write 6', options=trigger) > 0
    assert 'it was, written' in lab.run('report', '-i', 'f.data', '--header-only').stdout


# What is refused, with which status, and what is said.
REFUSED = [
    ('uprobe:{pie}:wrk', 1, "did you mean 'work'"),
    ('uprobe:{pie}:helper', 2, r'2 symbols .* \(functions.c\), 0x\w+ \(functions-more.c\)'),
    ('uprobe:{pie}:written', 2, 'mem:.*:written'),
    ('uprobe:{pie}:pthread_create', 1, 'takes it from a library'),
    ('uprobe:{pie}:work+99999', 2, 'bytes: offset'),
    ('uprobe:/etc/passwd:work', 1, 'not an ELF file'),
    ('uprobe:/no/such:work', 1, '/no/such'),
    ('mem:{pie}:written:w', 2, 'name its process with -p'),
    ('mem:{pie}:work', 2, 'use uprobe:FILE:FUNCTION'),
    ('mem:{pie}:others:w', 2, r'others\+0/8'),
    ('mem:{fixed}:written:w -a', 2, "each process has its own addresses"),
    ('mem:{pie}:written:w -p {pid}', 1, 'has not mapped'),
    ('uprobe:{pie}:work -k realtime', 1, r'cannot use clock 0 \(-k\)'),
    ('mem:{fixed}:written:w -k tai', 1, r'cannot use clock 11 \(-k\)'),
]


def test_what_cannot_be_says_why(lab):
    need_uprobes()
    names = {'pie': lab.program('functions'), 'fixed': lab.program('functions-no-pie'), 'pid': os.getpid()}
    for text, status, says in REFUSED:
        said = lab.run('record', '-o', 'f.data', '-e', *text.format(**names).split(), '--', 'true', status=status)
        assert re.search(says, said.stderr), f'{text}: {said.stderr}'
    said = lab.run('record', '-o', 'f.data', '-e', f"uprobe:{lab.public(names['pie'])}:work", '--', 'true', status=1,
                   user=NOBODY)
    assert 'only root may set uprobes' in said.stderr, said.stderr


def test_the_time_in_a_function_triggers(lab):
    """The trigger hits exactly for the calls that took too long, in all threads."""
    need_uprobes()
    program = copied(lab)
    for options in [], ['-a']:
        p = lab.run('record', *options, '-e', 'cpu-clock', '-M', '4M', '-o', 'f.data', '--trigger',
                    f'latency:uprobe:{program}:slow..uretprobe:{program}:slow>40ms,reason=it was slow', '--',
                    program, 'slow 1', 'slow 80', 'slow 2', 'thread 3', 'slow 80', 'slow 1')
        said = p.stderr
        # Each may take longer than it sleeps: the function itself and its caller say how long.
        took = [tuple(map(float, words)) for words in re.findall(r'^took ([\d.]+) ([\d.]+)$', p.stdout, re.M)]
        assert len(took) == 5, p.stdout
        sure, perhaps = (sum(each[i] > limit for each in took) for i, limit in ((0, 40.1), (1, 39.9)))
        times = int(re.search(r':slow>40ms: (\d+) times?,', said)[1])
        assert 2 <= sure <= times <= perhaps, (took, said)
        told = float(re.search(r'snapshot 1: [\d,]+ samples?: it was slow \(it took ([\d.]+) ms', said)[1])
        # Two clocks read the same time; but neither is another's.
        assert any(within - 0.1 <= told <= outside + 0.1 for within, outside in took) and told > 40, (took, said)
    said = lab.run('record', '-e', 'cpu-clock', '-M', '4M', '-o', 'f.data', '--trigger',
                   f'uprobe:{program}:work common_pid > 1,reason=a, b', '--', program, 'work 5', 'fork 6').stderr
    assert re.search(r' 11 times, ', said), said
    wait_for(lambda: not probes(lab), what='no probe')


def test_a_killed_recorder_leaves_nothing_for_long(lab):
    """Its probe stays in tracefs without effect, and the next recording removes it."""
    need_uprobes()
    program, process = lab.program('functions'), Process(lab)
    recorder = lab.start('record', '-e', f'uprobe:{program}:work', '-p', process.pid, '-o', 'f.data')
    wait_for(lambda: recorder.poll() is not None or probes(lab), what='probe')
    recorder.send_signal(signal.SIGKILL)
    recorder.wait()
    process.do('thread 5', 'fork 5')

    def removed():
        count(lab, f'uprobe:{program}:work', program, 'work 2', samples=2)
        return not probes(lab)
    wait_for(removed, what='no probe')  # the kernel may still have been about it
