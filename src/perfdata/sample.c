// SPDX-License-Identifier: Apache-2.0
/*
 * The layout of a sample is written down once, in pd_sample_walk() and its parts, in the order of
 * perf_output_sample() in kernel/events/core.c.
 */
#include "perfdata/sample.h"

#include <errno.h>

#include "base/buf.h"
#include "perfdata/codec.h"

/* Not in the kernel headers of 6.1. */
#define BRANCH_COUNTERS (1ULL << 19)

/* Fields of walk_rare(): those behind PERF_SAMPLE_RAW. */
#define RARE (~((uint64_t)PERF_SAMPLE_BRANCH_STACK - 1) & ~(uint64_t)PERF_SAMPLE_IDENTIFIER)

/*
 * pd_sample_decode() has a copy of the frequent parts, where the compiler knows that the cursor is
 * native, and keeps it in registers. Functions that are not inlined get a copy of the cursor, so
 * that this one needs no address.
 */
#define HOT_INLINE inline __attribute__((always_inline))

void pd_sample_init(struct pd_sample *s, const struct perf_event_header *hdr,
		    const struct pd_attr *attr)
{
	/* For an initializer of this size gcc emits rep stos, which takes several times as long. */
	mem_zero(s, sizeof(*s));
	s->type = attr->sample_type;
	s->cpumode = hdr->misc & PERF_RECORD_MISC_CPUMODE_MASK;
	s->misc = hdr->misc;
	s->pid = s->tid = s->cpu = ~0u;
	s->period = attr->flags & PD_ATTR_FREQ ? 1 : attr->sample_period;
	s->branch_hw_idx = ~0ULL;
}

/* As cursor_u64(); @fits: it is known to fit and to be native. */
static HOT_INLINE void field_u64(struct cursor *c, bool fits, uint64_t *ret)
{
	if (!fits) {
		cursor_u64(c, ret);
		return;
	}
	memcpy(ret, c->p + c->at, sizeof(*ret));
	c->at += sizeof(*ret);
}

/* As field_u64(). */
static HOT_INLINE void field_u32(struct cursor *c, bool fits, uint32_t *ret)
{
	if (!fits) {
		cursor_u32(c, ret);
		return;
	}
	memcpy(ret, c->p + c->at, sizeof(*ret));
	c->at += sizeof(*ret);
}

#define IDENTITY_MAX (9 * sizeof(uint64_t)) /* bytes that walk_fields() reads at most */

static HOT_INLINE void walk_fields(struct cursor *c, uint64_t type, bool fits, struct pd_sample *s)
{
	uint32_t reserved;

	if (type & PERF_SAMPLE_IDENTIFIER)
		field_u64(c, fits, &s->id);
	if (type & PERF_SAMPLE_IP)
		field_u64(c, fits, &s->ip);
	if (type & PERF_SAMPLE_TID) {
		field_u32(c, fits, &s->pid);
		field_u32(c, fits, &s->tid);
	}
	if (type & PERF_SAMPLE_TIME)
		field_u64(c, fits, &s->time);
	if (type & PERF_SAMPLE_ADDR)
		field_u64(c, fits, &s->addr);
	if (type & PERF_SAMPLE_ID)
		field_u64(c, fits, &s->id);
	if (type & PERF_SAMPLE_STREAM_ID)
		field_u64(c, fits, &s->stream_id);
	if (type & PERF_SAMPLE_CPU) {
		field_u32(c, fits, &s->cpu);
		field_u32(c, fits, &reserved);
	}
	if (type & PERF_SAMPLE_PERIOD)
		field_u64(c, fits, &s->period);
}

static HOT_INLINE void walk_identity(struct cursor *c, uint64_t type, struct pd_sample *s)
{
	if (!c->swap && cursor_left(c) >= IDENTITY_MAX)
		walk_fields(c, type, true, s);
	else
		walk_fields(c, type, false, s);
}

/* Words of one event's entry: value[, id][, lost]. */
static unsigned int read_entry_words(uint64_t format)
{
	return 1 + !!(format & PERF_FORMAT_ID) + !!(format & PERF_FORMAT_LOST);
}

static void walk_read(struct cursor *c, uint64_t format, struct pd_sample *s)
{
	const uint64_t *values;
	uint64_t nr = 1;

	s->read.stride = read_entry_words(format);
	if (format & PERF_FORMAT_GROUP)
		cursor_u64(c, &nr);
	else
		s->read.values = cursor_u64s(c, 1);
	if (format & PERF_FORMAT_TOTAL_TIME_ENABLED)
		cursor_u64(c, &s->read.time_enabled);
	if (format & PERF_FORMAT_TOTAL_TIME_RUNNING)
		cursor_u64(c, &s->read.time_running);
	if (!(format & PERF_FORMAT_GROUP)) {
		values = cursor_u64s(c, s->read.stride - 1);
	} else {
		if (nr > cursor_left(c) / sizeof(uint64_t) / s->read.stride)
			c->bad = true;
		values = cursor_u64s(c, c->bad ? 0 : nr * s->read.stride);
		s->read.values = values;
	}
	if (values)
		s->read.nr = nr;
}

static HOT_INLINE void walk_callchain(struct cursor *c, struct pd_sample *s)
{
	uint64_t nr = 0;

	cursor_u64(c, &nr);
	s->callchain = cursor_u64s(c, nr);
	s->callchain_nr = s->callchain ? nr : 0;
}

static HOT_INLINE void walk_raw(struct cursor *c, struct pd_sample *s)
{
	uint32_t size = 0;

	cursor_u32(c, &size);
	s->raw = cursor_bytes(c, size);
	s->raw_size = s->raw ? size : 0;
}

/*
 * Moves the bit fields of perf_branch_entry.flags from the positions of the other byte order to the
 * host's. The first field starts at the lowest bit on a little-endian machine, and at the highest
 * on a big-endian one.
 */
static uint64_t branch_flags_turn(uint64_t flags)
{
	static const uint8_t widths[] = {1, 1, 1, 1, 16, 4, 2, 4, 3, 31};
	unsigned int low = 0;
	uint64_t ret = 0;

	for (size_t i = 0; i < sizeof(widths); i++) {
		unsigned int high = 64 - low - widths[i];
		uint64_t mask = (1ULL << widths[i]) - 1;

#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
		ret |= (flags >> high & mask) << low;
#else
		ret |= (flags >> low & mask) << high;
#endif
		low += widths[i];
	}
	return ret;
}

static void walk_branches(struct cursor *c, uint64_t branch_type, struct pd_sample *s)
{
	const size_t words = sizeof(struct pd_branch) / sizeof(uint64_t);
	struct pd_branch *branches;
	uint64_t nr = 0;

	cursor_u64(c, &nr);
	if (branch_type & PERF_SAMPLE_BRANCH_HW_INDEX)
		cursor_u64(c, &s->branch_hw_idx);
	if (nr > cursor_left(c) / sizeof(struct pd_branch))
		c->bad = true;
	branches = (struct pd_branch *)cursor_u64s(c, c->bad ? 0 : nr * words);
	if (!branches)
		return;
	for (uint64_t i = 0; c->in_place && i < nr; i++)
		branches[i].flags = branch_flags_turn(branches[i].flags);
	s->branches = branches;
	s->branch_nr = nr;
	if (branch_type & BRANCH_COUNTERS)
		s->branch_counters = cursor_u64s(c, nr);
}

static void walk_regs(struct cursor *c, uint64_t mask, uint64_t *ret_abi, const uint64_t **ret)
{
	uint64_t abi = PERF_SAMPLE_REGS_ABI_NONE;

	cursor_u64(c, &abi);
	if (abi == PERF_SAMPLE_REGS_ABI_NONE)
		return;
	*ret = cursor_u64s(c, (uint64_t)__builtin_popcountll(mask));
	if (*ret)
		*ret_abi = abi;
}

static void walk_stack(struct cursor *c, struct pd_sample *s)
{
	uint64_t size = 0, valid = 0;
	const uint8_t *stack;

	if (!cursor_u64(c, &size) || !size)
		return;
	stack = cursor_bytes(c, size);
	if (!cursor_u64(c, &valid))
		return;
	if (valid > size) {
		c->at -= sizeof(valid);
		c->bad = true;
		return;
	}
	s->user_stack = stack;
	s->user_stack_size = valid;
}

static void walk_weight(struct cursor *c, uint64_t type, struct pd_sample *s)
{
	uint64_t full = 0;

	cursor_u64(c, &full);
	if (type & PERF_SAMPLE_WEIGHT) {
		s->weight = full;
		return;
	}
	/* The kernel declares the parts so that they are in these bits in either byte order. */
	s->weight = (uint32_t)full;
	s->weight_var2 = (uint16_t)(full >> 32);
	s->weight_var3 = (uint16_t)(full >> 48);
}

static void walk_aux(struct cursor *c, struct pd_sample *s)
{
	uint64_t size = 0;

	cursor_u64(c, &size);
	s->aux = cursor_bytes(c, size);
	s->aux_size = s->aux ? size : 0;
}

/* Walks the fields behind PERF_SAMPLE_RAW. */
static void walk_rare(struct cursor *c, const struct pd_attr *attr, struct pd_sample *s)
{
	const uint64_t type = attr->sample_type;

	if (type & PERF_SAMPLE_BRANCH_STACK)
		walk_branches(c, attr->branch_sample_type, s);
	if (type & PERF_SAMPLE_REGS_USER)
		walk_regs(c, attr->sample_regs_user, &s->user_regs_abi, &s->user_regs);
	if (type & PERF_SAMPLE_STACK_USER)
		walk_stack(c, s);
	if (type & (PERF_SAMPLE_WEIGHT | PERF_SAMPLE_WEIGHT_STRUCT))
		walk_weight(c, type, s);
	if (type & PERF_SAMPLE_DATA_SRC)
		cursor_u64(c, &s->data_src);
	if (type & PERF_SAMPLE_TRANSACTION)
		cursor_u64(c, &s->transaction);
	if (type & PERF_SAMPLE_REGS_INTR)
		walk_regs(c, attr->sample_regs_intr, &s->intr_regs_abi, &s->intr_regs);
	if (type & PERF_SAMPLE_PHYS_ADDR)
		cursor_u64(c, &s->phys_addr);
	if (type & PERF_SAMPLE_CGROUP)
		cursor_u64(c, &s->cgroup);
	if (type & PERF_SAMPLE_DATA_PAGE_SIZE)
		cursor_u64(c, &s->data_page_size);
	if (type & PERF_SAMPLE_CODE_PAGE_SIZE)
		cursor_u64(c, &s->code_page_size);
	if (type & PERF_SAMPLE_AUX)
		walk_aux(c, s);
}

static HOT_INLINE void walk(struct cursor *c, const struct pd_attr *attr, struct pd_sample *s)
{
	const uint64_t type = attr->sample_type;
	struct cursor copy;

	walk_identity(c, type, s);
	if (type & PERF_SAMPLE_READ) {
		copy = *c;
		walk_read(&copy, attr->read_format, s);
		*c = copy;
	}
	if (type & PERF_SAMPLE_CALLCHAIN)
		walk_callchain(c, s);
	if (type & PERF_SAMPLE_RAW)
		walk_raw(c, s);
	if (type & RARE) {
		copy = *c;
		walk_rare(&copy, attr, s);
		*c = copy;
	}
}

void pd_sample_walk(struct cursor *c, const struct pd_attr *attr, struct pd_sample *s)
{
	walk(c, attr, s);
}

int pd_sample_decode(const struct perf_event_header *hdr, const struct pd_evsel *evsel,
		     struct pd_sample *ret, size_t *ret_at)
{
	struct cursor c = {
		.p = (const uint8_t *)hdr, .at = PD_RECORD_HEADER_SIZE, .end = hdr->size};

	pd_sample_init(ret, hdr, &evsel->attr);
	if (c.end < c.at) {
		c.bad = true;
		c.at = c.end;
	}
	walk(&c, &evsel->attr, ret);
	if (!c.bad)
		return 0;
	if (ret_at)
		*ret_at = c.at;
	return -EBADMSG;
}

struct pd_read_value pd_sample_read_value(const struct pd_sample *sample,
					  const struct pd_evsel *evsel, uint64_t i)
{
	const uint64_t format = evsel->attr.read_format;
	const uint64_t *p = sample->read.values + i * sample->read.stride;
	struct pd_read_value v = {.value = *p++};

	/* The times of a single event are between its value and its other words. */
	if (!(format & PERF_FORMAT_GROUP))
		p += !!(format & PERF_FORMAT_TOTAL_TIME_ENABLED) +
		     !!(format & PERF_FORMAT_TOTAL_TIME_RUNNING);
	if (format & PERF_FORMAT_ID)
		v.id = *p++;
	if (format & PERF_FORMAT_LOST)
		v.lost = *p;
	return v;
}
