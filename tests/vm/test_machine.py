# SPDX-License-Identifier: GPL-2.0
"""A machine of 16 CPUs, two sockets, hardware threads and two nodes; one CPU goes offline and comes back."""
from lab import (BIG, check_perf_counts, check_perf_reads, check_threads, guest, header, path_of,
                 perf, ringtail, said, said_all, samples, script)

def big_guest():
    return guest('machine', 'amd64', None, BIG, script('machine'))


def test_all_16_cpus_are_recorded():
    g = big_guest()
    assert said(g, 'all') == '0', g.log
    assert {cpu for cpu, _ in samples(path_of(g, 'all.data'))} == set(range(16))


def test_named_cpus_are_recorded():
    g = big_guest()
    assert said(g, 'some') == '0', g.log
    assert {cpu for cpu, _ in samples(path_of(g, 'some.data'))} == {2, 5, 9}


def test_header_knows_sockets_threads_and_nodes():
    g = big_guest()
    assert said(g, 'nodes').split() == ['0-7', '8-15'], 'the guest is not as it should be'
    assert said(g, 'packages').split() == ['0-7', '8-15'], 'the guest is not as it should be'
    text = ringtail('report', '--header-only', '-I', '-i', path_of(g, 'all.data'))
    assert header(text, 'nrcpus online') == ['16']
    assert header(text, 'sibling sockets') == ['0-7', '8-15']
    assert header(text, 'sibling threads') == sorted(f'{n}-{n + 1}' for n in range(0, 16, 2))
    assert header(text, 'node0 cpu list') == ['0-7']
    assert header(text, 'node1 cpu list') == ['8-15']
    theirs = perf('report', '--header-only', '-I', '-i', path_of(g, 'all.data'))
    for key in ('nrcpus online', 'sibling sockets', 'sibling threads', 'node1 cpu list'):
        assert header(theirs, key) == header(text, key), key


def test_perf_reads_16_cpus():
    g = big_guest()
    for name, recorded in ('all', 16), ('some', 3), ('offline', 16), ('without', 15):
        assert check_perf_reads(path_of(g, name + '.data')) >= recorded, name


def check_offline(name, status='0'):
    """CPU 3 goes offline during the recording and is recorded again when it comes back; the other 15 CPUs lose
    nothing."""
    g = big_guest()
    assert said(g, 'online') == '0-2,4-15', 'CPU 3 did not go offline'
    assert said(g, 'online again') == '0-15', 'CPU 3 did not come back'
    assert said(g, name) == status, g.log
    begun, going, gone, coming, back, leaving, again = (float(said(g, word)) for word in (
        'begun at', 'going at', 'offline at', 'coming at', 'back at', 'leaving at', 'again at'))
    found = samples(path_of(g, name + '.data'))
    others = set(range(16)) - {3}
    assert {cpu for cpu, time in found if begun < time < going} == set(range(16))
    # Times are told in hundredths, rounded down.
    assert {cpu for cpu, time in found if gone + 0.01 < time < coming} == others
    assert {cpu for cpu, time in found if back < time < leaving} == set(range(16))
    assert {cpu for cpu, time in found if again < time} == set(range(16))
    check_perf_counts(path_of(g, name + '.data'))


def test_recording_goes_on_when_a_cpu_goes_offline_and_comes_back():
    """ringtail reports it, and --fail-on-loss counts it as loss."""
    check_offline('offline', '3')
    lines = [line for line in said_all(big_guest(), 'hotplug') if 'CPU' in line]
    assert [line.split(': ', 1)[1] for line in lines] == 2 * [
        'CPU 3 has gone offline',
        'CPU 3 is online again and recorded; its first events are lost'] + [
        'lost what happened on 1 CPU after coming online: 3 (for a moment)'], lines


def test_a_thread_loses_its_cpu():
    check_offline('offline-cpu')


def test_a_thread_loses_one_of_its_cpus():
    check_offline('offline-core')


def test_recording_starts_without_an_offline_cpu():
    g = big_guest()
    for name in 'without', 'without-core':
        assert said(g, name) == '0', g.log
        assert {cpu for cpu, _ in samples(path_of(g, name + '.data'))} == set(range(16)) - {3}
    # A core with one thread left is still a core: hwloc has it on another level than the others.
    cores = ['0-1', '2', *(f'{n}-{n + 1}' for n in range(4, 16, 2))]
    check_threads(g, 'without-core', [(core, core) for core in cores])


def test_no_thread_on_an_offline_cpu():
    status, text = said(big_guest(), 'bound to none').split(' ', 1)
    assert status == '2' and '0-7/3' in text, text
