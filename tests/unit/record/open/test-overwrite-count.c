// SPDX-License-Identifier: Apache-2.0
/*
 * What was overwritten: exact for events whose every count is a sample, unknown for all others,
 * never below zero, and nothing for rings that are not overwritten.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "record/open/overwrite_count.h"

#define FDS 3

static struct open_count counts[FDS];
static bool no_counts;

int __wrap_perf_event_read(int fd, uint64_t *ret, size_t words);
int __wrap_perf_event_read(int fd, uint64_t *ret, size_t words)
{
	assert_int_equal(words, 3);
	if (no_counts)
		return -EIO;
	memcpy(ret, (uint64_t[]){counts[fd].value, 0, counts[fd].lost}, 24);
	return 3;
}

static struct plan_event event_of(uint32_t type, uint64_t config, const char *name)
{
	return (struct plan_event){.attr = {.type = type,
					    .config = config,
					    .sample_period = 1,
					    .read_format = PERF_FORMAT_ID | PERF_FORMAT_LOST},
				   .name = (char *)(uintptr_t)name,
				   .overwrite = true};
}

/* Reads the counts of one event with two descriptors, of which @taken were drained. */
static struct overwrite_count read_one(struct plan_event *event, uint64_t taken)
{
	struct open_fd fds[] = {
		{.fd = 0, .id = 1}, {.fd = 1, .id = 2}, {.fd = 2, .id = 3, .event = 1}};
	const struct opened opened = {.fds = fds, .nr_fds = FDS};
	struct plan_event events[2] = {*event, event_of(PERF_TYPE_SOFTWARE, 0, "other")};
	const struct plan plan = {.events = events, .nr = 2};
	struct overwrite_count ret;

	events[1].overwrite = false;
	assert_int_equal(overwrite_count_read(&plan, &opened, (uint64_t[]){taken, 9}, &ret), 0);
	return ret;
}

static void assert_samples(struct plan_event *event, uint64_t taken, uint64_t samples)
{
	struct overwrite_count o = read_one(event, taken);

	assert_int_equal(o.unknown, 0);
	assert_int_equal(o.nr, samples ? 1 : 0);
	if (samples) {
		assert_int_equal(o.events[0].event, 0);
		assert_int_equal(o.events[0].samples, samples);
	}
	overwrite_count_release(&o);
}

static void assert_unknown(struct plan_event *event)
{
	struct overwrite_count o = read_one(event, 5);

	assert_int_equal(o.unknown, 1);
	assert_int_equal(o.first_unknown, 0);
	assert_int_equal(o.nr, 0);
	overwrite_count_release(&o);
}

static void begin(void)
{
	counts[0] = (struct open_count){.value = 100, .lost = 7};
	counts[1] = (struct open_count){.value = 50, .lost = 3};
	counts[2] = (struct open_count){.value = 1000};
	no_counts = false;
}

static void test_counted(void **state)
{
	struct plan_event faults =
		event_of(PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS, "faults");
	struct plan_event point = event_of(PERF_TYPE_TRACEPOINT, 300, "sched:sched_switch");
	struct plan_event watch = event_of(PERF_TYPE_BREAKPOINT, 0, "mem:0x1000");

	(void)state;
	begin();
	assert_samples(&faults, 40, 100);
	assert_samples(&point, 40, 100);
	assert_samples(&watch, 40, 100);
	assert_samples(&point, 140, 0);
	assert_samples(&point, 141, 0); /* drained and lost while the counts were read */
	point.overwrite = false;
	assert_samples(&point, 40, 0);
	point.overwrite = true;
	point.attr.sample_period = 0; /* takes no samples */
	assert_samples(&point, 40, 0);
}

static void test_not_counted(void **state)
{
	struct plan_event clock =
		event_of(PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_CLOCK, "cpu-clock");
	struct plan_event cycles = event_of(PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES, "cycles");
	struct plan_event wait = event_of(PERF_TYPE_TRACEPOINT, 301, "sched:sched_stat_wait");
	struct plan_event point = event_of(PERF_TYPE_TRACEPOINT, 300, "sched:sched_switch");

	(void)state;
	begin();
	assert_unknown(&clock);
	assert_unknown(&cycles);
	assert_unknown(&wait);
	point.attr.sample_period = 2;
	assert_unknown(&point);
	point.attr.sample_period = 1;
	point.attr.flags = PD_ATTR_FREQ;
	assert_unknown(&point);
	point.attr.flags = 0;
	assert_samples(&point, 40, 100);
	no_counts = true;
	assert_unknown(&point);
	no_counts = false;
	point.attr.read_format = PERF_FORMAT_ID; /* a kernel before 6.0 */
	assert_unknown(&point);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_counted),
		cmocka_unit_test(test_not_counted),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
