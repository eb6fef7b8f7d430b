// SPDX-License-Identifier: Apache-2.0
/* Attributes of every size in both byte orders, their default names, and finding events by id. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <errno.h>
#include <stdio.h>

#include "perfdata/attr.h"
#include "wire.h"

#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))

static struct pd_attr full_attr(uint32_t size)
{
	return (struct pd_attr){
		.type = 1,
		.size = size,
		.config = 0x1122334455667788,
		.sample_period = 4000,
		.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_TID,
		.read_format = 0x1f,
		.flags = PD_ATTR_FREQ | PD_ATTR_SAMPLE_ID_ALL | PD_ATTR_DEFER_OUTPUT |
			 2ULL << PD_ATTR_PRECISE_IP_SHIFT,
		.wakeup_events = 7,
		.bp_type = 3,
		.config1 = 0xa1,
		.config2 = 0xa2,
		.branch_sample_type = 0xa3,
		.sample_regs_user = 0xa4,
		.sample_stack_user = 0xa5,
		.clockid = -7,
		.sample_regs_intr = 0xa6,
		.aux_watermark = 0xa7,
		.sample_max_stack = 127,
		.aux_sample_size = 0xa8,
		.aux_action = 1,
		.sig_data = 0xa9,
		.config3 = 0xaa,
		.config4 = 0xab,
	};
}

/* The flag word as a machine that allocates bit fields from the top has it. */
static uint64_t flags_from_top(uint64_t flags)
{
	uint64_t precise = flags >> PD_ATTR_PRECISE_IP_SHIFT & 3, ret = 0;

	for (unsigned int i = 0; i < 64; i++) {
		if (PD_ATTR_PRECISE_IP >> i & 1)
			continue;
		if (flags >> i & 1)
			ret |= 1ULL << (63 - i);
	}
	return ret | precise << (64 - PD_ATTR_PRECISE_IP_SHIFT - 2);
}

static void put_attr(struct wire *w, const struct pd_attr *a, bool foreign)
{
	memset(w, 0, sizeof(*w));
	w->foreign = foreign;
	wire_u32(w, a->type);
	wire_u32(w, a->size);
	wire_u64(w, a->config);
	wire_u64(w, a->sample_period);
	wire_u64(w, a->sample_type);
	wire_u64(w, a->read_format);
	wire_u64(w, foreign ? flags_from_top(a->flags) : a->flags);
	wire_u32(w, a->wakeup_events);
	wire_u32(w, a->bp_type);
	wire_u64(w, a->config1);
	wire_u64(w, a->config2);
	wire_u64(w, a->branch_sample_type);
	wire_u64(w, a->sample_regs_user);
	wire_u32(w, a->sample_stack_user);
	wire_u32(w, (uint32_t)a->clockid);
	wire_u64(w, a->sample_regs_intr);
	wire_u32(w, a->aux_watermark);
	wire_u16(w, a->sample_max_stack);
	wire_u16(w, 0);
	wire_u32(w, a->aux_sample_size);
	wire_u32(w, a->aux_action);
	wire_u64(w, a->sig_data);
	wire_u64(w, a->config3);
	wire_u64(w, a->config4);
}

static void decode_either_order_every_size(void **state)
{
	static const uint32_t sizes[] = {64, 72, 80, 96, 104, 112, 120, 128, 136, 144};
	struct pd_attr want, got;
	struct wire w;
	bool unknown;

	for (size_t i = 0; i < 2 * ARRAY_SIZE(sizes); i++) {
		uint32_t size = sizes[i / 2];
		uint8_t *p = malloc(size + 1);

		want = full_attr(size);
		put_attr(&w, &want, i % 2);
		memcpy(p + 1, w.data, size);
		memset((uint8_t *)&want + size, 0, sizeof(want) - size);
		memset(&got, 0xee, sizeof(got));
		assert_int_equal(pd_attr_decode(p + 1, size, i % 2, &got, &unknown), 0);
		assert_memory_equal(&got, &want, sizeof(want));
		assert_false(unknown);
		assert_int_equal(pd_attr_decode(p + 1, size - 1, i % 2, &got, NULL), -EBADMSG);
		assert_memory_equal(&got, &want, sizeof(want));
		free(p);
	}
}

static void decode_flags(void **state)
{
	struct pd_attr want = full_attr(64), got;
	struct wire w;

	for (unsigned int bit = 0; bit < 64; bit++) {
		want.flags = 1ULL << bit;
		put_attr(&w, &want, true);
		assert_int_equal(pd_attr_decode(w.data, w.len, true, &got, NULL), 0);
		assert_int_equal(got.flags, want.flags);
	}
	for (uint64_t precise = 0; precise < 4; precise++) {
		want.flags = PD_ATTR_WATERMARK | precise << PD_ATTR_PRECISE_IP_SHIFT;
		put_attr(&w, &want, true);
		assert_int_equal(pd_attr_decode(w.data, w.len, true, &got, NULL), 0);
		assert_int_equal(got.flags, want.flags);
	}
}

static void decode_odd_sizes(void **state)
{
	struct pd_attr attr = full_attr(0), got;
	struct wire w;
	bool unknown;

	put_attr(&w, &attr, false);
	assert_int_equal(pd_attr_decode(w.data, 64, false, &got, NULL), 0);
	assert_int_equal(got.size, 64);
	assert_int_equal(got.config2, 0);

	attr.size = 160;
	put_attr(&w, &attr, false);
	assert_int_equal(pd_attr_decode(w.data, 160, false, &got, &unknown), 0);
	assert_false(unknown);
	w.data[159] = 1;
	assert_int_equal(pd_attr_decode(w.data, 160, false, &got, &unknown), 0);
	assert_true(unknown);
	assert_int_equal(got.config4, 0xab);

	for (uint32_t size = 1; size < 64; size++) {
		attr.size = size;
		put_attr(&w, &attr, false);
		assert_int_equal(pd_attr_decode(w.data, w.len, false, &got, NULL), -EBADMSG);
	}
}

static void wire_size(void **state)
{
	struct pd_attr attr = {.sample_max_stack = 1};

	assert_int_equal(pd_attr_wire_size(&attr), 112);
	attr.aux_action = 1;
	assert_int_equal(pd_attr_wire_size(&attr), 120);
	attr.sig_data = 1;
	assert_int_equal(pd_attr_wire_size(&attr), 128);
	attr.config3 = 1;
	assert_int_equal(pd_attr_wire_size(&attr), 136);
	attr.config4 = 1;
	assert_int_equal(pd_attr_wire_size(&attr), 144);
}

/* What perf 6.1 (evlist) calls the same attributes, but for bpf-output and the last four. */
static const struct {
	uint32_t type;
	uint64_t config, flags;
	const char *name;
} names[] = {
	{PERF_TYPE_HARDWARE, 0, PD_ATTR_EXCLUDE_GUEST, "cycles"},
	{PERF_TYPE_HARDWARE, 0, 0, "cycles:HG"},
	{PERF_TYPE_HARDWARE, 1, PD_ATTR_EXCLUDE_KERNEL | PD_ATTR_EXCLUDE_HV, "instructions:u"},
	{PERF_TYPE_HARDWARE, 4, PD_ATTR_EXCLUDE_USER, "branches:kh"},
	{PERF_TYPE_HARDWARE, 0, PD_ATTR_EXCLUDE_GUEST | 3ULL << 15, "cycles:pppH"},
	{PERF_TYPE_HARDWARE, 0, 3ULL << 15, "cycles:ppp"},
	{PERF_TYPE_HARDWARE, 0, PD_ATTR_EXCLUDE_KERNEL | PD_ATTR_EXCLUDE_HV | 2ULL << 15,
	 "cycles:upp"},
	{PERF_TYPE_HARDWARE, 0, PD_ATTR_EXCLUDE_HOST, "cycles:G"},
	{PERF_TYPE_HARDWARE, 9, PD_ATTR_EXCLUDE_GUEST, "ref-cycles"},
	{PERF_TYPE_HARDWARE, 10, PD_ATTR_EXCLUDE_GUEST, "unknown-hardware"},
	{PERF_TYPE_SOFTWARE, 0, PD_ATTR_EXCLUDE_KERNEL | PD_ATTR_EXCLUDE_HV, "cpu-clock:u"},
	{PERF_TYPE_SOFTWARE, 10, PD_ATTR_EXCLUDE_GUEST, "bpf-output"},
	{PERF_TYPE_SOFTWARE, 99, PD_ATTR_EXCLUDE_GUEST, "unknown-software"},
	{PERF_TYPE_HW_CACHE, 0x10000, PD_ATTR_EXCLUDE_GUEST, "L1-dcache-load-misses"},
	{PERF_TYPE_HW_CACHE, 0x00000, PD_ATTR_EXCLUDE_GUEST, "L1-dcache-loads"},
	{PERF_TYPE_HW_CACHE, 0x10203, PD_ATTR_EXCLUDE_GUEST, "dTLB-prefetch-misses"},
	{PERF_TYPE_HW_CACHE, 0x00106, PD_ATTR_EXCLUDE_GUEST, "node-stores"},
	{PERF_TYPE_HW_CACHE, 0x00105, PD_ATTR_EXCLUDE_GUEST, "invalid-cache"},
	{PERF_TYPE_HW_CACHE, 0x00007, PD_ATTR_EXCLUDE_GUEST, "unknown-ext-hardware-cache-type"},
	{PERF_TYPE_HW_CACHE, 0x00300, PD_ATTR_EXCLUDE_GUEST, "unknown-ext-hardware-cache-op"},
	{PERF_TYPE_HW_CACHE, 0x20000, PD_ATTR_EXCLUDE_GUEST, "unknown-ext-hardware-cache-result"},
	{PERF_TYPE_RAW, 0x1a8, PD_ATTR_EXCLUDE_GUEST, "raw 0x1a8"},
	{PERF_TYPE_BREAKPOINT, 0, PD_ATTR_EXCLUDE_GUEST, "mem:0x1234:rw"},
	{PERF_TYPE_TRACEPOINT, 314, 0, "tracepoint 314"},
	{42, 7, 0, "unknown 42/0x7"},
};

static void made_names(void **state)
{
	char name[128], cut[8];

	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		struct pd_attr attr = {.type = names[i].type,
				       .config = names[i].config,
				       .flags = names[i].flags,
				       .bp_type = 3,
				       .config1 = 0x1234};
		int len = pd_attr_name(&attr, name, sizeof(name));

		assert_string_equal(name, names[i].name);
		assert_int_equal(len, strlen(names[i].name));
		assert_int_equal(pd_attr_name(&attr, cut, sizeof(cut)), len);
		assert_int_equal(strlen(cut), len < 7 ? len : 7);
		assert_int_equal(strncmp(cut, name, strlen(cut)), 0);
		assert_int_equal(pd_attr_name(&attr, NULL, 0), len);
	}
}

static void ids(void **state)
{
	struct pd_evlist *list = pd_evlist_new();
	struct pd_attr attr = {.sample_type = PERF_SAMPLE_IDENTIFIER};
	struct pd_evsel *first;
	uint64_t id[7];

	assert_null(pd_evlist_by_id(list, 1));
	assert_null(pd_evlist_by_id(list, 0));
	assert_int_equal(pd_evlist_add(list, &attr, "first", (uint64_t[]){5, 6}, 2), 0);
	first = pd_evlist_at(list, 0);
	assert_ptr_equal(pd_evlist_by_id(list, 12345), first); /* a single event */
	for (uint64_t i = 1; i < 1000; i++) {
		for (uint64_t k = 0; k < ARRAY_SIZE(id); k++)
			id[k] = i * 65536 + k;
		attr.sample_type = 1ULL << (i % 24);
		assert_int_equal(pd_evlist_add(list, &attr, NULL, id, ARRAY_SIZE(id)), 0);
		assert_int_equal(pd_evlist_count(list), i + 1);
		assert_ptr_equal(pd_evlist_at(list, 0), first);
		assert_ptr_equal(pd_evlist_by_id(list, 6), first);
		assert_ptr_equal(pd_evlist_by_id(list, 0), first);
		assert_null(pd_evlist_by_id(list, 7));
	}
	for (uint64_t i = 1; i < 1000; i++) {
		for (uint64_t k = 0; k < ARRAY_SIZE(id); k++)
			assert_int_equal(pd_evlist_by_id(list, i * 65536 + k)->index, i);
		assert_null(pd_evlist_by_id(list, i * 65536 + ARRAY_SIZE(id)));
	}
	assert_int_equal(pd_evlist_sample_type(list), (1ULL << 24) - 1);
	assert_null(pd_evlist_at(list, 1000));
	pd_evlist_free(list);
	pd_evlist_free(NULL);
}

static struct pd_evlist *two_events(uint64_t sample_type, uint64_t flags)
{
	struct pd_evlist *list = pd_evlist_new();
	struct pd_attr attr = {.sample_type = sample_type, .flags = flags};

	assert_int_equal(pd_evlist_add(list, &attr, "a", (uint64_t[]){71}, 1), 0);
	assert_int_equal(pd_evlist_add(list, &attr, "b", (uint64_t[]){72}, 1), 0);
	return list;
}

/* The id stands at word @in_sample of a sample and at word @from_end from the end of others. */
static void check_of_record(uint64_t sample_type, size_t in_sample, size_t from_end)
{
	struct pd_evlist *list = two_events(sample_type, PD_ATTR_SAMPLE_ID_ALL);
	const size_t words = 9;
	struct wire w;

	for (int i = 0; i < 4; i++) {
		bool foreign = i & 1, sample = i & 2;
		size_t at = sample ? in_sample : words - from_end;

		for (uint64_t id = 71; id <= 73; id++) {
			struct pd_evsel *got;

			wire_begin(&w, foreign, sample ? PERF_RECORD_SAMPLE : PERF_RECORD_COMM, 0);
			for (size_t k = 0; k < words; k++)
				wire_u64(&w, k == at ? id : 99);
			got = pd_evlist_of_record(list, wire_end(&w), foreign);
			assert_ptr_equal(got, id == 73 ? NULL : pd_evlist_at(list, id - 71));
		}
	}
	/* too short to have it */
	for (int sample = 0; sample < 2; sample++) {
		size_t need = sample ? in_sample + 1 : from_end;

		wire_begin(&w, false, sample ? PERF_RECORD_SAMPLE : PERF_RECORD_COMM, 0);
		for (size_t k = 0; k + 1 < need; k++)
			wire_u64(&w, 71);
		assert_null(pd_evlist_of_record(list, wire_end(&w), false));
	}
	pd_evlist_free(list);
}

static void of_record(void **state)
{
	struct pd_evlist *list;
	struct wire w;

	check_of_record(PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_CPU, 0, 1);
	check_of_record(PERF_SAMPLE_ID, 0, 1);
	check_of_record(PERF_SAMPLE_ID | PERF_SAMPLE_ADDR, 1, 1);
	check_of_record(PERF_SAMPLE_ID | PERF_SAMPLE_CPU, 0, 2);
	check_of_record(PERF_SAMPLE_ID | PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME |
				PERF_SAMPLE_ADDR | PERF_SAMPLE_CPU | PERF_SAMPLE_STREAM_ID,
			4, 3);

	wire_begin(&w, false, PERF_RECORD_COMM, 0);
	wire_u64(&w, 72);
	list = two_events(PERF_SAMPLE_ID, 0);
	assert_ptr_equal(pd_evlist_of_record(list, wire_end(&w), false), pd_evlist_at(list, 0));
	pd_evlist_free(list);
	list = two_events(PERF_SAMPLE_IP, PD_ATTR_SAMPLE_ID_ALL);
	assert_ptr_equal(pd_evlist_of_record(list, wire_end(&w), false), pd_evlist_at(list, 0));
	pd_evlist_free(list);
	list = pd_evlist_new();
	assert_null(pd_evlist_of_record(list, wire_end(&w), false));
	pd_evlist_free(list);
}

/* Events that the reader makes do not change whose a record is. */
static void made(void **state)
{
	const struct pd_attr attr = {.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_IDENTIFIER};
	const struct {
		struct perf_event_header hdr;
		uint64_t id;
	} record = {{.type = PERF_RECORD_SAMPLE, .size = sizeof(record)}, 12345};
	struct pd_evlist *list = pd_evlist_new();
	struct pd_evsel *first;

	(void)state;
	assert_int_equal(pd_evlist_add(list, &attr, NULL, NULL, 0), 0);
	assert_int_equal(pd_evlist_add_made(list, &(struct pd_attr){0}, "made"), 0);
	first = pd_evlist_at(list, 0);
	assert_ptr_equal(pd_evlist_by_id(list, 12345), first);
	assert_ptr_equal(pd_evlist_of_record(list, &record.hdr, false), first);
	assert_int_equal(pd_evlist_recorded(list), 1);
	assert_int_equal(pd_evlist_count(list), 2);
	assert_true(pd_evlist_at(list, 1)->made && !first->made);

	pd_evlist_extend(list, first, PERF_SAMPLE_IP | PERF_SAMPLE_BRANCH_STACK);
	assert_int_equal(first->added_type, PERF_SAMPLE_BRANCH_STACK);
	assert_int_equal(pd_evsel_fields(first), attr.sample_type | PERF_SAMPLE_BRANCH_STACK);
	assert_int_equal(pd_evlist_sample_type(list), pd_evsel_fields(first));
	pd_evlist_free(list);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(decode_either_order_every_size),
		cmocka_unit_test(decode_flags),
		cmocka_unit_test(decode_odd_sizes),
		cmocka_unit_test(wire_size),
		cmocka_unit_test(made_names),
		cmocka_unit_test(ids),
		cmocka_unit_test(of_record),
		cmocka_unit_test(made),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
