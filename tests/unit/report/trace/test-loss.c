// SPDX-License-Identifier: Apache-2.0
/* Losses of samples, and of records that are no samples. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "report/trace/loss.h"

static void add(struct trace_loss *l, uint32_t type, uint16_t misc, uint64_t lost)
{
	const struct perf_event_header h = {.type = type, .misc = misc};
	const struct pd_record r = {.hdr = &h, .lost.lost = lost};

	trace_loss_add(l, &r);
}

/* The kernel's LOST records and its counts by event are of the same failures. */
static void test_counted_twice(void **state)
{
	struct trace_loss l = {0};

	(void)state;
	add(&l, PERF_RECORD_LOST, 0, 70);
	assert_int_equal(trace_loss_total(&l, &l), 70);
	add(&l, PERF_RECORD_LOST_SAMPLES, 0, 100);
	assert_int_equal(trace_loss_total(&l, &l), 100);
	add(&l, PERF_RECORD_LOST_SAMPLES, PD_MISC_LOST_POOL, 5);
	assert_int_equal(trace_loss_total(&l, &l), 105);
	assert_int_equal(trace_loss_rings(&l, &l), 100);
}

/* LOST records count the records beside an AUX area, too, by which no sample is lost. */
static void test_records_that_are_no_samples(void **state)
{
	struct trace_loss l = {0}, part = {0}, both = {0};

	(void)state;
	add(&l, PERF_RECORD_LOST, 0, 70);
	add(&part, PERF_RECORD_LOST, 0, 70); /* with the id of the wrong event, perhaps */
	add(&l, PERF_RECORD_LOST_SAMPLES, PD_MISC_LOST_RECORDS, 75);
	assert_int_equal(trace_loss_total(&l, &l), 0);
	assert_int_equal(trace_loss_total(&part, &l), 0);
	assert_int_equal(l.records, 75);
	add(&l, PERF_RECORD_LOST, 0, 40);
	add(&l, PERF_RECORD_LOST_SAMPLES, 0, 42);
	assert_int_equal(trace_loss_total(&l, &l), 42);
	trace_loss_merge(&both, &l);
	trace_loss_merge(&both, &l);
	assert_int_equal(both.records, 150);
	assert_int_equal(trace_loss_total(&both, &both), 84);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_counted_twice),
		cmocka_unit_test(test_records_that_are_no_samples),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
