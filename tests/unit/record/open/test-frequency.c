// SPDX-License-Identifier: Apache-2.0
/* The periods of clocks in samples follow the changes of their frequencies. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include <linux/perf_event.h>

#include "record/open/frequency.h"

#define TYPE                                                                            \
	(PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | \
	 PERF_SAMPLE_CPU | PERF_SAMPLE_PERIOD)
#define KERNELS 1000000u /* what the kernel says at any time */

struct sample {
	struct perf_event_header header;
	uint64_t id, ip, tid, time, cpu, period;
};

static struct sample sample_of(uint64_t id, uint64_t time)
{
	return (struct sample){
		.header = {.type = PERF_RECORD_SAMPLE, .size = sizeof(struct sample)},
		.id = id,
		.ip = id,
		.tid = id,
		.time = time,
		.cpu = id,
		.period = KERNELS,
	};
}

/* Of descriptors that are none: the ioctls fail, and nobody asks. */
static void test_periods_follow(void **state)
{
	struct plan_event events[] = {
		{.attr = {.type = PERF_TYPE_HARDWARE,
			  .sample_type = TYPE,
			  .sample_period = 4000,
			  .flags = PD_ATTR_FREQ}},
		{.attr = {.type = PERF_TYPE_SOFTWARE,
			  .config = PERF_COUNT_SW_CPU_CLOCK,
			  .sample_type = TYPE,
			  .sample_period = 1000,
			  .flags = PD_ATTR_FREQ}},
		{.attr = {.type = PERF_TYPE_SOFTWARE,
			  .config = PERF_COUNT_SW_CPU_CLOCK,
			  .sample_type = TYPE,
			  .sample_period = KERNELS}},
	};
	struct plan plan = {.target = TARGET_CPUS, .events = events, .nr = 3};
	struct open_fd fds[] = {
		{.fd = -1, .id = 50, .event = 0, .task = -1},
		{.fd = -1, .id = 30, .event = 1, .task = -1},
		{.fd = -1, .id = 40, .event = 1, .ring = 1, .cpu = 1, .task = -1},
		{.fd = -1, .id = 20, .event = 2, .task = -1},
	};
	struct opened opened = {.fds = fds, .nr_fds = 4};
	struct frequency *f = frequency_new(&plan, &opened);
	struct sample s[] = {sample_of(30, 100), sample_of(40, 199), sample_of(40, 200),
			     sample_of(50, 250), sample_of(20, 250), sample_of(77, 250),
			     sample_of(30, 300), sample_of(30, 999)};
	const uint64_t expected[] = {KERNELS, KERNELS, 2 * KERNELS, KERNELS,
				     KERNELS, KERNELS, 1000000000,  1000000000};

	struct sample before;

	assert_non_null(f);
	assert_true(frequency_can(f, 0) && frequency_can(f, 1) && !frequency_can(f, 2));
	assert_int_equal(frequency_most(f), 4000);
	frequency_fix_periods(f, (uint8_t *)s, sizeof(s));
	for (size_t i = 0; i < 8; i++)
		assert_int_equal(s[i].period, KERNELS);
	frequency_set(f, 0.5);
	frequency_changed(f, 200);
	assert_int_equal(frequency_of(f, 0), 2000);
	assert_int_equal(frequency_of(f, 1), 500);
	frequency_set(f, 0.00001);
	frequency_changed(f, 300);
	assert_int_equal(frequency_of(f, 1), 1);
	frequency_fix_periods(f, (uint8_t *)s, sizeof(s));
	for (size_t i = 0; i < 8; i++) {
		assert_int_equal(s[i].period, expected[i]);
		s[i].period = KERNELS;
		before = sample_of(s[i].id, s[i].time);
		assert_memory_equal(&s[i], &before, sizeof(before));
	}
	for (unsigned int i = 0; i < 500; i++)
		frequency_changed(f, 1000 + i);
	frequency_fix_periods(f, (uint8_t *)s, sizeof(s) - 8);
	assert_int_equal(s[7].period, KERNELS); /* not whole */
	frequency_free(f);
}

/* Nobody knows what period the samples of those have that inherited it. */
static void test_clocks_that_are_inherited_stay(void **state)
{
	struct plan_event events[] = {
		{.attr = {.type = PERF_TYPE_SOFTWARE,
			  .config = PERF_COUNT_SW_TASK_CLOCK,
			  .sample_type = TYPE,
			  .sample_period = 1000,
			  .flags = PD_ATTR_FREQ | PD_ATTR_INHERIT}},
		{.attr = {.type = PERF_TYPE_SOFTWARE,
			  .config = PERF_COUNT_SW_PAGE_FAULTS,
			  .sample_type = TYPE,
			  .sample_period = 1000,
			  .flags = PD_ATTR_FREQ | PD_ATTR_INHERIT}},
	};
	struct plan plan = {.target = TARGET_TASKS, .events = events, .nr = 2};
	struct opened opened = {0};
	struct frequency *f = frequency_new(&plan, &opened);

	assert_false(frequency_can(f, 0));
	assert_true(frequency_can(f, 1));
	frequency_free(f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_periods_follow),
		cmocka_unit_test(test_clocks_that_are_inherited_stay),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
