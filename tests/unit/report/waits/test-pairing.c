// SPDX-License-Identifier: Apache-2.0
/* Pairing of switches and wakeups: each test tells a short story of threads, and checks what came
 * of it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "report/waits/pairing.h"

#define SLEEPS	  PAIRING_STATE_SLEEPS
#define DIES	  0x10
#define PREEMPTED 0x100 /* R+ */
#define TID	  7u

struct story {
	struct pairing p;
	struct wait waits[16];
	struct pairing_run runs[16];
	size_t nr_waits, nr_runs;
};

static int take_wait(const struct wait *w, void *arg)
{
	struct story *s = arg;

	assert_true(s->nr_waits < 16);
	assert_true(w->since <= w->until);
	s->waits[s->nr_waits++] = *w;
	return 0;
}

static int take_run(const struct pairing_run *run, void *arg)
{
	struct story *s = arg;

	assert_true(s->nr_runs < 16);
	assert_true(run->since <= run->until);
	s->runs[s->nr_runs++] = *run;
	return 0;
}

static int begin(void **state)
{
	struct story *s = calloc(1, sizeof(*s));

	s->p.takers = (struct pairing_takers){take_wait, take_run, s};
	*state = s;
	return 0;
}

static int end(void **state)
{
	struct story *s = *state;

	pairing_release(&s->p);
	free(s);
	return 0;
}

static uint32_t out(struct story *s, uint32_t tid, uint32_t cpu, uint64_t time, int64_t state)
{
	uint32_t number;

	assert_int_equal(pairing_out(&s->p, tid, cpu, time, state, &number), 0);
	return number;
}

static void in(struct story *s, uint32_t tid, uint32_t cpu, uint64_t time)
{
	assert_int_equal(pairing_in(&s->p, tid, cpu, time), 0);
}

static bool wake(struct story *s, uint32_t tid, uint64_t time, uint32_t waker)
{
	const struct pairing_waker w = {waker, waker, false};
	uint32_t number;

	assert_int_equal(pairing_wake(&s->p, tid, time, w, &number), 0);
	return number != PAIRING_NONE;
}

static void check_wait(const struct wait *w, uint64_t since, uint64_t woken, uint64_t until)
{
	assert_int_equal(w->since, since);
	assert_int_equal(w->woken, woken);
	assert_int_equal(w->until, until);
}

static void test_a_wait_has_two_parts(void **state)
{
	struct story *s = *state;

	in(s, TID, 0, 10);
	assert_int_equal(out(s, TID, 0, 20, SLEEPS), 0);
	assert_true(wake(s, TID, 70, 9));
	assert_false(wake(s, TID, 75, 10)); /* it can run already */
	in(s, TID, 1, 80);
	assert_int_equal(s->nr_waits, 1);
	check_wait(&s->waits[0], 20, 70, 80);
	assert_int_equal(s->waits[0].waker.tid, 9);
	assert_int_equal(s->waits[0].cpu, 0);
	assert_int_equal(s->waits[0].end_cpu, 1);
	assert_false(s->waits[0].can_run || s->waits[0].unsure || s->waits[0].open);
	assert_int_equal(s->runs[0].since, 10);
	assert_int_equal(s->runs[0].until, 20);
	assert_int_equal(s->p.counts.begun_before, 1);
}

static void test_a_preempted_thread_can_run(void **state)
{
	struct story *s = *state;

	in(s, TID, 0, 10);
	out(s, TID, 0, 20, 0x100); /* TASK_REPORT_MAX: preempted */
	assert_false(wake(s, TID, 25, 9));
	in(s, TID, 0, 30);
	check_wait(&s->waits[0], 20, 0, 30);
	assert_true(s->waits[0].can_run);
	assert_int_equal(s->waits[0].waker.tid, PAIRING_NONE);
}

/* The waker sees that a thread goes to sleep before its switch does. */
static void test_a_wakeup_may_come_before_the_switch(void **state)
{
	struct story *s = *state;

	in(s, TID, 0, 10);
	assert_true(wake(s, TID, 19, 9));
	out(s, TID, 0, 20, SLEEPS);
	in(s, TID, 0, 30);
	check_wait(&s->waits[0], 20, 20, 30);
	assert_int_equal(s->waits[0].waker.tid, 9);
	/* It went on instead; a later wakeup is the one that counts. */
	assert_true(wake(s, TID, 31, 9));
	out(s, TID, 0, 40, SLEEPS);
	assert_true(wake(s, TID, 50, 11));
	in(s, TID, 0, 60);
	check_wait(&s->waits[1], 40, 50, 60);
	assert_int_equal(s->waits[1].waker.tid, 11);
	/* What is over says nothing of the next wait. */
	out(s, TID, 0, 70, SLEEPS);
	in(s, TID, 0, 80);
	check_wait(&s->waits[2], 70, 0, 80);
	assert_int_equal(s->waits[2].waker.tid, PAIRING_NONE);
}

static void test_migrations_are_runs_on_another_cpu(void **state)
{
	struct story *s = *state;

	in(s, TID, 0, 10);
	out(s, TID, 0, 20, 0);
	in(s, TID, 3, 30);
	out(s, TID, 3, 40, 0);
	in(s, TID, 3, 50);
	out(s, TID, 3, 60, 0);
	assert_int_equal(s->nr_runs, 3);
	assert_false(s->runs[0].migrated);
	assert_true(s->runs[1].migrated);
	assert_false(s->runs[2].migrated);
}

static void test_idle_threads_do_not_wait(void **state)
{
	struct story *s = *state;

	assert_int_equal(out(s, 0, 0, 10, 0), PAIRING_NONE);
	in(s, 0, 0, 20);
	assert_int_equal(out(s, PAIRING_TID_MAX + 1, 0, 10, SLEEPS), PAIRING_NONE);
	assert_int_equal(pairing_end(&s->p, 30), 0);
	assert_int_equal(s->nr_waits + s->nr_runs, 0);
	assert_int_equal(id_table_count(&s->p.numbers), 0);
}

static void test_a_lost_switch_is_counted(void **state)
{
	struct story *s = *state;

	in(s, TID, 0, 10);
	out(s, TID, 0, 20, SLEEPS);
	out(s, TID, 0, 50, SLEEPS); /* when it ran again is lost: no wait from 20 on */
	in(s, TID, 0, 60);
	assert_int_equal(s->nr_waits, 1);
	check_wait(&s->waits[0], 50, 0, 60);
	assert_int_equal(s->p.counts.unended, 1);
	in(s, TID, 1, 70); /* when it left is lost */
	assert_int_equal(s->nr_waits, 1);
	assert_int_equal(s->p.counts.unbegun, 1);
}

/* As the kernel samples no switches of some threads. */
static void test_a_thread_that_nobody_sees_leave(void **state)
{
	struct story *s = *state;

	in(s, 8, 0, 5);
	in(s, TID, 0, 10); /* in its place */
	assert_int_equal(s->p.counts.unbegun, 1);
	out(s, TID, 0, 20, SLEEPS);
	in(s, 8, 0, 20);
	assert_int_equal(s->nr_waits, 0); /* where it was since 10 is not known */
	assert_true(wake(s, TID, 40, 9));
	out(s, TID, 0, 60, SLEEPS); /* it ran, and 8 left */
	assert_int_equal(s->nr_waits, 1);
	check_wait(&s->waits[0], 20, 40, 40);
	assert_int_equal(s->p.counts.unended, 1);
	assert_int_equal(s->p.counts.unbegun, 2);
	assert_true(wake(s, 8, 70, 9));
	in(s, 8, 1, 80);
	check_wait(&s->waits[1], 70, 70, 80);
	assert_true(s->waits[1].partial);
	assert_int_equal(s->p.counts.begun_before, 2);
	assert_int_equal(s->nr_runs, 1); /* of TID, from 10 to 20 */
}

static void test_waits_over_losses_are_unsure(void **state)
{
	struct story *s = *state;

	in(s, TID, 0, 10);
	out(s, TID, 0, 20, SLEEPS);
	pairing_lost(&s->p);
	in(s, TID, 0, 30);
	out(s, TID, 0, 40, SLEEPS);
	in(s, TID, 0, 50);
	assert_true(s->waits[0].unsure);
	assert_false(s->waits[1].unsure);
	assert_int_equal(s->p.counts.unsure, 1);
	assert_int_equal(s->p.counts.unsure_ns, 10);
}

/* As between two snapshots. */
static void test_runs_end_at_a_gap(void **state)
{
	struct story *s = *state;

	in(s, TID, 0, 10);
	in(s, TID + 1, 1, 10);
	out(s, TID + 1, 1, 15, SLEEPS);
	assert_int_equal(pairing_gap(&s->p, 20), 0);
	out(s, TID, 0, 1000, SLEEPS);
	in(s, TID + 1, 0, 1001);
	in(s, TID, 1, 1010);
	assert_int_equal(s->nr_runs, 2);
	assert_int_equal(s->runs[1].until, 20);
	assert_true(s->runs[1].open);
	assert_int_equal(s->nr_waits, 2);
	check_wait(&s->waits[0], 15, 0, 1001);
	assert_true(s->waits[0].unsure);
	check_wait(&s->waits[1], 1000, 0, 1010);
	assert_false(s->waits[1].unsure);
}

static void test_records_of_a_switch_change_nothing(void **state)
{
	struct story *s = *state;
	uint32_t number;

	in(s, TID, 0, 10);
	out(s, TID, 0, 20, SLEEPS);
	assert_int_equal(pairing_out_record(&s->p, TID, 0, 21, false, &number), 0);
	assert_int_equal(number, PAIRING_NONE);
	in(s, TID, 0, 30);
	in(s, TID, 0, 31);
	check_wait(&s->waits[0], 20, 0, 30);
	/* The sample is lost, and the record is not. */
	assert_int_equal(pairing_out_record(&s->p, TID, 0, 40, true, &number), 0);
	assert_int_equal(number, 0);
	in(s, TID, 0, 50);
	check_wait(&s->waits[1], 40, 0, 50);
	assert_true(s->waits[1].can_run);
	assert_int_equal(s->p.counts.unbegun + s->p.counts.unended, 0);
}

static void test_a_thread_ends(void **state)
{
	struct story *s = *state;

	in(s, TID, 0, 10);
	assert_int_equal(out(s, TID, 0, 20, DIES), PAIRING_NONE);
	assert_int_equal(pairing_end(&s->p, 90), 0);
	assert_int_equal(s->nr_waits, 0);
	/* Its id is given to another thread. */
	assert_int_equal(pairing_born(&s->p, TID, 100), 0);
	assert_true(wake(s, TID, 110, 9));
	in(s, TID, 1, 120);
	check_wait(&s->waits[0], 110, 0, 120);
	assert_true(s->waits[0].is_new && s->waits[0].can_run);
	assert_int_equal(s->waits[0].waker.tid, 9);
	assert_int_equal(pairing_exit(&s->p, TID, 130), 0);
	assert_int_equal(s->nr_runs, 2);
	assert_int_equal(s->runs[1].until, 130);
	assert_int_equal(pairing_end(&s->p, 140), 0);
	assert_int_equal(s->nr_runs, 2);
}

static void test_an_exit_ends_a_wait(void **state)
{
	struct story *s = *state;

	in(s, TID, 0, 10);
	out(s, TID, 0, 20, SLEEPS);
	assert_int_equal(pairing_exit(&s->p, TID, 50), 0);
	check_wait(&s->waits[0], 20, 0, 50);
	assert_int_equal(s->p.counts.unended, 1);
	in(s, TID, 0, 60); /* late: nobody lives there */
	assert_int_equal(pairing_end(&s->p, 70), 0);
	assert_int_equal(s->nr_waits, 1);
}

/* The kernel has samples of its last switches, and no records any more. */
static void test_a_thread_is_preempted_while_it_ends(void **state)
{
	struct story *s = *state;

	for (int i = 0; i < 2; i++) {
		in(s, TID, 0, 10);
		out(s, TID, 0, 20, PREEMPTED);
		out(s, TID, 0, 30, PREEMPTED);
		out(s, TID, 0, 40, PREEMPTED);
		assert_int_equal(s->p.counts.unended, 0);
		if (i)
			in(s, TID, 0, 45); /* it did not */
		assert_int_equal(pairing_exit(&s->p, TID, 50), 0);
		assert_int_equal(s->p.counts.unended, i ? 2 : 0);
		assert_int_equal(pairing_born(&s->p, TID, 60), 0);
	}
}

static void test_the_end_ends_all(void **state)
{
	struct story *s = *state;

	in(s, TID, 0, 10);
	out(s, TID, 0, 20, SLEEPS);
	in(s, 8, 2, 10);
	in(s, 9, 1, 30);
	out(s, 9, 1, 40, SLEEPS);
	assert_true(wake(s, 9, 60, TID));
	assert_int_equal(pairing_end(&s->p, 100), 0);
	assert_int_equal(s->nr_waits, 2);
	check_wait(&s->waits[0], 20, 0, 100);
	check_wait(&s->waits[1], 40, 60, 100);
	assert_true(s->waits[0].open && s->waits[1].open);
	assert_int_equal(s->waits[0].end_cpu, PAIRING_NONE);
	assert_int_equal(s->p.counts.open, 2);
	assert_true(s->runs[s->nr_runs - 1].open);
}

static void test_a_begin_before_the_recording_is_counted(void **state)
{
	struct story *s = *state;

	in(s, 8, 0, 100); /* the first moment */
	assert_true(wake(s, TID, 150, 8));
	in(s, TID, 1, 160);
	assert_int_equal(s->nr_waits, 1);
	check_wait(&s->waits[0], 150, 150, 160);
	assert_true(s->waits[0].partial);
	assert_int_equal(s->p.counts.begun_before, 2);
	assert_int_equal(s->p.counts.begun_before_ns, 50);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_a_wait_has_two_parts, begin, end),
		cmocka_unit_test_setup_teardown(test_a_preempted_thread_can_run, begin, end),
		cmocka_unit_test_setup_teardown(test_a_wakeup_may_come_before_the_switch, begin,
						end),
		cmocka_unit_test_setup_teardown(test_migrations_are_runs_on_another_cpu, begin,
						end),
		cmocka_unit_test_setup_teardown(test_idle_threads_do_not_wait, begin, end),
		cmocka_unit_test_setup_teardown(test_a_lost_switch_is_counted, begin, end),
		cmocka_unit_test_setup_teardown(test_a_thread_that_nobody_sees_leave, begin, end),
		cmocka_unit_test_setup_teardown(test_waits_over_losses_are_unsure, begin, end),
		cmocka_unit_test_setup_teardown(test_runs_end_at_a_gap, begin, end),
		cmocka_unit_test_setup_teardown(test_records_of_a_switch_change_nothing, begin,
						end),
		cmocka_unit_test_setup_teardown(test_a_thread_ends, begin, end),
		cmocka_unit_test_setup_teardown(test_an_exit_ends_a_wait, begin, end),
		cmocka_unit_test_setup_teardown(test_a_thread_is_preempted_while_it_ends, begin,
						end),
		cmocka_unit_test_setup_teardown(test_the_end_ends_all, begin, end),
		cmocka_unit_test_setup_teardown(test_a_begin_before_the_recording_is_counted, begin,
						end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
