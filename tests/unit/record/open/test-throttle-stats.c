// SPDX-License-Identifier: Apache-2.0
/*
 * Throttling, counted from records: each THROTTLE record with its event and CPU, and the time to
 * its UNTHROTTLE if there is one; forward from a ring and backward from an overwrite ring. Nothing
 * else is counted. Throttling on idle CPUs causes no warning.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <string.h>

#include "record/open/open.h"
#include "record/open/throttle_stats.h"

static char clock_name[] = "clock", cycles_name[] = "cycles", newest_name[] = "newest";
static struct plan_event events[] = {
	{.name = clock_name}, {.name = cycles_name}, {.name = newest_name, .overwrite = true}};
static const struct plan plan = {.events = events, .nr = 3};

static const struct open_fd fds[] = {
	{.id = 30, .event = 0, .cpu = 0},
	{.id = 10, .event = 0, .cpu = 1},
	{.id = 20, .event = 1, .cpu = -1},
	{.id = 40, .event = 2, .cpu = 3},
};

static struct throttle_stats *setup_throttles(void)
{
	struct throttle_stats *t = throttle_stats_new(&plan, fds, sizeof(fds) / sizeof(fds[0]));

	assert_non_null(t);
	return t;
}

static void tell(struct throttle_stats *t, uint32_t type, uint64_t id, uint64_t stream,
		 uint64_t time)
{
	struct {
		struct perf_event_header header;
		uint64_t time, id, stream, trailer[2];
	} rec = {{type, 0, sizeof(rec)}, time, id, stream, {0, id}};

	assert_true(throttle_stats_count(t, &rec.header, 7));
}

static void begin(struct throttle_stats *t, uint64_t id, uint64_t stream, uint64_t time)
{
	tell(t, PERF_RECORD_THROTTLE, id, stream, time);
}

static void end(struct throttle_stats *t, uint64_t id, uint64_t stream, uint64_t time)
{
	tell(t, PERF_RECORD_UNTHROTTLE, id, stream, time);
}

static void check(struct throttle_stats *t, uint64_t times, uint64_t nsec, uint64_t most)
{
	struct throttle_stats_figures f;

	throttle_stats_figures(t, &f);
	assert_int_equal(f.times, times);
	assert_int_equal(f.nsec, nsec);
	assert_int_equal(f.most, most);
}

static void pairs_are_timed(void **state)
{
	struct throttle_stats *t = setup_throttles();
	struct throttle_stats_figures f;

	check(t, 0, 0, 0);
	for (uint64_t i = 1; i <= 5; i++) {
		begin(t, 30, 30, 1000 * i);
		begin(t, 10, 10, 1000 * i + 1);
		end(t, 30, 30, 1000 * i + 100);
		check(t, 2 * i, 110 * i - 10, i);
		end(t, 10, 10, 1000 * i + 11);
		check(t, 2 * i, 110 * i, i);
	}
	begin(t, 10, 10, 6000);
	throttle_stats_figures(t, &f);
	assert_int_equal(f.event, 0);
	assert_int_equal(f.cpu, 1);
	assert_int_equal(f.most, 6);
	throttle_stats_free(t);
}

/* One of them was lost, or is of another task's copy of the event: no time is made up. */
static void halves_have_no_time(void **state)
{
	struct throttle_stats *t = setup_throttles();
	struct throttle_stats_figures f;

	end(t, 20, 20, 500);
	check(t, 0, 0, 0);
	begin(t, 20, 21, 1000);
	begin(t, 20, 22, 2000);
	end(t, 20, 22, 2050);
	check(t, 2, 50, 2);
	end(t, 20, 21, 3000);
	check(t, 2, 50, 2);
	begin(t, 20, 21, 4000);
	end(t, 20, 22, 5000);
	end(t, 20, 21, 6000);
	begin(t, 20, 21, 8000);
	end(t, 20, 21, 7000);
	check(t, 4, 50, 4);
	throttle_stats_figures(t, &f);
	assert_int_equal(f.event, 1);
	assert_int_equal(f.cpu, 7); /* of the ring, since the event is of any */
	throttle_stats_free(t);
}

/* Dumps of a ring that is overwritten: newest first, each later than the one before. */
static void newest_first(void **state)
{
	struct throttle_stats *t = setup_throttles();

	for (uint64_t dump = 1; dump <= 4; dump++) {
		end(t, 40, 40, 10000 * dump + 900);
		begin(t, 40, 40, 10000 * dump + 600);
		end(t, 40, 40, 10000 * dump + 500);
		begin(t, 40, 40, 10000 * dump + 480);
		check(t, 2 * dump, 320 * dump, 2 * dump);
		end(t, 40, 40, 10000 * dump + 5); /* its begin has been overwritten */
	}
	begin(t, 40, 40, 60000); /* its end is still to come */
	check(t, 9, 4 * 320, 9);
	throttle_stats_free(t);
}

static void nothing_else_counts(void **state)
{
	static const struct perf_event_header sample = {PERF_RECORD_SAMPLE, 0, 8},
					      cut = {PERF_RECORD_THROTTLE, 0, 8};
	struct throttle_stats *t = setup_throttles();

	assert_false(throttle_stats_count(t, &sample, 0));
	assert_true(throttle_stats_count(t, &cut, 0));
	begin(t, 31, 31, 1000);
	check(t, 0, 0, 0);
	throttle_stats_free(t);
	begin(NULL, 30, 30, 1000);
	check(NULL, 0, 0, 0);
}

static void keep_last(enum message_level level, const char *text, void *arg)
{
	size_t len = strlen(arg);

	if (level == MESSAGE_WARNING)
		snprintf((char *)arg + len, 512 - len, "%s", text);
}

static void one_line_is_said(void **state)
{
	struct throttle_stats *t = setup_throttles();
	char said[512] = "";
	const struct messages messages = {keep_last, said};

	throttle_stats_say(t, &plan, 1234, &messages);
	assert_string_equal(said, "");
	begin(t, 30, 30, 1000000000);
	begin(t, 10, 10, 1000000000);
	end(t, 10, 10, 3500000000);
	begin(t, 10, 10, 4000000000);
	throttle_stats_say(t, &plan, 1234, &messages);
	assert_non_null(strstr(said, " 3 times, for 2.500 s "));
	assert_non_null(strstr(said, "clock on CPU 1 the most (2)"));
	assert_non_null(strstr(said, " 1234 "));
	throttle_stats_free(t);
}

static void what_is_short_is_no_warning(void **state)
{
	struct throttle_stats *t = setup_throttles();
	char said[512] = "";
	const struct messages messages = {keep_last, said};

	begin(t, 10, 10, 1000000000);
	throttle_stats_say(t, &plan, 1234, &messages);
	assert_string_equal(said, "");
	end(t, 10, 10, 1000600000);
	begin(t, 30, 30, 1000000000);
	end(t, 30, 30, 1000399999);
	throttle_stats_say(t, &plan, 1234, &messages);
	assert_string_equal(said, "");
	check(t, 2, 999999, 1);
	begin(t, 10, 10, 2000000000);
	end(t, 10, 10, 2000000001);
	throttle_stats_say(t, &plan, 1234, &messages);
	assert_non_null(strstr(said, " 3 times, for 0.001 s "));
	throttle_stats_free(t);
}

/* The record names the task only if the event asks for it. */
static void tell_of_task(struct throttle_stats *t, uint32_t type, uint64_t id, uint32_t tid,
			 uint64_t time)
{
	struct {
		struct perf_event_header header;
		uint64_t time, id, stream;
		uint32_t pid, tid;
		uint64_t trailer_id;
	} rec = {{type, 0, sizeof(rec)}, time, id, id, tid, tid, id};

	assert_true(throttle_stats_count(t, &rec.header, 7));
}

static void idle_cpus_are_no_warning(void **state)
{
	struct plan_event named[] = {
		{.name = clock_name,
		 .attr = {.sample_type = PERF_SAMPLE_TID, .flags = PD_ATTR_SAMPLE_ID_ALL}},
		{.name = cycles_name}};
	const struct plan both = {.events = named, .nr = 2};
	struct throttle_stats *t = throttle_stats_new(&both, fds, 3);
	char said[512] = "";
	const struct messages messages = {keep_last, said};
	struct throttle_stats_figures f;

	assert_non_null(t);
	/* It is what ran at the beginning that counts; the end comes with a tick. */
	tell_of_task(t, PERF_RECORD_THROTTLE, 30, 0, 1000);
	tell_of_task(t, PERF_RECORD_UNTHROTTLE, 30, 5, 1700);
	tell_of_task(t, PERF_RECORD_THROTTLE, 10, 0, 1000);
	throttle_stats_figures(t, &f);
	assert_int_equal(f.times, 2);
	assert_int_equal(f.nsec, 700);
	assert_int_equal(f.idle, 2);
	assert_int_equal(f.idle_nsec, 700);
	assert_int_equal(f.most, 0);
	throttle_stats_say(t, &both, 1234, &messages);
	assert_string_equal(said, "");
	tell_of_task(t, PERF_RECORD_THROTTLE, 10, 5, 2000000000);
	tell_of_task(t, PERF_RECORD_UNTHROTTLE, 10, 0, 3500000000);
	throttle_stats_say(t, &both, 1234, &messages);
	assert_non_null(strstr(said, " 1 time, for 1.500 s "));
	assert_non_null(strstr(said, "clock on CPU 1 the most (1)"));
	tell_of_task(t, PERF_RECORD_THROTTLE, 20, 0, 4000);
	throttle_stats_figures(t, &f);
	assert_int_equal(f.times, 4);
	assert_int_equal(f.idle, 2);
	throttle_stats_free(t);
}

/* Of an overwrite ring: the end is read before the task at the beginning. */
static void idle_backward(void **state)
{
	struct plan_event newest = events[2];
	const struct plan one = {.events = &newest, .nr = 1};
	const struct open_fd fd = {.id = 40, .event = 0, .cpu = 3};
	struct throttle_stats_figures f;
	struct throttle_stats *t;

	newest.attr =
		(struct pd_attr){.sample_type = PERF_SAMPLE_TID, .flags = PD_ATTR_SAMPLE_ID_ALL};
	t = throttle_stats_new(&one, &fd, 1);
	assert_non_null(t);
	tell_of_task(t, PERF_RECORD_UNTHROTTLE, 40, 0, 1900);
	tell_of_task(t, PERF_RECORD_THROTTLE, 40, 5, 1860);
	tell_of_task(t, PERF_RECORD_UNTHROTTLE, 40, 5, 1700);
	tell_of_task(t, PERF_RECORD_THROTTLE, 40, 0, 1000);
	throttle_stats_figures(t, &f);
	assert_int_equal(f.nsec, 740);
	assert_int_equal(f.idle, 1);
	assert_int_equal(f.idle_nsec, 700);
	throttle_stats_free(t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(pairs_are_timed),  cmocka_unit_test(halves_have_no_time),
		cmocka_unit_test(newest_first),	    cmocka_unit_test(nothing_else_counts),
		cmocka_unit_test(one_line_is_said), cmocka_unit_test(idle_cpus_are_no_warning),
		cmocka_unit_test(idle_backward),    cmocka_unit_test(what_is_short_is_no_warning),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
