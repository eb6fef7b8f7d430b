# SPDX-License-Identifier: Apache-2.0
"""evlist and buildid-list print of this kernel's recordings what perf prints of them; --kcore where there is none."""
import os

from lab import Skip, need_tracefs, scaled


def test_evlist_prints_what_perf_prints(lab):
    """Names, attributes, frequencies and groups are perf's."""
    lab.run('record', '-o', 'a.data', '-e', '{task-clock,page-faults}', '-e', 'cpu-clock:u', '-F', '499', '--',
            lab.workload, scaled(200))
    for options in [], ['-v'], ['-F'], ['-g'], ['--trace-fields']:
        said = lab.run('evlist', *options, 'a.data', release=True).stdout
        assert said == lab.perf('evlist', *options, '-i', 'a.data', quiet=False).stdout, (options, said)


def test_evlist_names_the_fields_of_tracepoints(lab):
    """The fields of a tracepoint are perf's, and the kernel's."""
    need_tracefs()
    lab.run('record', '-o', 't.data', '-a', '-e', 'sched:sched_switch', '--', 'true')
    said = lab.run('evlist', '--trace-fields', 't.data', release=True).stdout
    assert said == lab.perf('evlist', '--trace-fields', '-i', 't.data', quiet=False).stdout, said
    assert 'prev_comm,prev_pid' in said, said


def test_buildid_list_prints_what_perf_prints(lab):
    """Build-ids of files and of those with samples are perf's, of a file with a table and of one without."""
    lab.run('record', '-o', 'b.data', '-e', 'cpu-clock', '-F', '1999', '--', lab.workload, scaled(200))
    for options in [], ['-H']:
        said = lab.run('buildid-list', *options, 'b.data', release=True).stdout
        # Where there is a /proc/kcore, -H makes perf call the kernel so.
        by_perf = lab.perf('buildid-list', *options, '-i', 'b.data', quiet=False).stdout \
            .replace(' /proc/kcore\n', ' [kernel.kallsyms]\n')
        assert sorted(said.splitlines()) == sorted(by_perf.splitlines()), (options, said, by_perf)
    for options in ['-k'], ['-i', '/bin/ls']:
        assert lab.run('buildid-list', *options, release=True).stdout == lab.perf('buildid-list', *options).stdout, options


def test_kcore_that_cannot_be_read(lab):
    """--kcore says why, and leaves no directory; an earlier recording stays."""
    if os.path.exists('/proc/kcore') and not os.geteuid():
        raise Skip('root may read /proc/kcore here')
    lab.run('record', '-q', '-e', 'cpu-clock', '-o', 'earlier.data/', '--', 'true')
    for name in 'k.data', 'earlier.data':
        before = {at: os.listdir(at) for at in (lab.dir, lab.path('earlier.data'))}
        said = lab.run('record', '--kcore', '-e', 'cpu-clock', '-o', name, '--', 'true', status=1).stderr
        assert "--kcore: cannot read the kernel's code" in said, said
        assert {at: os.listdir(at) for at in before} == before, (name, before)
