# SPDX-License-Identifier: GPL-2.0
# CPU 3 goes offline and comes back three times, while calls are counted in every way that there is:
# 1000 on each CPU before and after each time, 500 on each of the others meanwhile. A ring has room for all of
# them, if nobody reads it meanwhile.
cpus=/sys/devices/system/cpu
calls="-a -m 1M -e raw_syscalls:sys_enter --filter id==110 -c 1"
names="file turned memory newest group waits"
ringtail record $calls -o file.data 2>file.err & pids=$!
ringtail record $calls --threads -z --switch-output -o turned.data 2>turned.err & turned=$!
ringtail record -a -e cpu-clock -F 50 -M 16M -z --max-cpu 90% \
	--trigger 'raw_syscalls:sys_enter id == 110,limit=1/1h' -o memory.data 2>memory.err & pids="$pids $!"
ringtail record $calls --overwrite -m 64K -o newest.data 2>newest.err & pids="$pids $!"
ringtail record -a -m 2M -e '{raw_syscalls:sys_enter,raw_syscalls:sys_exit}' --filter id==110 -c 1 \
	-o group.data 2>group.err & pids="$pids $!"
ringtail record --off-cpu -m 1M -o waits.data -p $$ 2>waits.err & pids="$pids $!"
pids="$pids $turned"
for pid in $pids; do
	for try in $(seq 600); do
		ringtail ctl --pid $pid ping >/dev/null 2>&1 && break
		sleep 1
	done
done
for round in 1 2 3; do
	load 1000
	echo 0 >$cpus/cpu3/online
	load 500
	echo 1 >$cpus/cpu3/online
	for name in $names; do
		for try in $(seq 1000); do
			[ "$(grep -c 'is online again' $name.err)" -ge $round ] && break
			sleep 0.2
		done
	done
	[ $round != 2 ] || ringtail ctl --pid $turned rotate >/dev/null
done
load 1000
kill -TERM $pids
for pid in $pids; do
	wait $pid
	echo "status: $?"
done
for name in $names; do
	sed "s/^/$name: /" $name.err
done
tar cf recordings.tar *.data*
emit recordings.tar
