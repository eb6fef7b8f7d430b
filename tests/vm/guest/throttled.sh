# SPDX-License-Identifier: GPL-2.0
# A kernel that allows four samples a tick of 4 ms, and a clock that wants two hundred.
echo 1000 >/proc/sys/kernel/perf_event_max_sample_rate
throttled() {
	ringtail record -e cpu-clock -c 20000 -o "$@" -- workload 100 >$1.said 2>&1; echo "$1: $?"
	sed "s/^/$1.said: /" $1.said
}
throttled plain
throttled threads --threads
throttled overwrite --overwrite
throttled memory -M 16M --snapshot-on-exit
tar cf recordings.tar plain threads overwrite memory
emit recordings.tar
