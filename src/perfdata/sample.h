/* SPDX-License-Identifier: Apache-2.0 */
/*
 * PERF_RECORD_SAMPLE, checked and decoded by the rules of record.h: native order, no allocation,
 * pointers into the record.
 */
#ifndef RINGTAIL_PERFDATA_SAMPLE_H
#define RINGTAIL_PERFDATA_SAMPLE_H

#include <string.h>

#include "perfdata/attr.h"
#include "perfdata/record.h"

/* One value of PERF_SAMPLE_READ or a READ record. */
struct pd_read_value {
	uint64_t value, id, lost; /* id and lost: 0 unless the read format has them */
};

struct pd_branch { /* struct perf_branch_entry */
	uint64_t from, to, flags;
};

/* Bits of the flags of struct perf_branch_entry, <linux/perf_event.h>. */
#define PD_BRANCH_MISPREDICTED 1u
#define PD_BRANCH_PREDICTED    2u
#define PD_BRANCH_IN_TX	       4u
#define PD_BRANCH_ABORT	       8u

/* Cycles since the branch before; 0: not counted. */
static inline unsigned int pd_branch_cycles(const struct pd_branch *b)
{
	return (unsigned int)(b->flags >> 4 & 0xffff);
}

struct pd_sample {
	uint64_t type;	 /* the attribute's sample_type, which selects the valid fields below */
	uint8_t cpumode; /* of misc: PERF_RECORD_MISC_KERNEL, USER, HYPERVISOR, GUEST_* */
	uint16_t misc;
	uint64_t ip;
	uint32_t pid, tid; /* (uint32_t)-1 if absent */
	uint64_t time;	   /* 0 if absent */
	uint64_t addr, id, stream_id;
	uint32_t cpu;	 /* (uint32_t)-1 if absent */
	uint64_t period; /* the attribute's sample_period if absent (1 for a frequency) */

	struct {	     /* PERF_SAMPLE_READ */
		uint64_t nr; /* 1 without PERF_FORMAT_GROUP */
		uint64_t time_enabled, time_running;
		const uint64_t *values; /* for pd_sample_read_value() */
		unsigned int stride;	/* words of an entry in a group: value[, id][, lost] */
	} read;

	uint64_t callchain_nr;
	const uint64_t *callchain; /* PERF_CONTEXT_* markers included */

	uint32_t raw_size;
	const uint8_t *raw;

	uint64_t branch_nr, branch_hw_idx; /* hw_idx: ~0 if absent */
	const struct pd_branch *branches;
	const uint64_t *branch_counters; /* branch_nr words, or NULL */

	uint64_t user_regs_abi, intr_regs_abi; /* PERF_SAMPLE_REGS_ABI_*; 0: no registers */
	const uint64_t *user_regs, *intr_regs; /* one word for each bit of the attribute's mask */

	uint64_t user_stack_size; /* valid bytes (dyn_size) */
	const uint8_t *user_stack;

	uint64_t weight; /* WEIGHT, or var1_dw of WEIGHT_STRUCT */
	uint16_t weight_var2, weight_var3;
	uint64_t data_src, transaction, phys_addr, cgroup, data_page_size, code_page_size;

	uint64_t aux_size;
	const uint8_t *aux;
};

/*
 * Decodes the native sample @hdr of @evsel. Returns 0, or -EBADMSG: then @ret holds the fields
 * before the fault, and *@ret_at (may be NULL) its offset from the start of the record.
 */
int pd_sample_decode(const struct perf_event_header *hdr, const struct pd_evsel *evsel,
		     struct pd_sample *ret, size_t *ret_at);

/*
 * Returns the time of the native sample @hdr of @evsel; 0: it has none. Inline, as it is called for
 * each sample of a recording.
 */
static inline uint64_t pd_sample_time(const struct perf_event_header *hdr,
				      const struct pd_evsel *evsel)
{
	const uint64_t type = evsel->attr.sample_type;
	const size_t at = sizeof(*hdr) + (!!(type & PERF_SAMPLE_IDENTIFIER) +
					  !!(type & PERF_SAMPLE_IP) + !!(type & PERF_SAMPLE_TID)) *
						 sizeof(uint64_t);
	uint64_t time;

	if (!(type & PERF_SAMPLE_TIME) || at + sizeof(time) > hdr->size)
		return 0;
	memcpy(&time, (const uint8_t *)hdr + at, sizeof(time));
	return time;
}

/* Returns the @i-th value (i < sample->read.nr), in the layout of the event's read_format. */
struct pd_read_value pd_sample_read_value(const struct pd_sample *sample,
					  const struct pd_evsel *evsel, uint64_t i);

#endif
