// SPDX-License-Identifier: Apache-2.0
/*
 * Ids in records of each kind: exactly the fields that are ids change, whatever surrounds them;
 * against a list of these fields by the kernel's definition.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "perfdata/record.h"
#include "record/open/renumber.h"
#include "record/pipeline/shed.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* Words behind the header that are ids; -1: the last. */
static const struct {
	uint32_t type;
	int words; /* 1 or more, and ids among them */
	int ids[3];
	size_t nr;
} kinds[] = {
	{PERF_RECORD_SAMPLE, 12, {0}, 1},
	{PERF_RECORD_SAMPLE, 1, {0}, 1},
	{PERF_RECORD_MMAP2, 14, {-1}, 1},
	{PERF_RECORD_COMM, 7, {-1}, 1},
	{PERF_RECORD_FORK, 7, {-1}, 1},
	{PERF_RECORD_LOST, 6, {0, -1}, 2},
	{PERF_RECORD_LOST_SAMPLES, 5, {-1}, 1},
	{PERF_RECORD_THROTTLE, 7, {1, 2, -1}, 3},
	{PERF_RECORD_UNTHROTTLE, 7, {1, 2, -1}, 3},
	{PERF_RECORD_KSYMBOL, 9, {-1}, 1},
};

#define FROM 1000 /* to FROM + IDS - 1 */
#define IDS  50

/* Some of them known, others not, and much that is alike. */
static uint64_t any_id(void)
{
	return FROM - 5 + (uint64_t)rand() % (IDS + 10);
}

static uint64_t becomes(uint64_t id)
{
	return id >= FROM && id < FROM + IDS ? id + 7000000 : id;
}

static void test_records(void **state)
{
	struct renumber *r = renumber_new();
	uint64_t before[4096], after[4096], plain[4096];
	size_t n;

	srand(1);
	for (int round = 0; round < 300; round++) {
		n = 0;
		while (n + 20 < COUNT(before)) {
			size_t kind = (size_t)rand() % COUNT(kinds);
			size_t words = (size_t)kinds[kind].words;
			struct perf_event_header hdr = {
				.type = kinds[kind].type,
				.size = (uint16_t)(8 + 8 * words),
			};

			memcpy(&before[n], &hdr, sizeof(hdr));
			after[n] = before[n];
			for (size_t i = 1; i <= words; i++)
				before[n + i] = after[n + i] = any_id();
			for (size_t i = 0; i < kinds[kind].nr; i++) {
				int word = kinds[kind].ids[i];
				size_t at = n + 1 + (word < 0 ? words - 1 : (size_t)word);

				after[at] = becomes(before[at]);
			}
			n += 1 + words;
		}
		memcpy(plain, before, 8 * n);
		renumber_records(r, (uint8_t *)before, 8 * n);
		if (round) {
			assert_memory_equal(before, after, 8 * n);
			continue;
		}
		/* Nobody was added yet. */
		assert_memory_equal(before, plain, 8 * n);
		for (uint64_t id = 0; id < IDS; id++)
			assert_int_equal(renumber_add(r, FROM + (id * 7) % IDS,
						      7000000 + FROM + (id * 7) % IDS),
					 0);
	}
	renumber_free(r);
}

static uint64_t lookup(struct renumber *r, uint64_t id)
{
	const struct perf_event_header hdr = {.type = PERF_RECORD_SAMPLE, .size = 16};
	uint64_t record[2] = {0, id};

	memcpy(record, &hdr, sizeof(hdr));
	renumber_records(r, (uint8_t *)record, sizeof(record));
	return record[1];
}

/* In any order, and each is known for good. */
static void test_generations(void **state)
{
	struct renumber *r = renumber_new();

	for (uint64_t age = 1; age <= 1000; age++) {
		for (uint64_t event = 0; event < 3; event++)
			assert_int_equal(renumber_add(r, (age ^ 5) * 10 + event, event), 0);
		for (uint64_t event = 0; event < 3; event++) {
			uint64_t old = 1 + (uint64_t)rand() % age;

			assert_int_equal(lookup(r, (age ^ 5) * 10 + event), event);
			assert_int_equal(lookup(r, (old ^ 5) * 10 + event), event);
			assert_int_equal(lookup(r, (age ^ 5) * 10 + 3 + event),
					 (age ^ 5) * 10 + 3 + event);
		}
	}
	renumber_free(r);
	renumber_free(NULL);
}

/* Samples dropped before any renumbering are reported under the id that the output has. */
static void test_shed(void **state)
{
	struct plan_event event = {
		.attr = {.sample_type = PERF_SAMPLE_IDENTIFIER, .flags = PD_ATTR_SAMPLE_ID_ALL}};
	const struct plan plan = {.events = &event, .nr = 1};
	struct open_fd fd = {.id = 7};
	const struct opened opened = {.fds = &fd, .nr_fds = 1};
	const struct perf_event_header hdr = {.type = PERF_RECORD_SAMPLE, .size = 16};
	struct renumber *r = renumber_new();
	struct shed *shed = shed_new(&plan, &opened, r);
	uint64_t samples[6] = {0, 7, 0, 99, 0, 100}, told[8];
	int cpu;

	for (size_t i = 0; i < 6; i += 2)
		memcpy(&samples[i], &hdr, sizeof(hdr));
	assert_int_equal(renumber_add(r, 99, 7), 0);
	assert_int_equal(renumber_add(r, 100, 7), 0);
	assert_int_equal(shed_samples(shed, (uint8_t *)samples, sizeof(samples), 3), 0);
	assert_true(shed_report_next(shed, (uint8_t *)told, &cpu) > 0);
	assert_int_equal(told[1], 3);
	assert_int_equal(told[2], 7);
	assert_int_equal(shed_report_next(shed, (uint8_t *)told, &cpu), 0);
	shed_free(shed);
	renumber_free(r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_records),
		cmocka_unit_test(test_generations),
		cmocka_unit_test(test_shed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
