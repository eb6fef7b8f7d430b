// SPDX-License-Identifier: Apache-2.0
/* Messages that repeat: only a few are printed, and all are counted. */
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
static unsigned int printed_in(struct rate_limit *l, uint64_t every, uint64_t until)
{
	uint64_t suppressed, last = 0, counted = 0, due = 0;
	unsigned int printed = 0;

	for (uint64_t now = every; now <= until; now += every) {
		due++;
		if (!rate_limit_due(l, now, &suppressed)) {
			assert_true(now - last < HOUR);
			continue; /* it will be counted */
		}
		counted += suppressed + 1;
		assert_int_equal(counted, due);
		assert_true(!last || now - last >= 10 * SECOND);
		last = now;
		printed++;
	}
	assert_int_equal(counted + l->suppressed, due);
	return printed;
}

static void test_a_week(void **state)
{
	const uint64_t every[] = {SECOND / 10, SECOND,	    9 * SECOND,
				  11 * SECOND, 60 * SECOND, 1700 * SECOND};

	for (size_t i = 0; i < sizeof(every) / sizeof(every[0]); i++) {
		struct rate_limit l = {0};
		unsigned int printed = printed_in(&l, every[i], WEEK);

		assert_uint_in_range(printed, 80, 180);
	}
}

static void test_rare_messages_are_printed(void **state)
{
	struct rate_limit l = {0};

	assert_int_equal(printed_in(&l, 2 * HOUR + 1, WEEK), 83);
}

/* After a while without any the next one is news. */
static void test_it_is_forgotten(void **state)
{
	struct rate_limit l = {0};
	uint64_t suppressed;

	printed_in(&l, SECOND, 10 * HOUR);
	assert_true(rate_limit_due(&l, 13 * HOUR, &suppressed));
	assert_false(rate_limit_due(&l, 13 * HOUR + 9 * SECOND, &suppressed));
	assert_true(rate_limit_due(&l, 13 * HOUR + 10 * SECOND, &suppressed));
	assert_int_equal(suppressed, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_week),
		cmocka_unit_test(test_rare_messages_are_printed),
		cmocka_unit_test(test_it_is_forgotten),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
