# SPDX-License-Identifier: GPL-2.0
# Hardware counters, as they are recorded in all ways to name them.
pmutest; echo "pmutest: $?"
ringtail record -e cycles,instructions -c 1000000 -o both.data -- workload 4; echo "both: $?"
ringtail record -e '{cycles:u,instructions:u}' -c 1000000 -o group.data -- workload 4; echo "group: $?"
ringtail record -F 1000 -o default.data -- workload 4; echo "default: $?"
ringtail record -e r11:u -c 1000000 -o raw.data -- workload 4; echo "raw: $?"
ringtail record -e armv8_pmuv3/cpu_cycles/u -c 1000000 -o pmu.data -- workload 4; echo "pmu: $?"
controlled control
controlled control-threads --threads
tar cf recordings.tar *.data
emit recordings.tar
