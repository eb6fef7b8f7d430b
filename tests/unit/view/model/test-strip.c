// SPDX-License-Identifier: Apache-2.0
/* Levels and spans of the cells of a time strip. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "view/model/strip.h"

#define SLICES 1200

static void test_levels(void **state)
{
	uint64_t count[SLICES] = {0};
	const struct strip s = {1000, 1000 + SLICES * 10 - 1, count, SLICES};
	uint8_t level[400];

	(void)state;
	strip_levels(&s, 100, level);
	for (int i = 0; i < 100; i++)
		assert_int_equal(level[i], 0);
	count[0] = 1;
	count[SLICES - 1] = 1000;
	for (unsigned int width = 1; width <= 400; width++) {
		strip_levels(&s, width, level);
		/* One sample is seen beside a thousand, and the fullest cell is full. */
		assert_true(level[0] > 0);
		assert_int_equal(level[width - 1], STRIP_LEVELS);
	}
}

/* The cells' spans join without a gap, and all of them are the whole. */
static void test_spans(void **state)
{
	const struct strip s = {1000, 999999, NULL, 0};

	(void)state;
	for (unsigned int width = 1; width <= 400; width++) {
		uint64_t first, last, end = 999;

		for (unsigned int i = 0; i < width; i++) {
			strip_span(&s, i, i, width, &first, &last);
			assert_int_equal(first, end + 1);
			assert_true(last >= first);
			end = last;
		}
		assert_int_equal(end, 999999);
		strip_span(&s, 0, width - 1, width, &first, &last);
		assert_int_equal(first, 1000);
		assert_int_equal(last, 999999);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_levels),
		cmocka_unit_test(test_spans),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
