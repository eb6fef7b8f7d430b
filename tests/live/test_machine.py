# SPDX-License-Identifier: Apache-2.0
"""What `list` prints of this machine is what perf prints, and can be recorded."""
import json
import re

from lab import NOBODY, need_root, need_tracefs


def test_list_has_the_tracepoints_that_perf_has(lab):
    """The names of tracepoints are perf's; files of tracefs are not among them."""
    need_tracefs()
    names = lab.run('list', '--raw-dump', 'tracepoint', release=True).stdout.split()
    by_perf = re.findall(r'^  (\S+:\S+) +\[Tracepoint event\]', lab.perf('list', 'tracepoint', quiet=False).stdout, re.M)
    assert sorted(names) == sorted(by_perf), set(names) ^ set(by_perf)
    assert len(names) > 100


def test_each_listed_software_event_can_be_recorded(lab):
    """Each name and each alias of software events and of PMUs' events opens, or the kernel forbids its samples."""
    need_root()
    events = json.loads(lab.run('list', '--json', 'sw', 'hw', 'cache', release=True).stdout)['events']
    assert len(events) >= 10
    for event in events:
        for name in event['name'], event.get('alias'):
            if name:
                lab.run('record', '-o', 'l.data', '-e', name, '-c', '100000', '--', 'true', release=True)
                assert name in lab.run('evlist', 'l.data', release=True).stdout


def test_list_names_the_fields_of_a_tracepoint(lab):
    """-v prints the fields that a filter takes."""
    need_tracefs()
    said = lab.run('list', '-v', 'sched:sched_switch', release=True).stdout
    assert 'prev_comm: char prev_comm[16];prev_pid: pid_t prev_pid' in said, said
    assert lab.run('list', 'sched_swich', release=True, status=1).stderr == \
        "ringtail: no event matches 'sched_swich'; did you mean 'sched:sched_switch'?\n"


def test_doctor_says_what_can_be_recorded(lab):
    """What doctor calls possible is: root records; another user has limits, each with a remedy."""
    found = json.loads(lab.run('doctor', '--json', release=True).stdout)
    assert found['recording_possible'] and len(found['checks']) >= 13
    for check in found['checks']:
        assert check['found'] and bool(check['cost']) == bool(check['mend']) == (check['state'] != 'fine'), check
    p = lab.run('doctor', '--json', release=True, user=NOBODY, status=None)
    found = json.loads(p.stdout)
    assert p.returncode == (0 if found['recording_possible'] else 1)
    states = {check['about']: check['state'] for check in found['checks']}
    assert states['capabilities'] == 'limited', states
