// SPDX-License-Identifier: Apache-2.0
/* Requests of --trigger and their times, on a fake kernel and with a fake clock. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <unistd.h>

#include "record/trigger/trigger.h"
#include "record/trigger/trigger_set.h"
#include "fake-rings.h"

#define MS 1000000ull
#define S  (1000 * MS)

struct lab {
	struct plan_opts opts;
	struct limits limits;
	struct plan *plan;
	struct trigger_specs specs;
	struct trigger_set *triggers;
	struct pollfd polled[RINGS];
	uint64_t now;
	size_t looks; /* times that poll(2) was asked about the triggers */
	struct snapshot_request asked[64];
	uint64_t asked_at[64];
	size_t nr;
	uint64_t left_out[RINGS]; /* by ring: samples without room that are not reported yet */
};

static void take_requests(struct lab *lab)
{
	const struct snapshot_request *request;

	while ((request = trigger_set_take(lab->triggers))) {
		assert_true(lab->nr < 64);
		lab->asked_at[lab->nr] = lab->now;
		lab->asked[lab->nr++] = *request;
	}
}

/* A trigger of each of @texts, on @cpus. */
static void lab_open_with(struct lab *lab, const char *cpus, const char *const *texts,
			  const struct messages *messages)
{
	struct trigger_place place = {.limits = &lab->limits, .messages = messages};
	struct error err = ERROR_INIT;

	kernel = (struct kernel){0};
	*lab = (struct lab){.now = 1000 * S};
	lab->limits = (struct limits){.perfmon = true,
				      .max_sample_rate = 100000,
				      .mem_total = 1ull << 40,
				      .page_size = PAGE};
	assert_int_equal(cpus_parse(cpus, &lab->opts.target.cpus, NULL), 0);
	if (plan_new(&lab->opts, &lab->limits, NULL, &lab->plan, &err))
		skip(); /* no such CPU */
	place.recording = lab->plan;
	for (; *texts; texts++)
		assert_int_equal(trigger_specs_add(&lab->specs, *texts, NULL, &err), 0);
	assert_int_equal(trigger_set_new(&lab->specs, &place, &lab->triggers, &err), 0);
	assert_true(trigger_set_descriptors(lab->triggers) <= RINGS);
	trigger_set_watch(lab->triggers, lab->polled);
	assert_int_equal(trigger_set_start(lab->triggers, lab->now, &err), 0);
}

static void lab_open(struct lab *lab, const char *cpus, const char *const *texts)
{
	lab_open_with(lab, cpus, texts, NULL);
}

static void lab_close(struct lab *lab)
{
	trigger_set_free(lab->triggers);
	trigger_specs_release(&lab->specs);
	plan_free(lab->plan);
	cpus_release(&lab->opts.target.cpus);
}

/* As the main thread does when its poll(2) returns. */
static void look(struct lab *lab)
{
	size_t nr = trigger_set_polled(lab->triggers, lab->now);

	lab->looks += nr != 0;
	for (size_t i = 0; i < nr; i++)
		if (i < kernel.rings && kernel.ring[i]->data_head != kernel.ring[i]->data_tail)
			lab->polled[i].revents = POLLIN;
	trigger_set_look(lab->triggers, lab->polled, lab->now);
	take_requests(lab);
}

static void finish(struct lab *lab)
{
	trigger_set_finish(lab->triggers, lab->polled, lab->now);
	take_requests(lab);
}

/* Goes on to @until, looking when it is due. */
static void wait_until(struct lab *lab, uint64_t until)
{
	uint64_t due;

	while ((due = trigger_set_due(lab->triggers, lab->now)) <= until) {
		if (due > lab->now)
			lab->now = due;
		look(lab);
	}
	lab->now = until;
}

/* The next sample with room reports those without; those of the first ring are counted, too. */
static void happen_of(struct lab *lab, size_t ring, uint64_t id, uint64_t pid_tid)
{
	if (lab->left_out[ring] && put_lost(ring, id, lab->left_out[ring], lab->now))
		lab->left_out[ring] = 0;
	if (lab->left_out[ring] || !put_sample_of(ring, id, lab->now, pid_tid)) {
		lab->left_out[ring]++;
		kernel.lost += ring == 0;
	}
}

static void happen(struct lab *lab, size_t ring, uint64_t id)
{
	happen_of(lab, ring, id, TID);
}

/* --- events --------------------------------------------------------------------------------------
 */

static void test_a_storm(void **state)
{
	static const char *const texts[] = {"page-faults,limit=3/2s", "cs,after=100ms", NULL};
	struct trigger_set_figures figures;
	uint64_t seconds = 10, produced = 0, in_rings;
	struct lab lab;

	lab_open(&lab, "0", texts);
	/* 30 a millisecond of one, and one in all of the other. */
	for (uint64_t ms = 0; ms < seconds * 1000; ms++) {
		for (int i = 0; i < 30; i++, produced++)
			happen(&lab, 0, 1);
		if (ms == 5000)
			happen(&lab, 1, 2);
		look(&lab);
		wait_until(&lab, lab.now + MS);
	}
	happen(&lab, 0, 1);
	trigger_set_figures(lab.triggers, &figures);
	in_rings = kernel.ring[0]->data_head - kernel.ring[0]->data_tail;
	assert_true(figures.fired + in_rings / 40 >= produced + 2);
	finish(&lab);
	trigger_set_figures(lab.triggers, &figures);
	assert_int_equal(figures.fired, produced + 2);
	assert_int_equal(figures.asked, lab.nr);
	assert_int_equal(figures.limited, figures.fired - lab.nr);
	assert_int_equal(lab.nr, 3 * seconds / 2 + 2); /* the other, and the last */
	assert_true(lab.looks <= 2 * seconds * S / TRIGGERS_REST_NS + 2);
	for (size_t i = 0; i < lab.nr; i++) {
		const struct pd_snapshot_request *r = &lab.asked[i].what;
		bool other = !strcmp(r->cause.event, "cs");

		assert_int_equal(r->origin, PD_SNAPSHOT_TRIGGER);
		assert_string_equal(r->reason, other ? "cs" : "page-faults");
		assert_int_equal(r->cause.tid, 12);
		assert_int_equal(r->asked, r->cause.time);
		assert_true(lab.asked_at[i] - r->cause.time <= (other ? 111 : 11) * MS);
		assert_true(!other || lab.asked_at[i] - r->cause.time >= 100 * MS);
	}
	lab_close(&lab);
}

static void test_what_waits_is_asked_at_the_end(void **state)
{
	static const char *const texts[] = {"cs,after=10s,reason=a switch", NULL};
	struct lab lab;

	lab_open(&lab, "0", texts);
	happen(&lab, 0, 1);
	look(&lab);
	wait_until(&lab, lab.now + 9 * S);
	assert_int_equal(lab.nr, 0);
	finish(&lab);
	assert_int_equal(lab.nr, 1);
	assert_string_equal(lab.asked[0].what.reason, "a switch");
	finish(&lab);
	assert_int_equal(lab.nr, 1);
	/* A trigger on a descriptor that nobody polled counts, too. */
	lab.now += S;
	happen(&lab, 0, 1);
	finish(&lab);
	assert_int_equal(lab.nr, 2);
	lab_close(&lab);
}

/* It counts as limited, and the next is asked for as ever. */
static void test_a_request_that_is_refused(void **state)
{
	static const char *const texts[] = {"cs,limit=1000/1s", "page-faults", NULL};
	struct trigger_set_figures figures;
	struct lab lab;

	lab_open(&lab, "0", texts);
	happen(&lab, 0, 1);
	happen(&lab, 1, 2);
	lab.polled[0].revents = lab.polled[1].revents = POLLIN;
	trigger_set_look(lab.triggers, lab.polled, lab.now);
	assert_string_equal(trigger_set_take(lab.triggers)->what.reason, "cs");
	trigger_set_refused(lab.triggers);
	assert_string_equal(trigger_set_take(lab.triggers)->what.reason, "page-faults");
	assert_null(trigger_set_take(lab.triggers));
	trigger_set_figures_of(lab.triggers, 0, &figures);
	assert_int_equal(figures.fired, 1);
	assert_int_equal(figures.asked, 0);
	assert_int_equal(figures.limited, 1);
	trigger_set_figures_of(lab.triggers, 1, &figures);
	assert_int_equal(figures.asked, 1);
	wait_until(&lab, lab.now + S);
	happen(&lab, 0, 1);
	look(&lab);
	assert_int_equal(lab.nr, 1);
	lab_close(&lab);
}

/*
 * What we do ourselves because of a trigger is none: it pauses no ring, and what does not find room
 * behind it is ours, too.
 */
static void test_our_own_events(void **state)
{
	static const char *const texts[] = {"cs,limit=1000/1s", NULL};
	uint64_t self = (uint64_t)getpid() * (1 + (1ull << 32));
	struct trigger_set_figures figures;
	struct lab lab;

	lab_open(&lab, "0", texts);
	for (int i = 0; i < 50; i++) {
		/* More than a ring has room for, each second time. */
		for (int n = 0; n < (i % 2 ? 500 : 3); n++)
			happen_of(&lab, 0, 1, self);
		look(&lab);
		assert_false(kernel.paused[0]);
		wait_until(&lab, lab.now + 100 * MS);
		trigger_set_figures(lab.triggers, &figures);
		assert_int_equal(figures.fired, 0);
	}
	assert_true(kernel.lost > 1000);
	/* One of another among them fires as ever. */
	happen_of(&lab, 0, 1, self);
	happen(&lab, 0, 1);
	look(&lab);
	assert_int_equal(lab.nr, 1);
	assert_true(kernel.paused[0]);
	finish(&lab);
	assert_int_equal(lab.nr, 1);
	lab_close(&lab);
}

/* Events in a pause are reported soon after it, and once, whether or not anything follows. */
static void test_what_a_pause_hides(void **state)
{
	static const char *const texts[] = {"cs,limit=1000/1s", NULL};
	struct trigger_set_figures figures;
	struct lab lab;

	lab_open(&lab, "0", texts);
	for (size_t i = 0; i < 5; i++) {
		uint64_t began = lab.now;

		happen(&lab, 0, 1);
		look(&lab);
		assert_int_equal(lab.nr, 2 * i + 1);
		wait_until(&lab, began + 5 * MS);
		happen(&lab, 0, 1);
		wait_until(&lab, began + S);
		assert_int_equal(lab.nr, 2 * i + 2);
		assert_true(lab.asked_at[2 * i + 1] <= began + 2 * TRIGGERS_REST_NS);
		assert_string_equal(lab.asked[2 * i + 1].what.cause.event, "");
		assert_int_equal(trigger_set_due(lab.triggers, lab.now), TRIGGER_NEVER);
	}
	finish(&lab);
	trigger_set_figures(lab.triggers, &figures);
	assert_int_equal(figures.fired, 10);
	assert_int_equal(lab.nr, 10);
	lab_close(&lab);
}

static void keep_said(enum message_level level, const char *text, void *arg)
{
	*(size_t *)arg += strstr(text, "cannot read its count") != NULL;
}

/* Then records tell, later; that is said once. */
static void test_counts_that_cannot_be_read(void **state)
{
	static const char *const texts[] = {"cs", NULL};
	size_t said = 0;
	const struct messages messages = {.say = keep_said, .arg = &said};
	struct trigger_set_figures figures;
	struct lab lab;

	lab_open_with(&lab, "0", texts, &messages);
	kernel.broken = kernel.first;
	for (int i = 0; i < 5; i++) {
		happen(&lab, 0, 1);
		look(&lab);
		happen(&lab, 0, 1);
		wait_until(&lab, lab.now + S);
	}
	assert_int_equal(said, 1);
	finish(&lab);
	trigger_set_figures(lab.triggers, &figures);
	assert_int_equal(figures.fired, 9);
	assert_int_equal(said, 1);
	lab_close(&lab);
}

/* --- latencies -----------------------------------------------------------------------------------
 */

/* Of two CPUs; and rings in this order. */
enum { START_0 = 1, START_1, END_0, END_1 };

static void test_a_thread_that_moves(void **state)
{
	static const char *const texts[] = {"latency:cs..page-faults>5ms,limit=100/1s", NULL};
	struct lab lab;
	uint64_t ended;

	lab_open(&lab, "0-1", texts);
	/* 3 ms, 7 ms and 9 ms, the last two at once. */
	put_sample_of(0, START_0, lab.now, 1ull << 32 | 1);
	put_sample_of(3, END_1, lab.now + 3 * MS, 1ull << 32 | 1);
	put_sample_of(1, START_1, lab.now + 4 * MS, 2ull << 32 | 1);
	put_sample_of(1, START_1, lab.now + 5 * MS, 3ull << 32 | 1);
	ended = lab.now + 11 * MS;
	put_sample_of(2, END_0, ended, 2ull << 32 | 1);
	put_sample_of(2, 77, lab.now + 14 * MS, 3ull << 32 | 1); /* the id of another's event */
	wait_until(&lab, lab.now + 15 * MS);
	look(&lab);
	assert_int_equal(lab.nr, 0); /* another CPU may have something older */
	wait_until(&lab, lab.now + S);
	assert_int_equal(lab.nr, 1);
	assert_string_equal(lab.asked[0].what.cause.event, "page-faults");
	assert_int_equal(lab.asked[0].what.cause.time, ended);
	assert_int_equal(lab.asked[0].what.cause.tid, 2);
	assert_int_equal(lab.asked[0].what.cause.cpu, 2);
	assert_non_null(strstr(lab.asked[0].what.reason, "(it took 7.000 ms)"));
	assert_true(lab.asked_at[0] <= ended + 200 * MS);
	lab_close(&lab);
}

/* Threads whose samples may be lost are not reported, and a message says so. */
static void test_a_ring_that_was_full(void **state)
{
	static const char *const texts[] = {"latency:cs..page-faults>5ms", NULL};
	struct trigger_set_figures figures;
	struct lab lab;

	lab_open(&lab, "0", texts);
	put_sample_of(0, 1, lab.now, 7ull << 32 | 1);
	while (put_sample_of(0, 1, lab.now += 10, 8ull << 32 | 1))
		lab.left_out[0] = 1000;
	look(&lab);
	wait_until(&lab, lab.now + S);
	put_sample_of(1, 2, lab.now, 7ull << 32 | 1);
	look(&lab);
	wait_until(&lab, lab.now + S);
	assert_int_equal(lab.nr, 0);
	/* And goes on as before. */
	happen(&lab, 0, 1);
	put_sample_of(1, 2, lab.now + 6 * MS, TID);
	look(&lab);
	wait_until(&lab, lab.now + S);
	assert_int_equal(lab.nr, 1);
	trigger_set_figures(lab.triggers, &figures);
	assert_int_equal(figures.lost, 1000);
	lab_close(&lab);
}

/* --- the machine ---------------------------------------------------------------------------------
 */

static void test_time_and_load(void **state)
{
	static const char *const texts[] = {"every:200ms", "every:10ms,limit=1/1s", "load:0",
					    "load:999999", NULL};
	size_t of[4] = {0};
	struct lab lab;
	uint64_t began;

	lab_open(&lab, "0", texts);
	began = lab.now;
	wait_until(&lab, began + 3 * S);
	lab.now += 5 * S + 50 * MS; /* a dump that took long */
	look(&lab);
	wait_until(&lab, began + 10 * S);
	for (size_t i = 0; i < lab.nr; i++) {
		const char *reason = lab.asked[i].what.reason;

		for (size_t which = 0; which < 4; which++)
			of[which] += !strncmp(reason, texts[which], strcspn(texts[which], ","));
		if (!strcmp(reason, texts[0]) && lab.asked_at[i] != began + 8 * S + 50 * MS)
			assert_int_equal((lab.asked_at[i] - began) % (200 * MS), 0);
		assert_string_equal(lab.asked[i].what.cause.event, "");
	}
	assert_int_equal(of[0], 3 * 5 + 1 + 9 + 1);
	assert_true(of[1] >= 4 && of[1] <= 6);
	assert_int_equal(of[2], 1);
	assert_int_equal(of[3], 0);
	lab_close(&lab);
}

/* What has no time of its own was asked for when it happened, however long it waited. */
static void test_how_long_ago(void **state)
{
	static const char *const texts[] = {"load:0,after=700ms", "every:10s,after=3s", NULL};
	struct lab lab;

	lab_open(&lab, "0", texts);
	wait_until(&lab, lab.now + 12 * S);
	assert_int_equal(lab.nr, 1);
	assert_int_equal(lab.asked[0].ago, 700 * MS);
	finish(&lab);
	assert_int_equal(lab.nr, 2);
	assert_int_equal(lab.asked[1].ago, 2 * S);
	assert_int_equal(lab.asked[0].what.asked + lab.asked[1].what.asked, 0);
	lab_close(&lab);
}

/* A trigger that cannot be opened again keeps no other from it. */
static void test_a_cpu_that_comes_back(void **state)
{
	static const char *const texts[] = {"cs", "page-faults", "migrations", NULL};
	struct lab lab;

	lab_open(&lab, "0", texts);
	assert_int_equal(kernel.enabled, 3);
	kernel.refusal = -EMFILE;
	assert_int_equal(trigger_set_revive(lab.triggers, 0), -EMFILE);
	assert_int_equal(kernel.enabled, 5);
	assert_int_equal(trigger_set_revive(lab.triggers, 0), 0);
	assert_int_equal(kernel.enabled, 8);
	lab_close(&lab);
}

static void test_none(void **state)
{
	static const struct trigger_specs specs;
	const struct trigger_place place = {0};
	struct trigger_set_figures figures;
	struct trigger_set *t;

	assert_int_equal(trigger_set_new(&specs, &place, &t, NULL), 0);
	assert_null(t);
	assert_int_equal(trigger_set_start(t, 1, NULL), 0);
	assert_int_equal(trigger_set_descriptors(t) + trigger_set_polled(t, 1), 0);
	assert_true(trigger_set_due(t, 1) == TRIGGER_NEVER);
	trigger_set_look(t, NULL, 1);
	trigger_set_finish(t, NULL, 1);
	assert_null(trigger_set_take(t));
	trigger_set_figures(t, &figures);
	assert_int_equal(figures.fired, 0);
	trigger_set_say(t, NULL);
	trigger_set_free(t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_storm),
		cmocka_unit_test(test_what_waits_is_asked_at_the_end),
		cmocka_unit_test(test_a_request_that_is_refused),
		cmocka_unit_test(test_our_own_events),
		cmocka_unit_test(test_what_a_pause_hides),
		cmocka_unit_test(test_counts_that_cannot_be_read),
		cmocka_unit_test(test_a_thread_that_moves),
		cmocka_unit_test(test_a_ring_that_was_full),
		cmocka_unit_test(test_time_and_load),
		cmocka_unit_test(test_how_long_ago),
		cmocka_unit_test(test_a_cpu_that_comes_back),
		cmocka_unit_test(test_none),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
