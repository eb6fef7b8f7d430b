# SPDX-License-Identifier: GPL-2.0
# The machine itself: what ringtail sees of it, and CPUs that come and go.
up() {
	cut -d' ' -f1 /proc/uptime
}
cpus=/sys/devices/system/cpu

# back NUMBER: returns when each recorder has said so many times that a CPU is back.
back() {
	for name in $names; do
		for try in $(seq 1000); do
			[ "$(grep -c 'is online again' "$name.err")" -ge "$1" ] && break
			sleep 0.2
		done
	done
}

echo "nodes: $(cat $cpus/../node/node0/cpulist) $(cat $cpus/../node/node1/cpulist)"
echo "packages: $(cat $cpus/cpu*/topology/package_cpus_list | sort -u | tr '\n' ' ')"
ringtail record -a -e cpu-clock -F 50 -o all.data -- sh -c 'workload 10; each-runs 0 15'; echo "all: $?"
ringtail record -C 2,5,9 -e cpu-clock -F 50 -o some.data -- each-runs 0 15; echo "some: $?"

# Three recordings at once, which end when they are told to.
names="offline offline-cpu offline-core"
# Their clock is that of up().
record="ringtail record -a -e cpu-clock -F 50 -k boottime"
$record --fail-on-loss -o offline.data 2>offline.err & pids=$!
$record --threads -o offline-cpu.data 2>offline-cpu.err & pids="$pids $!"
$record --threads=core -z -o offline-core.data 2>offline-core.err & pids="$pids $!"
for pid in $pids; do
	for try in $(seq 600); do
		ringtail ctl --pid $pid ping >/dev/null 2>&1 && break
		sleep 1
	done
done
echo "begun at: $(up)"
each-runs 0 15
echo "going at: $(up)"
echo 0 >$cpus/cpu3/online
echo "offline at: $(up)"
echo "online: $(cat $cpus/online)"
each-runs 0 15 3
echo "coming at: $(up)"
echo 1 >$cpus/cpu3/online
echo "online at: $(up)"
echo "online again: $(cat $cpus/online)"
back 1
echo "back at: $(up)"
each-runs 0 15
echo "leaving at: $(up)"
# Away for less than a look takes.
echo 0 >$cpus/cpu3/online
echo 1 >$cpus/cpu3/online
back 2
echo "again at: $(up)"
each-runs 0 15
kill -TERM $pids
for pid in $pids; do
	wait $pid
	echo "${names%% *}: $?"
	names=${names#* }
done
sed 's/^/hotplug: /' offline.err

echo 0 >$cpus/cpu3/online
ringtail record -a -e cpu-clock -F 50 -o without.data -- each-runs 0 15 3; echo "without: $?"
ringtail record -a -e cpu-clock -F 50 --threads=core -o without-core.data -- watched without-core each-runs 0 15 3
echo "without-core: $?"
text=$(ringtail record -a --threads=0-7/3:8-15/8 -o x.data -- true 2>&1)
echo "bound to none: $? $text"
echo 1 >$cpus/cpu3/online
tar cf recordings.tar *.data
emit recordings.tar
