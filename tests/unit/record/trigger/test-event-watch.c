// SPDX-License-Identifier: Apache-2.0
/* Watched events, on a fake kernel. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "record/trigger/event_watch.h"
#include "record/plan/trigger_spec.h"
#include "fake-rings.h"

/* --- a trigger on it -----------------------------------------------------------------------------
 */

#define STARTS                                                                             \
	(PD_ATTR_DISABLED | PD_ATTR_ENABLE_ON_EXEC | PD_ATTR_INHERIT | PD_ATTR_WATERMARK | \
	 PD_ATTR_FREQ)

static const char *const command[] = {"true", NULL};

struct lab {
	struct plan_opts opts;
	struct event_list events;
	struct limits limits;
	struct plan *plan;
	struct event_watch *trigger;
	struct trigger_place place;
	struct pollfd polled[RINGS];
	struct error err;
	size_t cpus;
};

/* On one CPU: two events share a ring; on all, each CPU has its own. */
static void lab_open(struct lab *lab, const char *events)
{
	kernel = (struct kernel){0};
	lab->limits = (struct limits){.perfmon = true,
				      .max_sample_rate = 100000,
				      .mem_total = 1ull << 40,
				      .page_size = PAGE};
	assert_int_equal(event_parse(&lab->events, events, NULL, &lab->err), 0);
	assert_int_equal(plan_new(&lab->opts, &lab->limits, NULL, &lab->plan, &lab->err), 0);
	assert_int_equal(plan_set_command(lab->plan, 4711), 0);
	lab->cpus = lab->plan->sampled.nr;
	lab->place = (struct trigger_place){lab->plan, &lab->limits};
	assert_int_equal(event_watch_new(&lab->events, &lab->place, 0, &lab->trigger, &lab->err),
			 0);
	assert_int_equal(event_watch_descriptors(lab->trigger), kernel.rings);
	event_watch_watch(lab->trigger, lab->polled);
}

static void lab_close(struct lab *lab)
{
	event_watch_free(lab->trigger);
	plan_free(lab->plan);
	event_list_release(&lab->events);
	cpus_release(&lab->opts.target.cpus);
}

static struct event_watch_news ask(struct lab *lab, short revents)
{
	struct event_watch_news news = {0};

	for (size_t i = 0; i < kernel.rings; i++)
		lab->polled[i].revents = revents;
	event_watch_ask(lab->trigger, lab->polled, event_watch_count, &news);
	return news;
}

static void test_what_is_opened(void **state)
{
	struct lab lab = {.opts.target.command = command};

	lab_open(&lab, "page-faults:u,cs/period=7/");
	assert_int_equal(kernel.opened, 2 * lab.cpus);
	assert_int_equal(kernel.rings, lab.cpus);
	assert_int_equal(kernel.size[0], PAGE);
	for (size_t i = 0; i < kernel.opened; i++) {
		const struct pd_attr *a = &kernel.attr[i];
		bool cs = a->config == PERF_COUNT_SW_CONTEXT_SWITCHES;

		assert_int_equal(a->sample_period, cs ? 7 : 1);
		assert_int_equal(a->wakeup_events, 1);
		assert_int_equal(!(a->flags & PD_ATTR_EXCLUDE_KERNEL), cs);
		assert_int_equal(a->flags & STARTS,
				 PD_ATTR_DISABLED | PD_ATTR_ENABLE_ON_EXEC | PD_ATTR_INHERIT);
	}
	/* Its exec enables them. */
	assert_int_equal(event_watch_enable(lab.trigger, &lab.err), 0);
	assert_int_equal(kernel.enabled, 0);
	lab_close(&lab);
}

static void test_whole_cpus_with_a_filter(void **state)
{
	struct lab lab = {.opts.target.all_cpus = true};

	assert_int_equal(cpus_parse("0", &lab.opts.target.cpus, NULL), 0);
	if (event_parse(&lab.events, "sched:sched_switch", NULL, &lab.err))
		skip(); /* no tracefs that could be read */
	assert_int_equal(event_set_filter(&lab.events, 0, "next_pid > 1", NULL), 0);
	lab_open(&lab, "cs");
	assert_int_equal(kernel.opened, 2);
	assert_int_equal(kernel.filters, 1);
	assert_int_equal(kernel.attr[0].flags & STARTS, PD_ATTR_DISABLED);
	assert_int_equal(event_watch_enable(lab.trigger, &lab.err), 0);
	assert_int_equal(kernel.enabled, 2);
	lab_close(&lab);
}

static void test_newest_is_told(void **state)
{
	struct lab lab = {.opts.target.command = command};
	struct event_watch_news news;

	lab_open(&lab, "cs,page-faults");
	if (lab.cpus < 2)
		skip();
	assert_int_equal(ask(&lab, POLLIN).fired, 0);
	/* Ids are given in the order of opening: of page-faults, the last, come first. */
	put_sample(0, 1, 500, 0);
	put_sample(0, lab.cpus + 1, 900, 0);
	put_sample(1, 2, 700, 1);
	put_lost(1, 2, 40, 950);
	assert_int_equal(ask(&lab, 0).fired, 0); /* none of them has woken */
	news = ask(&lab, POLLIN);
	assert_int_equal(news.fired, 43);
	assert_int_equal(news.hit.time, 900);
	assert_int_equal(news.hit.cpu, 0);
	assert_int_equal(news.hit.pid, PID);
	assert_int_equal(news.hit.tid, 12);
	assert_string_equal(event_watch_event_name(lab.trigger, news.hit.event), "cs");
	/* Of the same event that another has open, it may have the other's id. */
	put_sample(0, 99, 1000, 0);
	news = ask(&lab, POLLIN);
	assert_int_equal(news.fired, 1);
	assert_null(event_watch_event_name(lab.trigger, news.hit.event));
	assert_int_equal(ask(&lab, POLLIN).fired, 0);
	lab_close(&lab);
}

/* All events are reported once, wherever in the ring they lie. */
static void test_each_is_told_once(void **state)
{
	struct lab lab = {.opts.target.command = command};
	uint64_t all = 0, told = 0;

	lab_open(&lab, "page-faults");
	srand(1);
	for (int i = 0; i < 3000; i++) {
		for (int n = rand() % 120; n && put_sample(0, 1, 1 + all, 0); n--) {
			all++;
			if (rand() % 3 == 0) /* others move what follows */
				put(0, PERF_RECORD_THROTTLE, 16, (uint64_t[]){0}, 1);
		}
		told += ask(&lab, POLLIN).fired;
		assert_int_equal(told, all);
	}
	lab_close(&lab);
}

/* Hits of a ring in the order of coming. */
struct hits {
	struct event_watch_hit hit[256];
	size_t nr;
};

static void keep_hit(const struct event_watch_hit *hit, void *arg)
{
	struct hits *hits = arg;

	hits->hit[hits->nr++] = *hit;
}

/* A ring that the kernel finds no room in says so in time, whatever it lost. */
static void test_a_full_ring_is_told(void **state)
{
	struct lab lab = {.opts.target.command = command};
	struct hits hits = {0};
	size_t room = PAGE / 40 - 2;

	lab_open(&lab, "page-faults");
	for (int again = 0; again < 3; again++) {
		for (size_t more = 0; more < 4; more++) {
			hits.nr = 0;
			for (size_t i = 0; i < room + more - 1; i++)
				put_sample(0, 1, 1 + i, 0);
			event_watch_ask_all(lab.trigger, lab.polled, keep_hit, &hits);
			assert_int_equal(hits.hit[0].what, TRIGGER_HAPPENED);
			/* 96 bytes are a sample and a record of loss. */
			if (PAGE - (room + more - 1) * 40 >= 96)
				assert_int_equal(hits.nr, room + more - 1);
			else
				assert_int_equal(hits.hit[hits.nr - 1].what, TRIGGER_FULL);
		}
	}
	put_lost(0, 1, 17, 5);
	hits.nr = 0;
	event_watch_ask_all(lab.trigger, lab.polled, keep_hit, &hits);
	assert_int_equal(hits.nr, 1);
	assert_int_equal(hits.hit[0].what, TRIGGER_LOST);
	assert_int_equal(hits.hit[0].times, 17);
	lab_close(&lab);
}

static void test_records_that_are_none(void **state)
{
	static const uint16_t sizes[] = {0, 7, 8, 16, 33, 4000, UINT16_MAX};
	struct lab lab = {.opts.target.command = command};

	lab_open(&lab, "page-faults");
	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		put(0, PERF_RECORD_SAMPLE, sizes[i], (uint64_t[]){1, 2, 3, 4}, 4);
		assert_true(ask(&lab, POLLIN).fired <= 1);
		assert_true(put_sample(0, 1, 1, 0));
		assert_int_equal(ask(&lab, POLLIN).fired, 1);
	}
	lab_close(&lab);
}

/* The tasks of one event of a ring end before those of the other. */
static void test_tasks_end(void **state)
{
	struct lab lab = {.opts.target.command = command};
	int first;

	lab_open(&lab, "page-faults,cs");
	first = lab.polled[0].fd;
	put_sample(0, 1, 1, 0);
	assert_int_equal(ask(&lab, POLLIN | POLLHUP).fired, 1);
	assert_true(lab.polled[0].fd >= 0 && lab.polled[0].fd != first);
	put_sample(0, 1, 1, 0);
	assert_int_equal(ask(&lab, POLLHUP).fired, 1);
	assert_int_equal(lab.polled[0].fd, -1);
	assert_int_equal(ask(&lab, 0).fired, 0);
	lab_close(&lab);
}

static void test_how_often_must_be_said(void **state)
{
	static const struct {
		const char *event;
		int rc;
	} rows[] = {
		{"cycles", -EINVAL},	      {"cpu-clock", -EINVAL}, {"cycles/period=100000/", 0},
		{"cycles/freq=1/", 0},	      {"page-faults", 0},     {"mem:0x1000:w", 0},
		{"L1-dcache-loads", -EINVAL}, {"r3c", -EINVAL},	      {"dummy", -EINVAL},
		{"dummy/period=1/", -EINVAL},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct event_list list = {0};

		assert_int_equal(event_parse(&list, rows[i].event, NULL, NULL), 0);
		assert_int_equal(trigger_spec_check_event(&list.specs[0], NULL), rows[i].rc);
		event_list_release(&list);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_what_is_opened),
		cmocka_unit_test(test_whole_cpus_with_a_filter),
		cmocka_unit_test(test_newest_is_told),
		cmocka_unit_test(test_each_is_told_once),
		cmocka_unit_test(test_a_full_ring_is_told),
		cmocka_unit_test(test_records_that_are_none),
		cmocka_unit_test(test_tasks_end),
		cmocka_unit_test(test_how_often_must_be_said),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
