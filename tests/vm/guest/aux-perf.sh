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
	sleep 1 # until there is some trace, and the file has what stands before it
	for number in 1 2; do
		size=$(stat -c %s $2 2>/dev/null || echo 0)
		for try in $(seq 60); do
			kill -USR2 $1
			sleep 0.5
			[ $(stat -c %s $2 2>/dev/null || echo 0) -le $((size + 8192)) ] || break
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
# reads NAME [OPTION]: has perf read NAME.data, and counts the samples of each event that it and ringtail find.
reads() {
	echo "$1: $?"
	from=$1.data
	[ $1 != pipe ] || from=-
	cat pipe.data 2>/dev/null | perf script $2 -F event -i $from >by-perf 2>said
	echo "$1.script: $?"
	ringtail script -F event -i $1.data >by-ringtail
	for reader in perf ringtail; do
		echo "$1.$reader: $(sort by-$reader | uniq -c | xargs)"
	done
	cat pipe.data 2>/dev/null | perf report $2 --stdio -i $from >table 2>>said
	grep -e '^Error' -e '^failed' -e 'error' said | sed "s/^/$1.said: /"
}
event=intel_pt/bytes=256/u
ringtail record -i -e $event -e cpu-clock:u -o task.data -- roam 100 10 2; reads task
ringtail record --per-thread -Se -m 8,4 -e $event -e cpu-clock:u -o task-snapshot.data -- roam 100 10 2
reads task-snapshot
ringtail record --per-thread --aux-sample=512 -e "{$event,cpu-clock:u}" -c 9000000 -o task-sample.data -- roam 100 10 2
reads task-sample
ringtail record -e $event -e cpu-clock:u -o - -- roam 100 10 2 >pipe.data; reads pipe
ringtail record --kcore -e $event -e cpu-clock:u -o kcore.data -- roam 100 10 2; reads kcore
ringtail record -e "{$event,cpu-clock:u,task-clock:u}:S" -c 9000000 -o group.data -- roam 100 10 2; reads group
ringtail record -i -e "{$event,cpu-clock:u,task-clock:u}:S" -c 9000000 -o task-group.data -- roam 100 10 2
reads task-group
rmmod auxsim; insmod /usr/lib/auxsim.ko name=arm_spe_0 || exit 1
ringtail record -i -e arm_spe_0/bytes=256/u -e cpu-clock:u -o task-spe.data -- roam 100 10 2; reads task-spe --no-itrace
echo "warnings: $(dmesg | grep -c -E 'WARNING|BUG:')"
emit full.data snapshot.data sample.data
