// SPDX-License-Identifier: Apache-2.0
#include "event/catalog/names.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "perfdata/abi.h"

#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))

struct name_row {
	const char *name;
	uint32_t type;
	uint32_t config;
};

/* The first row of a hardware event holds the name that sysfs gives to its alias. */
// clang-format off
static const struct name_row name_rows[] = {
	{"cpu-cycles", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES},
	{"cycles", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES},
	{"instructions", PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS},
	{"cache-references", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CACHE_REFERENCES},
	{"cache-misses", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CACHE_MISSES},
	{"branch-instructions", PERF_TYPE_HARDWARE, PERF_COUNT_HW_BRANCH_INSTRUCTIONS},
	{"branches", PERF_TYPE_HARDWARE, PERF_COUNT_HW_BRANCH_INSTRUCTIONS},
	{"branch-misses", PERF_TYPE_HARDWARE, PERF_COUNT_HW_BRANCH_MISSES},
	{"bus-cycles", PERF_TYPE_HARDWARE, PERF_COUNT_HW_BUS_CYCLES},
	{"stalled-cycles-frontend", PERF_TYPE_HARDWARE, PERF_COUNT_HW_STALLED_CYCLES_FRONTEND},
	{"idle-cycles-frontend", PERF_TYPE_HARDWARE, PERF_COUNT_HW_STALLED_CYCLES_FRONTEND},
	{"stalled-cycles-backend", PERF_TYPE_HARDWARE, PERF_COUNT_HW_STALLED_CYCLES_BACKEND},
	{"idle-cycles-backend", PERF_TYPE_HARDWARE, PERF_COUNT_HW_STALLED_CYCLES_BACKEND},
	{"ref-cycles", PERF_TYPE_HARDWARE, PERF_COUNT_HW_REF_CPU_CYCLES},

	{"cpu-clock", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_CLOCK},
	{"task-clock", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_TASK_CLOCK},
	{"page-faults", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS},
	{"faults", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS},
	{"context-switches", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CONTEXT_SWITCHES},
	{"cs", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CONTEXT_SWITCHES},
	{"cpu-migrations", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_MIGRATIONS},
	{"migrations", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_MIGRATIONS},
	{"minor-faults", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS_MIN},
	{"major-faults", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS_MAJ},
	{"alignment-faults", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_ALIGNMENT_FAULTS},
	{"emulation-faults", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_EMULATION_FAULTS},
	{"dummy", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_DUMMY},
	{"bpf-output", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_BPF_OUTPUT},
	{"cgroup-switches", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CGROUP_SWITCHES},
};

/*
 * A row of spellings. The usual one is the first of a cache or result, the second of an operation.
 */
struct word_row {
	const char *words[6];
};

static const struct word_row cache_words[] = {
	[PERF_COUNT_HW_CACHE_L1D] = {{"L1-dcache", "l1-d", "l1d", "L1-data"}},
	[PERF_COUNT_HW_CACHE_L1I] = {{"L1-icache", "l1-i", "l1i", "L1-instruction"}},
	[PERF_COUNT_HW_CACHE_LL] = {{"LLC", "L2"}},
	[PERF_COUNT_HW_CACHE_DTLB] = {{"dTLB", "d-tlb", "Data-TLB"}},
	[PERF_COUNT_HW_CACHE_ITLB] = {{"iTLB", "i-tlb", "Instruction-TLB"}},
	[PERF_COUNT_HW_CACHE_BPU] = {{"branch", "branches", "bpu", "btb", "bpc"}},
	[PERF_COUNT_HW_CACHE_NODE] = {{"node"}},
};

static const struct word_row op_words[] = {
	[PERF_COUNT_HW_CACHE_OP_READ] = {{"load", "loads", "read"}},
	[PERF_COUNT_HW_CACHE_OP_WRITE] = {{"store", "stores", "write"}},
	[PERF_COUNT_HW_CACHE_OP_PREFETCH] = {{"prefetch", "prefetches", "speculative-read",
					      "speculative-load"}},
};

static const struct word_row result_words[] = {
	[PERF_COUNT_HW_CACHE_RESULT_ACCESS] = {{"refs", "Reference", "ops", "access"}},
	[PERF_COUNT_HW_CACHE_RESULT_MISS] = {{"misses", "miss"}},
};

#define READ	 (1U << PERF_COUNT_HW_CACHE_OP_READ)
#define WRITE	 (1U << PERF_COUNT_HW_CACHE_OP_WRITE)
#define PREFETCH (1U << PERF_COUNT_HW_CACHE_OP_PREFETCH)

/* The operations that perf allows on each cache. */
static const unsigned int cache_ops[] = {
	[PERF_COUNT_HW_CACHE_L1D] = READ | WRITE | PREFETCH,
	[PERF_COUNT_HW_CACHE_L1I] = READ | PREFETCH,
	[PERF_COUNT_HW_CACHE_LL] = READ | WRITE | PREFETCH,
	[PERF_COUNT_HW_CACHE_DTLB] = READ | WRITE | PREFETCH,
	[PERF_COUNT_HW_CACHE_ITLB] = READ,
	[PERF_COUNT_HW_CACHE_BPU] = READ,
	[PERF_COUNT_HW_CACHE_NODE] = READ | WRITE | PREFETCH,
};
// clang-format on

/*
 * Takes the longest word of @rows off the front of *@s; a dash or the end must follow it. Returns
 * the row and moves *@s behind the word and its dash; -1 if no word fits. Leaves a dash at the very
 * end in *@s, so that the caller reports it.
 */
static int take_word(const struct word_row *rows, size_t count, const char **s)
{
	size_t longest = 0;
	int found = -1;

	for (size_t i = 0; i < count; i++) {
		for (size_t j = 0; j < ARRAY_SIZE(rows[i].words) && rows[i].words[j]; j++) {
			size_t len = strlen(rows[i].words[j]);

			if (len <= longest || strncasecmp(*s, rows[i].words[j], len) != 0)
				continue;
			if ((*s)[len] && (*s)[len] != '-')
				continue;
			longest = len;
			found = (int)i;
		}
	}
	if (found >= 0) {
		*s += longest;
		if ((*s)[0] == '-' && (*s)[1])
			(*s)++;
	}
	return found;
}

/* CACHE[-OP][-RESULT], operation and result in either order; perf's defaults: loads, refs. */
static int find_cache(const char *name, struct generic_event *ret)
{
	int cache = take_word(cache_words, ARRAY_SIZE(cache_words), &name);
	int op = -1, result = -1;

	if (cache < 0)
		return -ENOENT;
	while (*name) {
		int word = op < 0 ? take_word(op_words, ARRAY_SIZE(op_words), &name) : -1;

		if (word >= 0) {
			op = word;
			continue;
		}
		if (result >= 0)
			return -ENOENT;
		result = take_word(result_words, ARRAY_SIZE(result_words), &name);
		if (result < 0)
			return -ENOENT;
	}
	if (op < 0)
		op = PERF_COUNT_HW_CACHE_OP_READ;
	if (result < 0)
		result = PERF_COUNT_HW_CACHE_RESULT_ACCESS;
	if (!(cache_ops[cache] & 1U << op))
		return -EINVAL;
	ret->type = PERF_TYPE_HW_CACHE;
	ret->config = (uint64_t)cache | (uint64_t)op << 8 | (uint64_t)result << 16;
	return 0;
}

/* rNNN: the event code in hexadecimal, 0x allowed. */
static int find_raw(const char *name, struct generic_event *ret)
{
	const char *digits = name + 1;
	size_t len;

	if (name[0] != 'r')
		return -ENOENT;
	if (digits[0] == '0' && digits[1] == 'x')
		digits += 2;
	len = strspn(digits, "0123456789abcdefABCDEF");
	if (!len || digits[len])
		return -ENOENT;
	digits += strspn(digits, "0");
	if (strlen(digits) > 16)
		return -EINVAL;
	ret->type = PERF_TYPE_RAW;
	ret->config = strtoull(*digits ? digits : "0", NULL, 16);
	return 0;
}

int names_find(const char *name, struct generic_event *ret)
{
	int rc;

	for (size_t i = 0; i < ARRAY_SIZE(name_rows); i++) {
		if (strcmp(name, name_rows[i].name) == 0) {
			ret->type = name_rows[i].type;
			ret->config = name_rows[i].config;
			return 0;
		}
	}
	rc = find_cache(name, ret);
	return rc == -ENOENT ? find_raw(name, ret) : rc;
}

const char *names_hardware_symbol(uint64_t config)
{
	for (size_t i = 0; i < ARRAY_SIZE(name_rows); i++) {
		if (name_rows[i].type == PERF_TYPE_HARDWARE && name_rows[i].config == config)
			return name_rows[i].name;
	}
	return NULL;
}

void names_each(void (*fn)(void *arg, const char *name, const struct generic_event *event),
		void *arg)
{
	char name[64];

	for (size_t i = 0; i < ARRAY_SIZE(name_rows); i++)
		fn(arg, name_rows[i].name,
		   &(struct generic_event){name_rows[i].type, name_rows[i].config});
	for (size_t i = 0; i < ARRAY_SIZE(cache_words); i++) {
		for (size_t op = 0; op < ARRAY_SIZE(op_words); op++) {
			struct generic_event e = {PERF_TYPE_HW_CACHE, i | op << 8};

			if (!(cache_ops[i] & 1U << op))
				continue;
			snprintf(name, sizeof(name), "%s-%s", cache_words[i].words[0],
				 op_words[op].words[1]);
			fn(arg, name, &e);
			e.config |= PERF_COUNT_HW_CACHE_RESULT_MISS << 16;
			snprintf(name, sizeof(name), "%s-%s-misses", cache_words[i].words[0],
				 op_words[op].words[0]);
			fn(arg, name, &e);
		}
	}
}
