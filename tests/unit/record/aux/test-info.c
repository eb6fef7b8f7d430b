// SPDX-License-Identifier: Apache-2.0
/* AUXTRACE_INFO from sysfs trees, beside the records that perf wrote on such machines. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "record/aux/info.h"
#include "sys/io/file.h"

#define INTEL_PT_FILE                                                                        \
	TESTS_DATA "/corpus/google+perf_data_converter/src/quipper/testdata/perf.data.intel" \
		   "_pt-4.14"
#define CS_ETM_FILE                                                                           \
	TESTS_DATA "/corpus/GrapheneOS+platform_system_extras/simpleperf/testdata/etm/perf_e" \
		   "tm.data"

/* A plan of one AUX event and a dummy, on CPUs 0 to 7. */
struct lab {
	struct plan plan;
	struct plan_event events[2];
	int cpus[8];
	struct aux_info_source source;
	struct buf b;
};

static void lab_init(struct lab *lab, const char *tree, const char *pmu, uint32_t type)
{
	*lab = (struct lab){
		.events = {{.attr = {.type = type}, .aux = true, .pmu = pmu}, {.dummy = true}},
		.cpus = {0, 1, 2, 3, 4, 5, 6, 7},
		.source = {.sysfs = tree, .plan = &lab->plan},
	};
	lab->plan = (struct plan){
		.target = TARGET_CPUS,
		.events = lab->events,
		.nr = 2,
		.cpus = {lab->cpus, 8},
		.sampled = {lab->cpus, 8},
		.aux_mode = AUX_FULL,
	};
}

/* Builds the records, of which the last is an AUXTRACE_INFO of @type, and returns its words. */
static const uint64_t *build(struct lab *lab, uint32_t type, size_t *ret_nr)
{
	size_t at = 0;

	buf_release(&lab->b);
	assert_int_equal(aux_info_build(&lab->source, &lab->b), 0);
	for (;;) {
		const struct perf_event_header *hdr = (const void *)(lab->b.data + at);
		const uint32_t *body = (const uint32_t *)(hdr + 1);

		assert_true(at < lab->b.len);
		at += hdr->size;
		if (hdr->type == PERF_RECORD_TIME_CONV)
			continue;
		assert_int_equal(hdr->type, PERF_RECORD_AUXTRACE_INFO);
		assert_int_equal(at, lab->b.len);
		assert_int_equal(body[0], type);
		*ret_nr = (hdr->size - sizeof(*hdr) - 2 * sizeof(*body)) / sizeof(uint64_t);
		return (const uint64_t *)(body + 2);
	}
}

/* The AUXTRACE_INFO of a file of perf's; @b keeps the file. */
static const uint64_t *words_of(const char *path, struct buf *b, size_t *ret_nr)
{
	uint64_t at, end;

	assert_int_equal(file_read_at(-100, path, b), 0);
	memcpy(&at, b->data + 40, sizeof(at)); /* the data section, in the header */
	memcpy(&end, b->data + 48, sizeof(end));
	for (end += at; at < end;) {
		struct perf_event_header hdr;

		memcpy(&hdr, b->data + at, sizeof(hdr));
		if (hdr.type == PERF_RECORD_AUXTRACE_INFO) {
			*ret_nr = (hdr.size - 16u) / 8;
			return (const uint64_t *)(const void *)(b->data + at + 16);
		}
		at += hdr.size;
	}
	fail_msg("%s has no AUXTRACE_INFO", path);
	return NULL;
}

static void test_intel_pt_is_as_in_a_file_of_perf(void **state)
{
	struct buf file = {0};
	size_t nr, nr_perf;
	const uint64_t *perf = words_of(INTEL_PT_FILE, &file, &nr_perf), *words;
	const struct pd_time_conv conv = {.time_shift = perf[1],
					  .time_mult = perf[2],
					  .time_zero = perf[3],
					  .cap_user_time_zero = true};
	struct lab lab;

	lab_init(&lab, TESTS_DATA "/sysfs-aux/intel_pt", "intel_pt", 6);
	lab.events[0].attr.config = 1 << 10;
	lab.events[1].attr.flags = PD_ATTR_CONTEXT_SWITCH;
	lab.source.conv = &conv;
	lab.source.tsc = 100;
	lab.source.crystal = 2;
	words = build(&lab, PD_AUXTRACE_INTEL_PT, &nr);
	assert_int_equal(nr_perf, 17);
	/* perf has one more since 5.18 */
	assert_int_equal(nr, 18);
	assert_memory_equal(words, perf, nr_perf * sizeof(*perf));
	assert_int_equal(words[17], 0);
	buf_release(&lab.b);
	buf_release(&file);
}

static void test_intel_pt(void **state)
{
	static const char *const filters[] = {"1234567", "12345678", "filter 0x1000/0x20@/bin/x"};
	const uint64_t *words;
	struct lab lab;
	size_t nr;

	lab_init(&lab, TESTS_DATA "/sysfs-aux/event_trace", "intel_pt", 11);
	lab.events[1].attr.flags = PD_ATTR_CONTEXT_SWITCH;
	lab.plan.aux_mode = AUX_SNAPSHOT;
	words = build(&lab, PD_AUXTRACE_INTEL_PT, &nr);
	assert_int_equal(words[0], 11);
	assert_int_equal(words[4], 0); /* no conversion of times is known */
	assert_int_equal(words[5], 1 << 10);
	assert_int_equal(words[6], 0);
	assert_int_equal(words[7], 0); /* the trace has no time stamps */
	assert_int_equal(words[8], 1);
	assert_int_equal(words[9], 1);
	assert_int_equal(words[15], 24);
	assert_int_equal(words[17], 1);

	lab.events[0].attr.config = 1 << 10;
	assert_int_equal(build(&lab, PD_AUXTRACE_INTEL_PT, &nr)[7], 3);
	lab.plan.target = TARGET_TASKS;
	assert_int_equal(build(&lab, PD_AUXTRACE_INTEL_PT, &nr)[7], 2);

	for (size_t i = 0; i < sizeof(filters) / sizeof(*filters); i++) {
		size_t len = strlen(filters[i]);

		lab.events[0].filter = filters[i];
		words = build(&lab, PD_AUXTRACE_INTEL_PT, &nr);
		assert_int_equal(words[16], len);
		assert_int_equal(nr, 18 + (len + 1 + 7) / 8);
		assert_string_equal((const char *)&words[17], filters[i]);
		assert_int_equal(words[nr - 1], 1);
	}
	buf_release(&lab.b);
}

/* perf finds the thread of a task's ring by the ring, and the ring of its records by their ids. */
static void test_intel_pt_of_a_tasks_ring(void **state)
{
	struct open_ring ring = {.kind = RING_AUX, .cpu = -1};
	struct open_fd fd = {.id = 11, .cpu = -1, .task = 70};
	const struct opened opened = {
		.fds = &fd, .nr_fds = 1, .rings = &ring, .nr_rings = 1, .nr_places = 1};
	const struct pd_id_entry expected = {11, 0, (uint64_t)-1, 70};
	const struct perf_event_header *hdr;
	const uint64_t *words;
	struct pd_record r;
	struct lab lab;

	lab_init(&lab, TESTS_DATA "/sysfs-aux/intel_pt", "intel_pt", 6);
	lab.events[0].attr.config = 1 << 10;
	lab.events[0].attr.flags = PD_ATTR_CONTEXT_SWITCH;
	lab.plan.target = TARGET_TASKS;
	lab.plan.task_rings = true;
	lab.source.opened = &opened;
	assert_int_equal(aux_info_build(&lab.source, &lab.b), 0);
	hdr = (const void *)lab.b.data;
	assert_int_equal(hdr->type, PERF_RECORD_ID_INDEX);
	assert_int_equal(pd_record_decode(hdr, NULL, &r), 0);
	assert_int_equal(r.id_index.nr, 1);
	assert_memory_equal(r.id_index.entries, &expected, sizeof(expected));
	hdr = (const void *)(lab.b.data + hdr->size);
	assert_int_equal(hdr->type, PERF_RECORD_AUXTRACE_INFO);
	words = (const uint64_t *)(const void *)((const char *)hdr + 16);
	assert_int_equal(words[7], 0);
	assert_int_equal(words[9], 0);
	buf_release(&lab.b);
}

/* Two places with an event that samples, an AUX event and, at the second one, two tasks. */
static void test_ids_of_trace_in_samples(void **state)
{
	struct open_ring rings[] = {
		{.kind = RING_SAMPLES, .cpu = 4},
		{.kind = RING_SAMPLES, .cpu = 6},
		{.kind = RING_AUX, .cpu = 4},
		{.kind = RING_AUX, .cpu = 6},
	};
	struct open_fd fds[] = {
		{.id = 11, .live = 99, .ring = 0, .cpu = 4, .task = 70},
		{.id = 12, .ring = 2, .cpu = 4, .task = 70},
		{.id = 13, .ring = 1, .cpu = 6, .task = 70},
		{.id = 14, .ring = 3, .cpu = 6, .task = 70},
		{.id = 15, .ring = 3, .cpu = 6, .task = 71},
	};
	const struct pd_id_entry expected[] = {
		{11, 0, 4, 70}, {12, 0, 4, 70}, {13, 1, 6, -1}, {14, 1, 6, -1}, {15, 1, 6, -1},
	};
	const struct opened opened = {
		.fds = fds, .nr_fds = 5, .rings = rings, .nr_rings = 4, .nr_places = 2};
	const struct perf_event_header *hdr;
	struct pd_record r;
	struct lab lab;

	lab_init(&lab, TESTS_DATA "/sysfs-aux/intel_pt", "intel_pt", 6);
	lab.source.opened = &opened;
	lab.plan.aux_mode = AUX_SAMPLE;
	assert_int_equal(aux_info_build(&lab.source, &lab.b), 0);
	hdr = (const void *)lab.b.data;
	assert_int_equal(hdr->type, PERF_RECORD_ID_INDEX);
	assert_int_equal(pd_record_decode(hdr, NULL, &r), 0);
	assert_int_equal(r.id_index.nr, 5);
	assert_memory_equal(r.id_index.entries, expected, sizeof(expected));
	hdr = (const void *)(lab.b.data + hdr->size);
	assert_int_equal(hdr->type, PERF_RECORD_AUXTRACE_INFO);
	buf_release(&lab.b);
}

static void test_cs_etm_is_as_in_a_file_of_perf(void **state)
{
	struct buf file = {0};
	size_t nr, nr_perf;
	const uint64_t *perf = words_of(CS_ETM_FILE, &file, &nr_perf), *words;
	struct lab lab;

	lab_init(&lab, TESTS_DATA "/sysfs-aux/cs_etm", "cs_etm", 8);
	lab.events[0].attr.config = 1 << 14;
	words = build(&lab, PD_AUXTRACE_CS_ETM, &nr);
	assert_int_equal(nr, nr_perf);
	assert_memory_equal(words, perf, nr * sizeof(*perf));

	lab.plan.sampled = (struct cpus){&lab.cpus[6], 2};
	words = build(&lab, PD_AUXTRACE_CS_ETM, &nr);
	assert_int_equal(nr, 3 + 2 * 10);
	assert_int_equal(words[1], 8ull << 32 | 2);
	assert_memory_equal(words + 3, perf + 3 + 6 * 10, 2 * 10 * sizeof(*perf));
	buf_release(&lab.b);
	buf_release(&file);
}

static void test_trace_units_of_each_kind(void **state)
{
	const uint64_t config = 1ull << 8 | 1ull << 12 | 1ull << 15 | 1ull << 28 | 1ull << 29;
	const uint64_t trcconfigr = 1 << 3 | 1 << 4 | 1 << 7 | 1 << 15 | 1 << 11 | 1 << 12;
	const uint64_t expected[] = {/* global */ 1,
				     9ull << 32 | 3,
				     1,
				     /* ETMv4 */ 0x4040404040404040,
				     0,
				     7,
				     trcconfigr,
				     0x10,
				     0x28000ea1,
				     0x4100f422,
				     0x20001088,
				     0,
				     0x8c,
				     /* ETE */ 0x5050505050505050,
				     1,
				     8,
				     trcconfigr,
				     0x12,
				     0x28c02ea1,
				     0x4100fff3,
				     0x411010a8,
				     0,
				     0xcc,
				     0x47705a13,
				     /* PTM */ 0x3030303030303030,
				     2,
				     4,
				     config,
				     0x14,
				     0x34c01ac2,
				     0x4114f250};
	const uint64_t *words;
	struct lab lab;
	size_t nr;

	lab_init(&lab, TESTS_DATA "/sysfs-aux/units", "cs_etm", 9);
	lab.events[0].attr.config = config;
	lab.plan.aux_mode = AUX_SNAPSHOT;
	words = build(&lab, PD_AUXTRACE_CS_ETM, &nr);
	assert_int_equal(nr * sizeof(*words), sizeof(expected));
	assert_memory_equal(words, expected, sizeof(expected));
	buf_release(&lab.b);
}

static void test_others(void **state)
{
	static const struct {
		const char *pmu;
		uint32_t type;
		size_t nr;
	} pmus[] = {
		{"intel_bts", PD_AUXTRACE_INTEL_BTS, 6},
		{"arm_spe_0", PD_AUXTRACE_ARM_SPE, 2},
		{"hisi_ptt0_2", PD_AUXTRACE_HISI_PTT, 1},
	};
	const struct pd_time_conv conv = {
		.time_shift = 3, .time_mult = 4, .time_zero = 5, .cap_user_time_zero = true};
	const uint64_t bts[] = {12, 3, 4, 5, 1, 0};
	struct lab lab;

	for (size_t i = 0; i < sizeof(pmus) / sizeof(*pmus); i++) {
		const uint64_t *words;
		size_t nr;

		lab_init(&lab, TESTS_DATA "/sysfs-aux/units", pmus[i].pmu, 12);
		lab.source.conv = &conv;
		words = build(&lab, pmus[i].type, &nr);
		assert_int_equal(nr, pmus[i].nr);
		assert_int_equal(words[0], 12);
		if (!i)
			assert_memory_equal(words, bts, sizeof(bts));
		buf_release(&lab.b);
	}
}

/* perf refuses a file with an AUXTRACE_INFO that it does not know. */
static void test_unknown_pmus_have_none(void **state)
{
	static const char *const pmus[] = {"auxsim", "intel_pt2", "intel", "cs_etm_perf"};
	struct lab lab;

	for (size_t i = 0; i < sizeof(pmus) / sizeof(*pmus); i++) {
		lab_init(&lab, TESTS_DATA "/sysfs-aux/units", pmus[i], 12);
		assert_int_equal(aux_info_build(&lab.source, &lab.b), 0);
		assert_int_equal(lab.b.len, 0);
		buf_release(&lab.b);
	}
}

static void test_time_conversion(void **state)
{
	struct perf_event_mmap_page page = {.time_shift = 7, .time_mult = 8, .time_zero = 9};
	struct pd_time_conv conv;

	assert_false(aux_info_conv(&page, &conv));
	page.cap_user_time = 1;
	assert_false(aux_info_conv(&page, &conv));
	page.cap_user_time_zero = 1;
	assert_true(aux_info_conv(&page, &conv));
	assert_int_equal(conv.time_shift, 7);
	assert_int_equal(conv.time_mult, 8);
	assert_int_equal(conv.time_zero, 9);
	assert_false(conv.cap_user_time_short);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_intel_pt_is_as_in_a_file_of_perf),
		cmocka_unit_test(test_intel_pt),
		cmocka_unit_test(test_intel_pt_of_a_tasks_ring),
		cmocka_unit_test(test_ids_of_trace_in_samples),
		cmocka_unit_test(test_cs_etm_is_as_in_a_file_of_perf),
		cmocka_unit_test(test_trace_units_of_each_kind),
		cmocka_unit_test(test_others),
		cmocka_unit_test(test_unknown_pmus_have_none),
		cmocka_unit_test(test_time_conversion),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
