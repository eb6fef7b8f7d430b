// SPDX-License-Identifier: Apache-2.0
#include "perfdata/record.h"

#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))

static const char *const kernel_names[] = {
	[PERF_RECORD_MMAP] = "MMAP",
	[PERF_RECORD_LOST] = "LOST",
	[PERF_RECORD_COMM] = "COMM",
	[PERF_RECORD_EXIT] = "EXIT",
	[PERF_RECORD_THROTTLE] = "THROTTLE",
	[PERF_RECORD_UNTHROTTLE] = "UNTHROTTLE",
	[PERF_RECORD_FORK] = "FORK",
	[PERF_RECORD_READ] = "READ",
	[PERF_RECORD_SAMPLE] = "SAMPLE",
	[PERF_RECORD_MMAP2] = "MMAP2",
	[PERF_RECORD_AUX] = "AUX",
	[PERF_RECORD_ITRACE_START] = "ITRACE_START",
	[PERF_RECORD_LOST_SAMPLES] = "LOST_SAMPLES",
	[PERF_RECORD_SWITCH] = "SWITCH",
	[PERF_RECORD_SWITCH_CPU_WIDE] = "SWITCH_CPU_WIDE",
	[PERF_RECORD_NAMESPACES] = "NAMESPACES",
	[PERF_RECORD_KSYMBOL] = "KSYMBOL",
	[PERF_RECORD_BPF_EVENT] = "BPF_EVENT",
	[PERF_RECORD_CGROUP] = "CGROUP",
	[PERF_RECORD_TEXT_POKE] = "TEXT_POKE",
	[PERF_RECORD_AUX_OUTPUT_HW_ID] = "AUX_OUTPUT_HW_ID",
	[PERF_RECORD_CALLCHAIN_DEFERRED] = "CALLCHAIN_DEFERRED",
};

/* from PERF_RECORD_HEADER_ATTR */
static const char *const user_names[] = {
	"HEADER_ATTR",
	"HEADER_EVENT_TYPE",
	"HEADER_TRACING_DATA",
	"HEADER_BUILD_ID",
	"FINISHED_ROUND",
	"ID_INDEX",
	"AUXTRACE_INFO",
	"AUXTRACE",
	"AUXTRACE_ERROR",
	"THREAD_MAP",
	"CPU_MAP",
	"STAT_CONFIG",
	"STAT",
	"STAT_ROUND",
	"EVENT_UPDATE",
	"TIME_CONV",
	"HEADER_FEATURE",
	"COMPRESSED",
	"FINISHED_INIT",
	"COMPRESSED2",
	"BPF_METADATA",
	"SCHEDSTAT_CPU",
	"SCHEDSTAT_DOMAIN",
};

/* from SIMPLEPERF_RECORD_TYPE_START + 1 */
static const char *const simpleperf_names[] = {
	"SIMPLEPERF_KERNEL_SYMBOL", "SIMPLEPERF_DSO",
	"SIMPLEPERF_SYMBOL",	    "SIMPLEPERF_SPLIT",
	"SIMPLEPERF_SPLIT_END",	    "SIMPLEPERF_EVENT_ID",
	"SIMPLEPERF_CALLCHAIN",	    "SIMPLEPERF_UNWINDING_RESULT",
	"SIMPLEPERF_TRACING_DATA",  "SIMPLEPERF_DEBUG",
};

static const struct {
	uint32_t first;
	const char *const *names;
	size_t nr;
} ranges[] = {
	{0, kernel_names, ARRAY_SIZE(kernel_names)},
	{PERF_RECORD_HEADER_ATTR, user_names, ARRAY_SIZE(user_names)},
	{SIMPLEPERF_RECORD_TYPE_START + 1, simpleperf_names, ARRAY_SIZE(simpleperf_names)},
};

const char *pd_record_name(uint32_t type)
{
	for (size_t i = 0; i < ARRAY_SIZE(ranges); i++) {
		if (type >= ranges[i].first && type - ranges[i].first < ranges[i].nr)
			return ranges[i].names[type - ranges[i].first];
	}
	return NULL;
}

bool pd_record_is_sideband(uint32_t type)
{
	/* Type 0 is not a record but zeroed padding. */
	return type && type != PERF_RECORD_SAMPLE;
}
