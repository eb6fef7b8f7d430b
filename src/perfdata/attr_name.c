// SPDX-License-Identifier: Apache-2.0
/* Makes event names from attributes, spelled as in perf. */
#include "perfdata/attr.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <linux/hw_breakpoint.h>

#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))

struct attr_name_text {
	char *out;
	size_t size;
	int len; /* of the whole name, also if it exceeds @size */
};

__attribute__((format(printf, 2, 3))) static void text_add(struct attr_name_text *t,
							   const char *fmt, ...)
{
	bool room = (size_t)t->len < t->size;
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vsnprintf(room ? t->out + t->len : NULL, room ? t->size - t->len : 0, fmt, ap);
	va_end(ap);
	if (n > 0)
		t->len += n;
}

static const char *const hardware_names[] = {
	"cycles",
	"instructions",
	"cache-references",
	"cache-misses",
	"branches",
	"branch-misses",
	"bus-cycles",
	"stalled-cycles-frontend",
	"stalled-cycles-backend",
	"ref-cycles",
};

static const char *const software_names[] = {
	"cpu-clock",	    "task-clock",   "page-faults",  "context-switches",
	"cpu-migrations",   "minor-faults", "major-faults", "alignment-faults",
	"emulation-faults", "dummy",	    "bpf-output",   "cgroup-switches",
};

#define READ	 (1u << PERF_COUNT_HW_CACHE_OP_READ)
#define WRITE	 (1u << PERF_COUNT_HW_CACHE_OP_WRITE)
#define PREFETCH (1u << PERF_COUNT_HW_CACHE_OP_PREFETCH)

static const struct {
	const char *name;
	unsigned int ops; /* bits of the operations that this cache has */
} caches[] = {
	{"L1-dcache", READ | WRITE | PREFETCH},
	{"L1-icache", READ | PREFETCH},
	{"LLC", READ | WRITE | PREFETCH},
	{"dTLB", READ | WRITE | PREFETCH},
	{"iTLB", READ},
	{"branch", READ},
	{"node", READ | WRITE | PREFETCH},
};

static const struct {
	const char *one, *many;
} cache_ops[] = {
	{"load", "loads"},
	{"store", "stores"},
	{"prefetch", "prefetches"},
};

static void cache_name(struct attr_name_text *t, uint64_t config)
{
	unsigned int cache = config & 0xff, op = config >> 8 & 0xff, result = config >> 16 & 0xff;

	if (cache >= ARRAY_SIZE(caches))
		text_add(t, "unknown-ext-hardware-cache-type");
	else if (op >= ARRAY_SIZE(cache_ops))
		text_add(t, "unknown-ext-hardware-cache-op");
	else if (result > PERF_COUNT_HW_CACHE_RESULT_MISS)
		text_add(t, "unknown-ext-hardware-cache-result");
	else if (!(caches[cache].ops & 1u << op))
		text_add(t, "invalid-cache");
	else if (result == PERF_COUNT_HW_CACHE_RESULT_MISS)
		text_add(t, "%s-%s-misses", caches[cache].name, cache_ops[op].one);
	else
		text_add(t, "%s-%s", caches[cache].name, cache_ops[op].many);
}

static void breakpoint_name(struct attr_name_text *t, const struct pd_attr *attr)
{
	text_add(t, "mem:0x%" PRIx64 ":%s%s%s", attr->config1,
		 attr->bp_type & HW_BREAKPOINT_R ? "r" : "",
		 attr->bp_type & HW_BREAKPOINT_W ? "w" : "",
		 attr->bp_type & HW_BREAKPOINT_X ? "x" : "");
}

/*
 * Appends the modifiers: the privilege levels that remain if some are excluded, p for each step of
 * precision, and H and G if host and guest differ from what the other modifiers imply (an event
 * without modifiers excludes guests, an event with some does not).
 */
static void modifiers(struct attr_name_text *t, const struct pd_attr *attr)
{
	unsigned int precise = (attr->flags & PD_ATTR_PRECISE_IP) >> PD_ATTR_PRECISE_IP_SHIFT;
	bool levels =
		attr->flags & (PD_ATTR_EXCLUDE_KERNEL | PD_ATTR_EXCLUDE_USER | PD_ATTR_EXCLUDE_HV);
	bool guest_implied = levels || precise;
	bool no_host = attr->flags & PD_ATTR_EXCLUDE_HOST;
	bool no_guest = attr->flags & PD_ATTR_EXCLUDE_GUEST;
	char mods[16];
	size_t n = 0;

	if (levels) {
		if (!(attr->flags & PD_ATTR_EXCLUDE_KERNEL))
			mods[n++] = 'k';
		if (!(attr->flags & PD_ATTR_EXCLUDE_USER))
			mods[n++] = 'u';
		if (!(attr->flags & PD_ATTR_EXCLUDE_HV))
			mods[n++] = 'h';
	}
	for (unsigned int i = 0; i < precise; i++)
		mods[n++] = 'p';
	if (no_host || no_guest == guest_implied) {
		if (!no_host)
			mods[n++] = 'H';
		if (!no_guest)
			mods[n++] = 'G';
	}
	if (n)
		text_add(t, ":%.*s", (int)n, mods);
}

static void table_name(struct attr_name_text *t, const char *const *names, size_t nr,
		       uint64_t config, const char *unknown)
{
	text_add(t, "%s", config < nr ? names[config] : unknown);
}

int pd_attr_name(const struct pd_attr *attr, char *out, size_t size)
{
	struct attr_name_text t = {out, size, 0};

	if (size)
		out[0] = '\0';
	switch (attr->type) {
	case PERF_TYPE_HARDWARE:
		/* The upper half is the PMU's number on a hybrid machine. */
		table_name(&t, hardware_names, ARRAY_SIZE(hardware_names), (uint32_t)attr->config,
			   "unknown-hardware");
		break;
	case PERF_TYPE_SOFTWARE:
		table_name(&t, software_names, ARRAY_SIZE(software_names), attr->config,
			   "unknown-software");
		break;
	case PERF_TYPE_HW_CACHE: cache_name(&t, attr->config); break;
	case PERF_TYPE_RAW: text_add(&t, "raw 0x%" PRIx64, attr->config); break;
	case PERF_TYPE_BREAKPOINT: breakpoint_name(&t, attr); break;
	case PERF_TYPE_TRACEPOINT: text_add(&t, "tracepoint %" PRIu64, attr->config); return t.len;
	default:
		text_add(&t, "unknown %" PRIu32 "/0x%" PRIx64, attr->type, attr->config);
		return t.len;
	}
	modifiers(&t, attr);
	return t.len;
}
