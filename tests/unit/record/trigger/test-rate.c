// SPDX-License-Identifier: Apache-2.0
/*
 * The limit of triggers against the list of all that were allowed: no stretch of time, wherever it
 * begins, ever has more than the limit, and none is refused while there is room.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "record/trigger/rate.h"

#define STEPS 4000

/* Those of @times that lie less than @stretch before @now. */
static size_t within(const uint64_t *times, size_t nr, uint64_t now, uint64_t stretch)
{
	size_t n = 0;

	while (n < nr && now - times[nr - 1 - n] < stretch)
		n++;
	return n;
}

static void check(size_t limit, uint64_t stretch, int pace)
{
	static uint64_t allowed[STEPS];
	uint64_t now = 1000000;
	struct rate r;
	size_t nr = 0;

	assert_int_equal(rate_init(&r, limit, stretch), 0);
	for (int i = 0; i < STEPS; i++) {
		bool room = within(allowed, nr, now, stretch) < limit;

		assert_int_equal(rate_allows(&r, now), room);
		if (room)
			allowed[nr++] = now;
		assert_true(within(allowed, nr, now, stretch) <= limit);
		now += (uint64_t)(rand() % pace);
		if (rand() % 500 == 0)
			now += 3 * stretch;
	}
	assert_true(nr > limit);
	rate_release(&r);
	rate_release(&r);
}

static void test_any_stretch(void **state)
{
	srand(1);
	for (size_t limit = 1; limit < 40; limit = limit * 2 + 1)
		for (int pace = 2; pace < 100; pace *= 3)
			check(limit, 100, pace);
}

static void test_no_limit(void **state)
{
	struct rate r;

	assert_int_equal(rate_init(&r, 0, 100), 0);
	for (int i = 0; i < 1000; i++)
		assert_true(rate_allows(&r, 7));
	rate_release(&r);
}

/* At the end of the stretch there is room again, not before. */
static void test_bounds(void **state)
{
	struct rate r;

	assert_int_equal(rate_init(&r, 2, 100), 0);
	assert_true(rate_allows(&r, 0));
	assert_true(rate_allows(&r, 60));
	assert_false(rate_allows(&r, 99));
	assert_true(rate_allows(&r, 100));
	assert_false(rate_allows(&r, 100));
	assert_false(rate_allows(&r, 159));
	assert_true(rate_allows(&r, 160));
	rate_release(&r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_any_stretch),
		cmocka_unit_test(test_no_limit),
		cmocka_unit_test(test_bounds),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
