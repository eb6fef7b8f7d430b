// SPDX-License-Identifier: Apache-2.0
/* Losses in LOST records behind a rotation, less those counted before it; against a plain sum. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "perfdata/record.h"
#include "record/loss/lost_carryover.h"

#define CPUS 3 /* -1, 0 and 1 */

struct lost {
	struct perf_event_header header;
	uint64_t id, lost, trailer;
};

static uint64_t tell(struct lost_carryover *l, int cpu, uint64_t n)
{
	struct {
		struct perf_event_header sample;
		uint64_t body[3];
		struct lost lost;
	} run = {
		.sample = {PERF_RECORD_SAMPLE, 0, sizeof(run.sample) + sizeof(run.body)},
		.body = {n, n, n},
		.lost = {{PERF_RECORD_LOST, 0, sizeof(run.lost)}, n, n, n},
	};

	lost_carryover_apply(l, cpu, (uint8_t *)&run, sizeof(run));
	for (int i = 0; i < 3; i++)
		assert_int_equal(run.body[i], n);
	assert_int_equal(run.lost.header.size, sizeof(run.lost));
	assert_int_equal(run.lost.trailer, n);
	if (run.lost.header.type == PERF_RECORD_LOST) {
		assert_int_equal(run.lost.id, n);
		assert_true(run.lost.lost || !n);
	} else {
		/* Read as LOST_SAMPLES, whose number stands where a LOST record has its id. */
		assert_int_equal(run.lost.header.type, PERF_RECORD_LOST_SAMPLES);
		assert_int_equal(run.lost.id | run.lost.lost, 0);
	}
	return run.lost.lost;
}

static void test_once(void **state)
{
	struct lost_carryover *l = lost_carryover_new();

	(void)state;
	assert_int_equal(tell(l, 1, 7), 7);
	assert_int_equal(lost_carryover_credit(l, 1, 10), 0);
	lost_carryover_debit(l, 1, 7);
	assert_int_equal(tell(l, 0, 5), 5);
	assert_int_equal(tell(l, -1, 5), 5);
	assert_int_equal(tell(l, 2, 5), 5);
	assert_int_equal(tell(l, 1, 2), 0);
	assert_int_equal(tell(l, 1, 5), 4);
	assert_int_equal(tell(l, 1, 5), 5);
	lost_carryover_free(l);
}

/* Rings that lose at any time, report it some time later, and are rotated at any time. */
static void test_sums(void **state)
{
	(void)state;
	srand(1);
	for (int round = 0; round < 200; round++) {
		struct lost_carryover *l = lost_carryover_new();
		uint64_t lost[CPUS] = {0}, told[CPUS] = {0}, outputs = 0;
		uint64_t counted[CPUS] = {0}, here[CPUS] = {0}, all = 0;

		for (int step = 0; step < 300; step++) {
			int i = rand() % CPUS;
			uint64_t n = (uint64_t)rand() % 100;

			switch (rand() % 8) {
			case 0:
				for (i = 0; i < CPUS; i++) {
					/* The counter has at least the reported losses. */
					assert_true(here[i] <= lost[i] - counted[i]);
					outputs += lost[i] - counted[i];
					assert_int_equal(lost_carryover_credit(
								 l, i - 1, lost[i] - counted[i]),
							 0);
					lost_carryover_debit(l, i - 1, here[i]);
					counted[i] = lost[i];
					here[i] = 0;
				}
				break;
			case 1:
			case 2:
			case 3:
				here[i] += tell(l, i - 1, lost[i] - told[i]);
				told[i] = lost[i];
				/* All losses are reported: as many as the counter has. */
				assert_int_equal(here[i], lost[i] - counted[i]);
				break;
			default: lost[i] += n; all += n;
			}
		}
		for (int i = 0; i < CPUS; i++)
			outputs += lost[i] - counted[i];
		assert_int_equal(outputs, all);
		lost_carryover_free(l);
	}
}

/* Of records that end too early nothing is read or changed. */
static void test_short(void **state)
{
	struct lost_carryover *l = lost_carryover_new();
	struct perf_event_header *rec = calloc(2, sizeof(*rec));

	(void)state;
	*rec = (struct perf_event_header){PERF_RECORD_LOST, 0, 16};
	assert_int_equal(lost_carryover_credit(l, 0, 10), 0);
	lost_carryover_apply(l, 0, (uint8_t *)rec, 16);
	lost_carryover_apply(l, 0, (uint8_t *)rec, 8);
	lost_carryover_apply(l, 0, (uint8_t *)rec, 0);
	assert_int_equal(tell(l, 0, 11), 1);
	free(rec);
	lost_carryover_free(l);
	lost_carryover_free(NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_once),
		cmocka_unit_test(test_sums),
		cmocka_unit_test(test_short),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
