# SPDX-License-Identifier: GPL-2.0
# Hardware counters, as they are recorded in all ways to name them.
pmutest; echo "pmutest: $?"
ringtail record -e cycles,instructions -c 1000000 -o both.data -- workload 4; echo "both: $?"
ringtail record -e '{cycles:u,instructions:u}' -c 1000000 -o group.data -- workload 4; echo "group: $?"
ringtail record -F 1000 -o default.data -- workload 4; echo "default: $?"
ringtail record -e r11:u -c 1000000 -o raw.data -- workload 4; echo "raw: $?"
ringtail record -e armv8_pmuv3/cpu_cycles/u -c 1000000 -o pmu.data -- workload 4; echo "pmu: $?"
# The emulated counters count 4 % too many at times: the test takes the middle ones of three runs.
for i in 1 2 3; do
	ringtail stat -j -o alone-$i.json -e instructions:u -- workload 4; echo "alone-$i: $?"
	ringtail stat -j -o grouped-$i.json -e '{cycles:u,instructions:u}',task-clock -- workload 4; echo "grouped-$i: $?"
done
turns=instructions:u; for i in 1 2 3 4 5 6 7 8 9 10 11; do turns=$turns,instructions:u; done
ringtail stat -j -o turns.json -e $turns -- workload 4; echo "turns: $?"
controlled control
controlled control-threads --threads
tar cf recordings.tar *.data *.json
emit recordings.tar
