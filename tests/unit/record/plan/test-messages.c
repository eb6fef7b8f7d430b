// SPDX-License-Identifier: Apache-2.0
/* Lines that are due again and again: few of them are said, and each is counted.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

#include "record/plan/messages.h"

#define SECOND 1000000000ull
#define HOUR   (3600 * SECOND)
#define WEEK   (168 * HOUR)

/* Due at each multiple of @every up to @until: how many lines that makes. */
static unsigned int said_in(struct seldom *s, uint64_t every, uint64_t until)
{
	uint64_t held, last = 0, told = 0, due = 0;
	unsigned int said = 0;

	for (uint64_t now = every; now <= until; now += every) {
		due++;
		if (!seldom_due(s, now, &held)) {
			assert_true(now - last < HOUR);
			continue; /* it will be told */
		}
		told += held + 1;
		assert_int_equal(told, due);
		assert_true(!last || now - last >= 10 * SECOND);
		last = now;
		said++;
	}
	assert_int_equal(told + s->held, due);
	return said;
}

static void test_a_week(void **state)
{
	const uint64_t every[] = {SECOND / 10, SECOND,	    9 * SECOND,
				  11 * SECOND, 60 * SECOND, 1700 * SECOND};

	for (size_t i = 0; i < sizeof(every) / sizeof(every[0]); i++) {
		struct seldom s = {0};
		unsigned int said = said_in(&s, every[i], WEEK);

		assert_uint_in_range(said, 80, 180);
	}
}

static void test_what_is_seldom_is_said(void **state)
{
	struct seldom s = {0};

	assert_int_equal(said_in(&s, 2 * HOUR + 1, WEEK), 83);
}

/* After a while without any the next one is news. */
static void test_it_is_forgotten(void **state)
{
	struct seldom s = {0};
	uint64_t held;

	said_in(&s, SECOND, 10 * HOUR);
	assert_true(seldom_due(&s, 13 * HOUR, &held));
	assert_false(seldom_due(&s, 13 * HOUR + 9 * SECOND, &held));
	assert_true(seldom_due(&s, 13 * HOUR + 10 * SECOND, &held));
	assert_int_equal(held, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_week),
		cmocka_unit_test(test_what_is_seldom_is_said),
		cmocka_unit_test(test_it_is_forgotten),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
