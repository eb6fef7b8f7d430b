// SPDX-License-Identifier: Apache-2.0
/*
 * Pieces of any size arrive whole, in order and once; marks arrive behind the pieces before them.
 */
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "record/pipeline/fifo.h"

/* Contents of piece @number: shows if it was overwritten. */
static void fill(uint8_t *p, size_t len, uint32_t number)
{
	memset(p, (int)(number * 7 + 1), len);
	memcpy(p, &number, sizeof(number));
}

static void check(const struct run *run, uint32_t number)
{
	uint32_t found;

	assert_true(run->a_len >= sizeof(found));
	memcpy(&found, run->a, sizeof(found));
	assert_int_equal(found, number);
	assert_int_equal(run->ring, number % 5);
	assert_int_equal(run->cpu, (int)(number % 3) - 1);
	for (size_t i = sizeof(found); i < run->a_len; i++)
		if (run->a[i] != (uint8_t)(number * 7 + 1))
			fail_msg("piece %u, byte %zu of %zu", number, i, (size_t)run->a_len);
}

static void put(struct fifo *f, uint8_t *p, size_t len, uint32_t number)
{
	fill(p, len, number);
	fifo_commit(f, len, number % 5, (int)(number % 3) - 1);
}

static size_t any_length(unsigned int *seed, size_t max)
{
	size_t len = sizeof(uint32_t) + (size_t)rand_r(seed) % (rand_r(seed) % 4 ? 3000 : max - 8);

	return len & ~(size_t)3;
}

/* --- one thread: how much there is room for ------------------------------------------------------
 */

/* A fifo that is filled to the brim and emptied by some pieces, again and again, at every offset.
 */
static void full_is_full(void **state)
{
	struct fifo *f = fifo_new(FIFO_MIN);
	uint32_t in = 0, out = 0;
	unsigned int seed = 1;
	struct run run;

	(void)state;
	assert_non_null(f);
	for (int round = 0; round < 3000; round++) {
		size_t len = any_length(&seed, fifo_piece_max(f)), bytes = 0;
		uint32_t before = in;
		uint8_t *p;

		while ((p = fifo_reserve(f, len, false))) {
			put(f, p, len, in++);
			bytes += len;
			len = any_length(&seed, fifo_piece_max(f));
		}
		/* An empty one takes at least what is neither kept nor lost at its end. */
		if (before == out)
			assert_true(bytes + len + fifo_piece_max(f) > FIFO_MIN - FIFO_MIN / 16);
		assert_true(fifo_fullness(f) <= 100 - 100 / 16);
		p = fifo_reserve(f, 64, true);
		if (p)
			put(f, p, 64, in++);
		for (uint32_t n = rand_r(&seed) % 4 ? rand_r(&seed) % (in - out + 1) : in - out; n;
		     n--) {
			assert_int_equal(fifo_wait(f, &run), 0);
			check(&run, out++);
			fifo_done(f);
		}
		if (in == out)
			assert_int_equal(fifo_fullness(f), 0);
	}
	fifo_free(f);
}

/* As long as the consumer keeps up, the same memory is used again. */
static void empty_begins_anew(void **state)
{
	struct fifo *f = fifo_new(FIFO_MIN);
	const uint8_t *first = fifo_reserve(f, 1000, false);
	struct run run;

	(void)state;
	for (uint32_t i = 0; i < 2000; i++) {
		uint8_t *p = fifo_reserve(f, 1000, false);

		assert_ptr_equal(p, first);
		put(f, p, 1000, i);
		assert_int_equal(fifo_wait(f, &run), 0);
		check(&run, i);
		fifo_done(f);
	}
	fifo_free(f);
}

/* A mark comes after what was before it and gives way to a later one; nothing is behind it. */
static void marks_keep_their_place(void **state)
{
	struct fifo *f = fifo_new(FIFO_MIN);
	struct run run;

	(void)state;
	fifo_mark(f, 1);
	assert_int_equal(fifo_wait(f, &run), 1);
	put(f, fifo_reserve(f, 8, false), 8, 0);
	fifo_mark(f, 2);
	put(f, fifo_reserve(f, 8, false), 8, 1);
	assert_int_equal(fifo_wait(f, &run), 0);
	fifo_done(f);
	assert_int_equal(fifo_wait(f, &run), 2);
	fifo_mark(f, 3);
	put(f, fifo_reserve(f, 8, false), 8, 2);
	fifo_mark(f, 4);
	for (uint32_t i = 1; i < 3; i++) {
		assert_int_equal(fifo_wait(f, &run), 0);
		check(&run, i);
		fifo_done(f);
	}
	assert_int_equal(fifo_wait(f, &run), 4);
	assert_int_equal(fifo_fullness(f), 0);
	fifo_free(f);
}

/* A nudge comes before all that waits, and several make one. */
static void nudges_come_first(void **state)
{
	struct fifo *f = fifo_new(FIFO_MIN);
	struct run run;

	(void)state;
	put(f, fifo_reserve(f, 8, false), 8, 0);
	fifo_mark(f, 1);
	fifo_nudge(f);
	fifo_nudge(f);
	assert_int_equal(fifo_wait(f, &run), FIFO_NUDGE);
	assert_int_equal(fifo_wait(f, &run), 0);
	check(&run, 0);
	fifo_done(f);
	assert_int_equal(fifo_wait(f, &run), 1);
	fifo_free(f);
}

/* A producer that wants room is notified once, and then a piece of any length has room. */
static void room_is_told(void **state)
{
	unsigned int seed = 5;

	(void)state;
	for (int round = 0; round < 300; round++) {
		struct fifo *f = fifo_new(FIFO_MIN + (size_t)rand_r(&seed) % FIFO_MIN);
		bool told = false;
		struct run run;
		uint8_t *p;
		size_t len;

		assert_false(fifo_want_room(f));
		while ((p = fifo_reserve(f, len = any_length(&seed, fifo_piece_max(f)), false)))
			put(f, p, len, 0);
		assert_true(fifo_want_room(f));
		fifo_mark(f, 1);
		while (!fifo_wait(f, &run)) {
			bool has_room = fifo_done(f);

			assert_false(has_room && told);
			if (has_room)
				assert_non_null(fifo_reserve(f, fifo_piece_max(f), false));
			told |= has_room;
		}
		assert_true(told);
		assert_false(fifo_want_room(f));
		put(f, fifo_reserve(f, 8, false), 8, 0);
		assert_int_equal(fifo_wait(f, &run), 0);
		assert_false(fifo_done(f));
		fifo_free(f);
	}
}

/* --- two threads ---------------------------------------------------------------------------------
 */

#define PIECES	   60000
#define MARK_EVERY 1000

struct both {
	struct fifo *fifo;
	bool patient;
};

static void *produce(void *arg)
{
	struct both *both = arg;
	struct fifo *f = both->fifo;
	unsigned int seed = 7;

	for (uint32_t i = 0; i < PIECES; i++) {
		size_t len = any_length(&seed, i % 100 ? 6000 : fifo_piece_max(f));
		uint8_t *p;

		while (!(p = both->patient ? fifo_reserve_patiently(f, len)
					   : fifo_reserve(f, len, false)))
			sched_yield();
		put(f, p, len, i);
		if (i % MARK_EVERY == MARK_EVERY - 1)
			fifo_mark(f, i + 1);
	}
	return NULL;
}

static void race(bool patient)
{
	struct both both = {fifo_new(FIFO_MIN), patient};
	unsigned int seed = 9;
	uint64_t mark = 0;
	uint32_t next = 0;
	pthread_t thread;
	struct run run;

	assert_int_equal(pthread_create(&thread, NULL, produce, &both), 0);
	while (mark != PIECES) {
		uint64_t before = mark;

		mark = fifo_wait(both.fifo, &run);
		if (mark) {
			assert_true(mark > before || !before);
			assert_true(mark <= next && mark % MARK_EVERY == 0);
			continue;
		}
		check(&run, next++);
		if (rand_r(&seed) % 500 == 0)
			sched_yield();
		assert_true(fifo_fullness(both.fifo) <= 100);
		fifo_done(both.fifo);
	}
	assert_int_equal(next, PIECES);
	pthread_join(thread, NULL);
	assert_int_equal(fifo_fullness(both.fifo), 0);
	fifo_free(both.fifo);
}

static void two_threads(void **state)
{
	(void)state;
	race(false);
}

static void two_patient_threads(void **state)
{
	(void)state;
	race(true);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(full_is_full),		  cmocka_unit_test(empty_begins_anew),
		cmocka_unit_test(marks_keep_their_place), cmocka_unit_test(two_threads),
		cmocka_unit_test(two_patient_threads),	  cmocka_unit_test(room_is_told),
		cmocka_unit_test(nudges_come_first),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
