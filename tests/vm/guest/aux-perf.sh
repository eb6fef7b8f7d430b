# SPDX-License-Identifier: GPL-2.0
# perf and ringtail record the same load with auxsim under the name of Intel PT.
echo 0 >/proc/sys/kernel/perf_event_paranoid
insmod /usr/lib/auxsim.ko name=intel_pt || exit 1
# two_snapshots PID FILE: asks by SIGUSR2, when it is heard, until FILE has grown; twice. Then ends the recording.
two_snapshots() {
	for try in $(seq 300); do
		caught=$(sed -n 's/^SigCgt:[[:space:]]*........//p' /proc/$1/status 2>/dev/null)
		blocked=$(sed -n 's/^SigBlk:[[:space:]]*........//p' /proc/$1/status 2>/dev/null)
		[ $((0x${caught:-0} & 0x800 | 0x${blocked:-0} & 0x800)) = 0 ] || break
		sleep 0.1
	done
	for number in 1 2; do
		size=$(stat -c %s $2 2>/dev/null || echo 0)
		for try in $(seq 60); do
			kill -USR2 $1
			sleep 0.5
			[ $(stat -c %s $2 2>/dev/null || echo 0) -le $((size + 4096)) ] || break
		done
	done
	kill -INT $1
}
perf record -e intel_pt/bytes=64/u -m 8,64 -o perf-full.data -- roam 500 2>/dev/null; echo "perf-full: $?"
echo "perf-full.trace: $(axscheck -s perf-full.data)"
perf record -S -e intel_pt/bytes=256/u -m 8,4 -o perf-snapshot.data -- roam 60000 2>/dev/null &
pid=$!; two_snapshots $pid perf-snapshot.data; wait $pid; status=$?
# perf ends by the signal that has ended its command.
[ $status != 143 ] || status=0
echo "perf-snapshot: $status"
echo "perf-snapshot.trace: $(axscheck -s perf-snapshot.data)"
perf record --aux-sample=512 -e '{intel_pt/bytes=64/u,cpu-clock:u}' -c 20000000 -m 16,4 -o perf-sample.data -- roam 500 2>/dev/null
echo "perf-sample: $?"
echo "perf-sample.trace: $(axscheck -s perf-sample.data)"
emit perf-*.data
# checked NAME
checked() {
	echo "$1: $?"
	ringtail aux extract -i $1.data -o raw
	echo "$1.trace: $(axscheck raw/*)"
	rm -rf raw
}
ringtail record -e intel_pt/bytes=64/u -m 8,64 -o full.data -- roam 500; checked full
ringtail record -S -e intel_pt/bytes=256/u -m 8,4 -o snapshot.data -- roam 60000 &
pid=$!; two_snapshots $pid snapshot.data; wait $pid; checked snapshot
ringtail record --aux-sample=512 -e '{intel_pt/bytes=64/u,cpu-clock:u}' -c 20000000 -m 16,4 -o sample.data -- roam 500
checked sample
echo "warnings: $(dmesg | grep -c -E 'WARNING|BUG:')"
emit full.data snapshot.data sample.data
