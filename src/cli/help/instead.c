// SPDX-License-Identifier: Apache-2.0
#include "cli/help/instead.h"

#include <stddef.h>
#include <string.h>

/* Source: tools/perf/command-list.txt, 6.1 to 7.0. */
// clang-format off
static const struct {
	const char *name, *instead;
} commands[] = {
	{"archive", "'ringtail pack' makes a recording carry the names of its functions; 'ringtail pack --perf' writes such an archive"},
	{"bench", "use 'perf bench'"},
	{"buildid-cache", "use 'perf buildid-cache'; ringtail reads that cache, and asks debuginfod"},
	{"c2c", "record with 'ringtail record -d', then 'ringtail report --mem-mode'; or use 'perf c2c', which reads "
	 "ringtail's recordings"},
	{"check", "'ringtail version' prints what ringtail was built without"},
	{"config", "ringtail has no settings but its options"},
	{"daemon", "use 'ringtail record' and 'ringtail ctl', or 'perf daemon'"},
	{"data", "use 'ringtail export', or 'perf data', which reads ringtail's recordings"},
	{"ftrace", "use 'perf ftrace', or 'ringtail record -e' with tracepoints, which 'ringtail list' lists"},
	{"inject", "ringtail reads jitdumps, build-ids and hardware trace without it: use 'ringtail report'; or 'perf "
	 "inject', which reads ringtail's recordings"},
	{"iostat", "use 'perf iostat'"},
	{"kallsyms", "use 'perf kallsyms', or search /proc/kallsyms"},
	{"kmem", "record with 'ringtail record -e kmem:*'; then use 'perf kmem', which reads ringtail's recordings"},
	{"kvm", "record with 'ringtail record -e kvm:*'; then use 'perf kvm', which reads ringtail's recordings"},
	{"kwork", "record with 'ringtail record -e irq:*,workqueue:*'; then use 'perf kwork', which reads ringtail's "
	 "recordings"},
	{"lock", "record with 'ringtail record -e lock:*'; then use 'perf lock', which reads ringtail's recordings"},
	{"mem", "record with 'ringtail record -d', then 'ringtail report --mem-mode'; or use 'perf mem', which reads "
	 "ringtail's recordings"},
	{"probe", "'ringtail record -e uprobe:FILE:FUNCTION' and '-e kprobe:FUNCTION' make probes; or use 'perf probe'"},
	{"sched", "record with 'ringtail record --off-cpu', then 'ringtail report sched' and 'ringtail report --off-cpu'; or "
	 "use 'perf sched', which reads ringtail's recordings"},
	{"test", "use 'perf test'"},
	{"timechart", "'ringtail export --to chrome' and '--to firefox' show times; or use 'perf timechart', which reads "
	 "ringtail's recordings"},
	{"trace", "use 'ringtail record -e raw_syscalls:sys_enter', then 'ringtail script'; or 'perf trace'"},
};
// clang-format on

const char *instead_of(const char *perf_command)
{
	for (size_t i = 0; i < sizeof(commands) / sizeof(*commands); i++)
		if (!strcmp(commands[i].name, perf_command))
			return commands[i].instead;
	return NULL;
}
