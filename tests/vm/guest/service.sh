# SPDX-License-Identifier: GPL-2.0
# systemd is the first process here (guest/systemd), and the unit is enabled as it is installed.
service() {
	systemctl show -P "$1" ringtail
}
group=/sys/fs/cgroup/system.slice/ringtail.service

echo "paranoid: $(cat /proc/sys/kernel/perf_event_paranoid)"
echo "first: $(cat /proc/1/comm)"
echo "state: $(service ActiveState)"
[ "$(service ActiveState)" = active ] || exit 1
echo "memory: $(cat $group/memory.max)"
mkdir -m 700 /home/user
cp /usr/bin/short /home/user/homely
cd /var/lib/ringtail
# A second of work, more than once where so slow a machine is sampled less often than that (--max-cpu).
for try in $(seq 15); do
	for i in $(seq 10); do /home/user/homely 100; done
	systemctl reload ringtail
	reloaded=$?
	snapshot=$(ls -d perf.data.2* | tail -n 1)
	ringtail report -q -i $snapshot -g none --no-children | grep -q 'homely  *homely .* work_0000' && break
done
echo "reload: $reloaded"
ringtail report -q -i $snapshot -g none --no-children | sed -n 's/^ *[0-9.]*% *\(homely\|swapper\)/row: \1/p'
before=$(md5sum $snapshot)

# One that needs more memory than it may have is started again.
systemctl set-property --runtime ringtail MemoryMax=1M
i=0
while [ "$(service NRestarts)" = 0 ] && [ $i -lt 1500 ]; do
	sleep 0.2
	i=$((i + 1))
done
systemctl set-property --runtime ringtail MemoryMax=512M
i=0
while [ "$(service ActiveState)" != active ] && [ $i -lt 1500 ]; do
	sleep 0.2
	i=$((i + 1))
done
echo "restarted: $(service ActiveState) $(test "$(md5sum $snapshot)" = "$before" && echo as before)"
systemctl stop ringtail
echo "end: $(service ActiveState) $(service Result)"
journalctl -u ringtail -o cat --no-pager | sed 's/^/journal: /'
cp $snapshot snapshot.data
emit snapshot.data
