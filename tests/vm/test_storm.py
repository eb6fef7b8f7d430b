# SPDX-License-Identifier: GPL-2.0
"""64 CPUs, four sockets, two nodes: a storm of calls into 1 to 64 rings, where every call is counted."""
from lab import check_perf_counts, check_threads, cpus, cpus_by_file, guest, lost, path_of, said

HUGE = ('-s', '64,sockets=4,cores=8,threads=2', '-n', '2', '-M', '2048')
# Rings, and calls on each of their CPUs: half of them are more than a ring of 8 KB holds.
STORMS = {'0': 30000, '0-3': 10000, '0-63': 1000}
LONG_STORMS = {'0-15': 2500}
MODES = {
    'serial': '',
    'small rings': '-m 8K',
    'aio': '--aio',
    'threads': '--threads',
    'numa compressed': '--threads=numa -z',
    'socket aio': '--threads=socket --aio -m 64K',
    'overwritten': '--threads=cpu --overwrite -m 8K',
    'overwritten, numa compressed': '--threads=numa -z --overwrite -m 16K',
}
# Modes of which the storm on 64 rings is looked at here, too.
HANDED_OUT = ['small rings', 'overwritten']
# Options as they are typed, and the masks that they mean, as in test_stream.
LAYOUTS = {
    'cpu': ('--threads=cpu', [(str(n), str(n)) for n in range(64)]),
    'socket': ('--threads=socket', [(f'{n}-{n + 15}', f'{n}-{n + 15}') for n in range(0, 64, 16)]),
    'numa': ('--threads=numa -z', [('0-31', '0-31'), ('32-63', '32-63')]),
}
# Modes in which the recorder stands still during the first half of the calls: what a ring does not hold is lost.
HELD = ['small rings']
# Says "NAME: STATUS SAMPLES LOST OVERWRITTEN" of a storm. A shell asks for its parent, too, when it starts.
COUNTED = r'''
counted() {
	name=$1 list=$2 storm=$3 calls=$4
	shift 4
	timeout 600 ringtail record -o s.data -C $list -e raw_syscalls:sys_enter \
		--filter 'id == 110 && comm == "load"' -c 1 "$@" -- taskset -c $list $storm $calls 2>err
	status=$?
	cat err
	overwritten=$(sed -n 's/.*overwritten \([0-9,]*\) of .*/\1/p' err | tr -d ,)
	ringtail report -i s.data --stats >stats
	samples=$(sed -n 's/^ *SAMPLE events: *\([0-9]*\).*/\1/p' stats | head -n 1)
	lost=$(sed -n 's/^ *LOST samples: *\([0-9]*\).*/\1/p' stats | head -n 1)
	echo "$name: $status ${samples:-0} ${lost:-0} ${overwritten:-0}"
}
'''


def storms_of(mode, storms):
    storm = 'held' if mode in HELD else 'load'
    return [f'counted "{mode} {rings}" {rings} {storm} {calls} {MODES[mode]}' for rings, calls in storms.items()]


def storm_script():
    lines = [COUNTED]
    for name, (options, _) in LAYOUTS.items():
        lines += [f'timeout 600 ringtail record -a -e cpu-clock -F 100 -o {name}.data {options} '
                  f"-- watched {name} sh -c 'load 2000; each-runs 0 63'", f'echo "{name}: $?"']
    for mode in MODES:
        lines += storms_of(mode, STORMS)
        if mode in HANDED_OUT:
            lines += [f"mv s.data '{mode}.data'"]
    lines += ['rm -rf s.data', 'tar cf recordings.tar *.data', 'emit recordings.tar']
    return '\n'.join(lines) + '\n'


def storm_guest():
    return guest('storm', 'amd64', None, HUGE, storm_script())


def make_layout_test(name, masks):
    def test():
        g = storm_guest()
        assert said(g, name) == '0', g.log
        check_threads(g, name, masks)
        path = path_of(g, name + '.data')
        assert cpus_by_file(path) == {i: cpus(read) for i, (read, _) in enumerate(masks)}, name
        check_perf_counts(path)
    return test


def check_storm(g, mode, rings, calls):
    status, *found = map(int, said(g, f'{mode} {rings}').split())
    assert status == 0 and sum(found) == calls * len(cpus(rings)), (mode, found)
    _, missed, overwritten = found
    assert missed or mode not in HELD, (mode, found)
    assert bool(overwritten) == mode.startswith('overwritten'), (mode, found)


def make_storm_test(mode, rings, calls):
    return lambda: check_storm(storm_guest(), mode, rings, calls)


def long_storms_on_16_of_64_rings():
    lines = [COUNTED, *(line for mode in MODES for line in storms_of(mode, LONG_STORMS))]
    g = guest('storm-16', 'amd64', None, HUGE, '\n'.join(lines) + '\n')
    for rings, calls in LONG_STORMS.items():
        for mode in MODES:
            check_storm(g, mode, rings, calls)


for _name, (_options, _masks) in LAYOUTS.items():
    globals()['test_64_cpus_' + _options] = make_layout_test(_name, _masks)
for _mode in MODES:
    for _rings, _calls in STORMS.items():
        globals()[f'test_storm_on_{len(cpus(_rings))}_rings_{_mode}'] = \
            make_storm_test(_mode, _rings, _calls)


def test_storm_is_counted_here_as_there():
    g = storm_guest()
    for mode in HANDED_OUT:
        path = path_of(g, mode + '.data')
        _, *there, _ = map(int, said(g, f'{mode} 0-63').split())
        assert there == [check_perf_counts(path), lost(path)]


def test_the_newest_of_each_of_64_rings_is_there():
    path = path_of(storm_guest(), 'overwritten.data')
    assert cpus_by_file(path) == {n: {n} for n in range(64)}
