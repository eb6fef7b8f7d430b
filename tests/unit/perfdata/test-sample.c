// SPDX-License-Identifier: Apache-2.0
/*
 * Samples of every layout: each field alone, all together, and a thousand random mixtures, in both
 * byte orders and cut at every length.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <errno.h>

#include "perfdata/sample.h"
#include "wire.h"

#define SAMPLE_BITS	25
#define BRANCH_COUNTERS (1ULL << 19)
#define NR_IPS		3
#define NR_BRANCHES	2
#define NR_GROUP	2
#define AUX_BYTES	16
#define STACK_BYTES	24

/* mispred, cycles, type, spec and priv set, as bit fields from the bottom and from the top. */
#define BRANCH_FLAGS	      (1ULL | 0x1234ULL << 4 | 5ULL << 20 | 2ULL << 24 | 3ULL << 30)
#define BRANCH_FLAGS_FROM_TOP (1ULL << 63 | 0x1234ULL << 44 | 5ULL << 40 | 2ULL << 38 | 3ULL << 31)

/* Sizes with the u32 that goes before: a multiple of 8, as the kernel has it. */
static const char raw_bytes[] = "raw data of 20 bytes";
#define RAW_SIZE 20

static void put_read(struct wire *w, const struct pd_attr *a)
{
	uint64_t f = a->read_format;
	bool group = f & PERF_FORMAT_GROUP;

	wire_u64(w, group ? NR_GROUP : 1000);
	if (f & PERF_FORMAT_TOTAL_TIME_ENABLED)
		wire_u64(w, 501);
	if (f & PERF_FORMAT_TOTAL_TIME_RUNNING)
		wire_u64(w, 502);
	for (unsigned int i = 0; i < (group ? NR_GROUP : 1); i++) {
		if (group)
			wire_u64(w, 1000 + i);
		if (f & PERF_FORMAT_ID)
			wire_u64(w, 2000 + i);
		if (f & PERF_FORMAT_LOST)
			wire_u64(w, 3000 + i);
	}
}

static void put_branches(struct wire *w, const struct pd_attr *a)
{
	wire_u64(w, NR_BRANCHES);
	if (a->branch_sample_type & PERF_SAMPLE_BRANCH_HW_INDEX)
		wire_u64(w, 77);
	for (unsigned int i = 0; i < NR_BRANCHES; i++) {
		wire_u64(w, 600 + i);
		wire_u64(w, 700 + i);
		wire_u64(w, w->foreign ? BRANCH_FLAGS_FROM_TOP : BRANCH_FLAGS);
	}
	for (unsigned int i = 0; a->branch_sample_type & BRANCH_COUNTERS && i < NR_BRANCHES; i++)
		wire_u64(w, 800 + i);
}

static void put_regs(struct wire *w, uint64_t mask, uint64_t base)
{
	wire_u64(w, PERF_SAMPLE_REGS_ABI_64);
	for (int i = 0; i < __builtin_popcountll(mask); i++)
		wire_u64(w, base + i);
}

static void put_stack(struct wire *w)
{
	wire_u64(w, STACK_BYTES);
	wire_bytes(w, "stack stack stack stack!", STACK_BYTES);
	wire_u64(w, 16);
}

static void put_head(struct wire *w, uint64_t t)
{
	if (t & PERF_SAMPLE_IDENTIFIER)
		wire_u64(w, 42);
	if (t & PERF_SAMPLE_IP)
		wire_u64(w, 0xffffffff81000000);
	if (t & PERF_SAMPLE_TID) {
		wire_u32(w, 101);
		wire_u32(w, 102);
	}
	if (t & PERF_SAMPLE_TIME)
		wire_u64(w, 103);
	if (t & PERF_SAMPLE_ADDR)
		wire_u64(w, 104);
	if (t & PERF_SAMPLE_ID)
		wire_u64(w, 42);
	if (t & PERF_SAMPLE_STREAM_ID)
		wire_u64(w, 105);
	if (t & PERF_SAMPLE_CPU) {
		wire_u32(w, 106);
		wire_u32(w, 0);
	}
	if (t & PERF_SAMPLE_PERIOD)
		wire_u64(w, 107);
}

static void put_tail(struct wire *w, const struct pd_attr *a)
{
	uint64_t t = a->sample_type;

	if (t & (PERF_SAMPLE_WEIGHT | PERF_SAMPLE_WEIGHT_STRUCT))
		wire_u64(w, 0x0004000300000002);
	if (t & PERF_SAMPLE_DATA_SRC)
		wire_u64(w, 201);
	if (t & PERF_SAMPLE_TRANSACTION)
		wire_u64(w, 202);
	if (t & PERF_SAMPLE_REGS_INTR)
		put_regs(w, a->sample_regs_intr, 950);
	if (t & PERF_SAMPLE_PHYS_ADDR)
		wire_u64(w, 203);
	if (t & PERF_SAMPLE_CGROUP)
		wire_u64(w, 204);
	if (t & PERF_SAMPLE_DATA_PAGE_SIZE)
		wire_u64(w, 205);
	if (t & PERF_SAMPLE_CODE_PAGE_SIZE)
		wire_u64(w, 206);
	if (t & PERF_SAMPLE_AUX) {
		wire_u64(w, AUX_BYTES);
		wire_bytes(w, "aux aux aux aux!", AUX_BYTES);
	}
}

static struct perf_event_header *put_sample(struct wire *w, const struct pd_attr *a, bool foreign)
{
	uint64_t t = a->sample_type;

	wire_begin(w, foreign, PERF_RECORD_SAMPLE,
		   PERF_RECORD_MISC_USER | PERF_RECORD_MISC_EXACT_IP);
	put_head(w, t);
	if (t & PERF_SAMPLE_READ)
		put_read(w, a);
	if (t & PERF_SAMPLE_CALLCHAIN) {
		wire_u64(w, NR_IPS);
		for (unsigned int i = 0; i < NR_IPS; i++)
			wire_u64(w, 400 + i);
	}
	if (t & PERF_SAMPLE_RAW) {
		wire_u32(w, RAW_SIZE);
		wire_bytes(w, raw_bytes, RAW_SIZE);
	}
	if (t & PERF_SAMPLE_BRANCH_STACK)
		put_branches(w, a);
	if (t & PERF_SAMPLE_REGS_USER)
		put_regs(w, a->sample_regs_user, 900);
	if (t & PERF_SAMPLE_STACK_USER)
		put_stack(w);
	put_tail(w, a);
	return wire_end(w);
}

static void check_read(const struct pd_sample *s, const struct pd_evsel *e)
{
	uint64_t f = e->attr.read_format;

	assert_int_equal(s->read.nr, f & PERF_FORMAT_GROUP ? NR_GROUP : 1);
	assert_int_equal(s->read.time_enabled, f & PERF_FORMAT_TOTAL_TIME_ENABLED ? 501 : 0);
	assert_int_equal(s->read.time_running, f & PERF_FORMAT_TOTAL_TIME_RUNNING ? 502 : 0);
	for (uint64_t i = 0; i < s->read.nr; i++) {
		struct pd_read_value v = pd_sample_read_value(s, e, i);

		assert_int_equal(v.value, 1000 + i);
		assert_int_equal(v.id, f & PERF_FORMAT_ID ? 2000 + i : 0);
		assert_int_equal(v.lost, f & PERF_FORMAT_LOST ? 3000 + i : 0);
	}
}

static void check_branches(const struct pd_sample *s, uint64_t branch_type)
{
	assert_int_equal(s->branch_nr, NR_BRANCHES);
	assert_int_equal(s->branch_hw_idx, branch_type & PERF_SAMPLE_BRANCH_HW_INDEX ? 77 : ~0ULL);
	for (unsigned int i = 0; i < NR_BRANCHES; i++) {
		assert_int_equal(s->branches[i].from, 600 + i);
		assert_int_equal(s->branches[i].to, 700 + i);
		assert_int_equal(s->branches[i].flags, BRANCH_FLAGS);
		if (branch_type & BRANCH_COUNTERS)
			assert_int_equal(s->branch_counters[i], 800 + i);
		else
			assert_null(s->branch_counters);
	}
}

static void check_head(const struct pd_sample *s, const struct pd_attr *a)
{
	uint64_t t = a->sample_type;

	assert_int_equal(s->type, t);
	assert_int_equal(s->cpumode, PERF_RECORD_MISC_USER);
	assert_int_equal(s->ip, t & PERF_SAMPLE_IP ? 0xffffffff81000000 : 0);
	assert_int_equal(s->pid, t & PERF_SAMPLE_TID ? 101 : ~0u);
	assert_int_equal(s->tid, t & PERF_SAMPLE_TID ? 102 : ~0u);
	assert_int_equal(s->time, t & PERF_SAMPLE_TIME ? 103 : 0);
	assert_int_equal(s->addr, t & PERF_SAMPLE_ADDR ? 104 : 0);
	assert_int_equal(s->id, t & (PERF_SAMPLE_ID | PERF_SAMPLE_IDENTIFIER) ? 42 : 0);
	assert_int_equal(s->stream_id, t & PERF_SAMPLE_STREAM_ID ? 105 : 0);
	assert_int_equal(s->cpu, t & PERF_SAMPLE_CPU ? 106 : ~0u);
	assert_int_equal(s->period, t & PERF_SAMPLE_PERIOD ? 107 : a->sample_period);
}

static void check_tail(const struct pd_sample *s, const struct pd_attr *a)
{
	uint64_t t = a->sample_type;

	if (t & PERF_SAMPLE_WEIGHT) {
		assert_int_equal(s->weight, 0x0004000300000002);
	} else if (t & PERF_SAMPLE_WEIGHT_STRUCT) {
		assert_int_equal(s->weight, 2);
		assert_int_equal(s->weight_var2, 3);
		assert_int_equal(s->weight_var3, 4);
	}
	assert_int_equal(s->data_src, t & PERF_SAMPLE_DATA_SRC ? 201 : 0);
	assert_int_equal(s->transaction, t & PERF_SAMPLE_TRANSACTION ? 202 : 0);
	assert_int_equal(s->phys_addr, t & PERF_SAMPLE_PHYS_ADDR ? 203 : 0);
	assert_int_equal(s->cgroup, t & PERF_SAMPLE_CGROUP ? 204 : 0);
	assert_int_equal(s->data_page_size, t & PERF_SAMPLE_DATA_PAGE_SIZE ? 205 : 0);
	assert_int_equal(s->code_page_size, t & PERF_SAMPLE_CODE_PAGE_SIZE ? 206 : 0);
	assert_int_equal(s->aux_size, t & PERF_SAMPLE_AUX ? AUX_BYTES : 0);
	if (t & PERF_SAMPLE_AUX)
		assert_memory_equal(s->aux, "aux aux aux aux!", AUX_BYTES);
}

static void check_sample(const struct pd_sample *s, const struct pd_evsel *e)
{
	uint64_t t = e->attr.sample_type;

	check_head(s, &e->attr);
	if (t & PERF_SAMPLE_READ)
		check_read(s, e);
	assert_int_equal(s->callchain_nr, t & PERF_SAMPLE_CALLCHAIN ? NR_IPS : 0);
	for (uint64_t i = 0; i < s->callchain_nr; i++)
		assert_int_equal(s->callchain[i], 400 + i);
	assert_int_equal(s->raw_size, t & PERF_SAMPLE_RAW ? RAW_SIZE : 0);
	if (t & PERF_SAMPLE_RAW)
		assert_memory_equal(s->raw, raw_bytes, RAW_SIZE);
	if (t & PERF_SAMPLE_BRANCH_STACK)
		check_branches(s, e->attr.branch_sample_type);
	assert_int_equal(s->user_regs_abi, t & PERF_SAMPLE_REGS_USER ? PERF_SAMPLE_REGS_ABI_64 : 0);
	for (int i = 0; s->user_regs_abi && i < __builtin_popcountll(e->attr.sample_regs_user); i++)
		assert_int_equal(s->user_regs[i], 900 + i);
	assert_int_equal(s->intr_regs_abi, t & PERF_SAMPLE_REGS_INTR ? PERF_SAMPLE_REGS_ABI_64 : 0);
	for (int i = 0; s->intr_regs_abi && i < __builtin_popcountll(e->attr.sample_regs_intr); i++)
		assert_int_equal(s->intr_regs[i], 950 + i);
	assert_int_equal(s->user_stack_size, t & PERF_SAMPLE_STACK_USER ? 16 : 0);
	if (t & PERF_SAMPLE_STACK_USER)
		assert_memory_equal(s->user_stack, "stack stack stack stack!", 16);
	check_tail(s, &e->attr);
}

/* Every layout must hold: decoded, turned, timed, and refused at every shorter length. */
static void check_layout(const struct pd_attr *attr)
{
	struct pd_evlist *list = pd_evlist_new();
	struct wire native, foreign;
	struct perf_event_header *hdr = put_sample(&native, attr, false);
	const struct pd_evsel *e;
	struct pd_sample s;
	size_t at;

	assert_int_equal(pd_evlist_add(list, attr, NULL, NULL, 0), 0);
	e = pd_evlist_at(list, 0);
	assert_int_equal(pd_sample_decode(hdr, e, &s, NULL), 0);
	check_sample(&s, e);
	assert_int_equal(pd_record_time(hdr, e), s.time);

	put_sample(&foreign, attr, true);
	assert_int_equal(pd_record_to_host(wire_end(&foreign), list), 0);
	assert_int_equal(foreign.len, native.len);
	assert_memory_equal(foreign.data, native.data, native.len);

	put_sample(&foreign, attr, true);
	for (size_t n = 0; n < native.len; n++) {
		hdr = wire_truncated(&native, n);
		at = ~(size_t)0;
		assert_int_equal(pd_sample_decode(hdr, e, &s, &at), -EBADMSG);
		assert_true(at <= n);
		pd_record_time(hdr, e);
		free(hdr);
		hdr = wire_truncated(&foreign, n);
		assert_int_equal(pd_record_to_host(hdr, list), -EBADMSG);
		free(hdr);
	}
	pd_evlist_free(list);
}

static struct pd_attr layout(uint64_t sample_type)
{
	return (struct pd_attr){
		.sample_type = sample_type,
		.sample_period = 4001,
		.sample_regs_user = 0xff0ff,
		.sample_regs_intr = 0x8001,
		.read_format = PERF_FORMAT_ID,
	};
}

static void every_field_alone(void **state)
{
	struct pd_attr attr;

	for (unsigned int bit = 0; bit < SAMPLE_BITS; bit++) {
		attr = layout(1ULL << bit);
		check_layout(&attr);
	}
}

static void every_read_format(void **state)
{
	struct pd_attr attr = layout(PERF_SAMPLE_READ | PERF_SAMPLE_IP | PERF_SAMPLE_CALLCHAIN);

	for (attr.read_format = 0; attr.read_format < 32; attr.read_format++)
		check_layout(&attr);
}

static void every_branch_layout(void **state)
{
	struct pd_attr attr = layout(PERF_SAMPLE_BRANCH_STACK | PERF_SAMPLE_REGS_USER);

	for (unsigned int i = 0; i < 4; i++) {
		attr.branch_sample_type =
			(i & 1 ? PERF_SAMPLE_BRANCH_HW_INDEX : 0) | (i & 2 ? BRANCH_COUNTERS : 0);
		check_layout(&attr);
	}
}

static void mixtures(void **state)
{
	uint64_t random = 88172645463325252ULL;
	struct pd_attr attr = layout((1ULL << SAMPLE_BITS) - 1);

	check_layout(&attr);
	for (int i = 0; i < 1000; i++) {
		random ^= random << 13;
		random ^= random >> 7;
		random ^= random << 17;
		attr = layout(random & ((1ULL << SAMPLE_BITS) - 1));
		attr.read_format = random >> 32 & 31;
		attr.branch_sample_type = (random >> 40 & 1 ? PERF_SAMPLE_BRANCH_HW_INDEX : 0) |
					  (random >> 41 & 1 ? BRANCH_COUNTERS : 0);
		check_layout(&attr);
	}
}

/* Counts whose byte length does not fit 64 bits, or that just pass the end. */
static void hostile_counts(void **state)
{
	static const uint64_t counts[] = {3,	 1ULL << 32,	   1ULL << 61,
					  ~0ULL, (1ULL << 61) + 1, (~0ULL / 24) + 1};
	static const uint64_t types[] = {PERF_SAMPLE_CALLCHAIN, PERF_SAMPLE_READ,
					 PERF_SAMPLE_BRANCH_STACK, PERF_SAMPLE_STACK_USER,
					 PERF_SAMPLE_AUX};
	struct wire w;
	struct pd_sample s;
	size_t at = 0;

	for (size_t t = 0; t < sizeof(types) / sizeof(types[0]); t++) {
		struct pd_evsel e = {.attr = layout(types[t])};

		e.attr.read_format |= PERF_FORMAT_GROUP;
		for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++) {
			wire_begin(&w, false, PERF_RECORD_SAMPLE, 0);
			wire_u64(&w, types[t] & (PERF_SAMPLE_STACK_USER | PERF_SAMPLE_AUX) &&
						     counts[i] == 3
					     ? 17
					     : counts[i]);
			wire_u64(&w, 1);
			wire_u64(&w, 1);
			assert_int_equal(pd_sample_decode(wire_end(&w), &e, &s, &at), -EBADMSG);
			assert_int_equal(s.callchain_nr | s.read.nr | s.branch_nr | s.aux_size |
						 s.user_stack_size,
					 0);
			assert_uint_in_range(at, 8, w.len);
		}
	}
}

/* A raw size that leaves what follows out of line must not hand out a misaligned array. */
static void raw_out_of_line(void **state)
{
	struct pd_evsel e = {.attr = layout(PERF_SAMPLE_RAW | PERF_SAMPLE_BRANCH_STACK)};
	struct pd_sample s;
	struct wire w;

	for (uint32_t size = 0; size < 16; size++) {
		wire_begin(&w, false, PERF_RECORD_SAMPLE, 0);
		wire_u32(&w, size);
		wire_bytes(&w, raw_bytes, size);
		wire_u64(&w, 0);
		wire_pad(&w);
		assert_int_equal(pd_sample_decode(wire_end(&w), &e, &s, NULL),
				 (size + 4) % 8 ? -EBADMSG : 0);
		assert_int_equal(s.raw_size, size);
	}
}

/* More of the stack valid than there is. */
static void stack_beyond_its_size(void **state)
{
	struct pd_evsel e = {.attr = layout(PERF_SAMPLE_STACK_USER)};
	struct pd_sample s;
	struct wire w;
	size_t at;

	for (uint64_t valid = 0; valid < 32; valid++) {
		wire_begin(&w, false, PERF_RECORD_SAMPLE, 0);
		wire_u64(&w, 16);
		wire_bytes(&w, raw_bytes, 16);
		wire_u64(&w, valid);
		assert_int_equal(pd_sample_decode(wire_end(&w), &e, &s, &at),
				 valid > 16 ? -EBADMSG : 0);
		assert_int_equal(s.user_stack_size, valid > 16 ? 0 : valid);
		if (valid > 16)
			assert_int_equal(at, 8 + 8 + 16);
	}
}

static void defaults(void **state)
{
	struct pd_evsel e = {.attr = {.sample_period = 4000, .flags = PD_ATTR_FREQ}};
	struct pd_sample s;
	struct wire w;

	wire_begin(&w, false, PERF_RECORD_SAMPLE, PERF_RECORD_MISC_KERNEL);
	assert_int_equal(pd_sample_decode(wire_end(&w), &e, &s, NULL), 0);
	assert_int_equal(s.period, 1);
	assert_int_equal(s.cpumode, PERF_RECORD_MISC_KERNEL);
	assert_int_equal(s.branch_hw_idx, ~0ULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_field_alone),	 cmocka_unit_test(every_read_format),
		cmocka_unit_test(every_branch_layout),	 cmocka_unit_test(mixtures),
		cmocka_unit_test(hostile_counts),	 cmocka_unit_test(raw_out_of_line),
		cmocka_unit_test(stack_beyond_its_size), cmocka_unit_test(defaults),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
