// SPDX-License-Identifier: Apache-2.0
#include <stdio.h>
#include <string.h>

#include "event/catalog/names.h"
#include "event/listing/kinds.h"
#include "perfdata/abi.h"

static const char *const hardware[] = {
	[PERF_COUNT_HW_CPU_CYCLES] = "Cycles of the CPU while it is not halted, at its own speed",
	[PERF_COUNT_HW_INSTRUCTIONS] = "Instructions that the CPU completed",
	[PERF_COUNT_HW_CACHE_REFERENCES] = "Accesses to the last level of cache",
	[PERF_COUNT_HW_CACHE_MISSES] = "Accesses that the last level of cache could not serve",
	[PERF_COUNT_HW_BRANCH_INSTRUCTIONS] = "Branches that the CPU completed",
	[PERF_COUNT_HW_BRANCH_MISSES] = "Branches that the CPU predicted wrongly",
	[PERF_COUNT_HW_BUS_CYCLES] = "Cycles of the bus; their meaning depends on the CPU",
	[PERF_COUNT_HW_STALLED_CYCLES_FRONTEND] = "Cycles in which no instruction was ready",
	[PERF_COUNT_HW_STALLED_CYCLES_BACKEND] =
		"Cycles in which instructions waited for data or units",
	[PERF_COUNT_HW_REF_CPU_CYCLES] = "Cycles while not halted, at a constant speed",
};

static const char *const software[] = {
	[PERF_COUNT_SW_CPU_CLOCK] = "Time of the CPU, in ns, by a timer",
	[PERF_COUNT_SW_TASK_CLOCK] = "Time that the task ran, in ns, by a timer",
	[PERF_COUNT_SW_PAGE_FAULTS] = "Page faults, minor and major",
	[PERF_COUNT_SW_CONTEXT_SWITCHES] = "Switches to another task",
	[PERF_COUNT_SW_CPU_MIGRATIONS] = "Moves of a task to another CPU",
	[PERF_COUNT_SW_PAGE_FAULTS_MIN] = "Page faults without input from a disk",
	[PERF_COUNT_SW_PAGE_FAULTS_MAJ] = "Page faults that read from a disk",
	[PERF_COUNT_SW_ALIGNMENT_FAULTS] = "Unaligned accesses that the kernel mended",
	[PERF_COUNT_SW_EMULATION_FAULTS] = "Instructions that the kernel emulated",
	[PERF_COUNT_SW_DUMMY] = "Nothing: carries records of tasks and maps alone",
	[PERF_COUNT_SW_BPF_OUTPUT] = "Data that a BPF program writes",
	[PERF_COUNT_SW_CGROUP_SWITCHES] = "Switches to a task of another cgroup",
};

static const char *const caches[] = {
	[PERF_COUNT_HW_CACHE_L1D] = "the first-level data cache",
	[PERF_COUNT_HW_CACHE_L1I] = "the first-level instruction cache",
	[PERF_COUNT_HW_CACHE_LL] = "the last level of cache",
	[PERF_COUNT_HW_CACHE_DTLB] = "the TLB for data",
	[PERF_COUNT_HW_CACHE_ITLB] = "the TLB for instructions",
	[PERF_COUNT_HW_CACHE_BPU] = "the branch predictor",
	[PERF_COUNT_HW_CACHE_NODE] = "memory of the own node",
};

static const char *const operations[] = {
	[PERF_COUNT_HW_CACHE_OP_READ] = "Loads",
	[PERF_COUNT_HW_CACHE_OP_WRITE] = "Stores",
	[PERF_COUNT_HW_CACHE_OP_PREFETCH] = "Prefetches",
};

static void describe_cache(uint64_t config, char *out, size_t size)
{
	snprintf(out, size, "%s %s %s", operations[config >> 8 & 0xff],
		 config >> 16 ? "that missed" : "in", caches[config & 0xff]);
}

/* An event waits here until its other names, which follow it, are known. */
struct generic_listing {
	struct listing_run *listing;
	enum listing_kind kind;
	struct generic_event event;
	char name[64], alias[64];
};

static const uint32_t types[] = {
	[LISTING_HARDWARE] = PERF_TYPE_HARDWARE,
	[LISTING_SOFTWARE] = PERF_TYPE_SOFTWARE,
	[LISTING_CACHE] = PERF_TYPE_HW_CACHE,
};

static void give(struct generic_listing *g)
{
	const struct listing_choice *choice = g->listing->choice;
	struct listed_event e = {.kind = g->kind, .name = g->name};
	char text[96];

	if (!*g->name || (choice->counts && !choice->counts(g->event.type, g->event.config)))
		return;
	e.alias = *g->alias ? g->alias : NULL;
	switch (g->kind) {
	case LISTING_HARDWARE: e.what = hardware[g->event.config]; break;
	case LISTING_SOFTWARE: e.what = software[g->event.config]; break;
	default: describe_cache(g->event.config, text, sizeof(text)); e.what = text;
	}
	listing_give(g->listing, &e);
}

static void take_name(void *arg, const char *name, const struct generic_event *event)
{
	struct generic_listing *g = arg;

	if (event->type != types[g->kind] || g->listing->rc)
		return;
	if (*g->name && event->config == g->event.config) {
		snprintf(g->alias, sizeof(g->alias), "%s", name);
		return;
	}
	give(g);
	g->event = *event;
	g->alias[0] = '\0';
	snprintf(g->name, sizeof(g->name), "%s", name);
}

int listing_generic(struct listing_run *l, enum listing_kind kind)
{
	struct generic_listing g = {.listing = l, .kind = kind};

	names_each(take_name, &g);
	if (!l->rc)
		give(&g);
	return l->rc;
}
