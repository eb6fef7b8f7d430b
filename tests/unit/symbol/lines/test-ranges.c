// SPDX-License-Identifier: Apache-2.0
/* Ranges: nested ones beside a search of all, and any that a damaged file may have. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "symbol/lines/ranges.h"

/* A random number below @below. */
static uint32_t below(uint64_t *seed, uint32_t below)
{
	*seed = *seed * 6364136223846793005u + 1442695040888963407u;
	return (uint32_t)(*seed >> 33) % below;
}

static void add(struct range_set *s, uint64_t start, uint64_t end, uint32_t depth, uint32_t value)
{
	assert_int_equal(range_set_add(s, &(struct range){start, end, depth, value}), 0);
}

static void test_empty(void **state)
{
	struct range_set s = {0};

	add(&s, 5, 5, 0, 1);
	add(&s, 6, 5, 0, 1);
	assert_int_equal(range_set_build(&s), 0);
	assert_int_equal(range_set_find(&s, 5), RANGE_NONE);
	range_set_release(&s);
}

static void test_nested(void **state)
{
	struct range_set s = {0};

	add(&s, 30, 40, 2, 3);
	add(&s, 10, 50, 0, 1);
	add(&s, 20, 40, 1, 2);
	add(&s, 10, 15, 1, 4);
	assert_int_equal(range_set_build(&s), 0);
	assert_int_equal(range_set_find(&s, 9), RANGE_NONE);
	assert_int_equal(range_set_find(&s, 10), 4);
	assert_int_equal(range_set_find(&s, 15), 1);
	assert_int_equal(range_set_find(&s, 29), 2);
	assert_int_equal(range_set_find(&s, 30), 3);
	assert_int_equal(range_set_find(&s, 40), 1);
	assert_int_equal(range_set_find(&s, 50), RANGE_NONE);
	assert_int_equal(range_set_find(&s, UINT64_MAX), RANGE_NONE);
	range_set_release(&s);
}

/* Random nested ranges, beside a search of all. Ranges nest as those of functions do. */
#define SIZE 512

static void fill(struct range_set *s, uint32_t *want, uint64_t start, uint64_t end, uint32_t depth,
		 uint32_t *value, uint64_t *seed)
{
	uint32_t own = (*value)++;

	add(s, start, end, depth, own);
	for (uint64_t i = start; i < end; i++)
		want[i] = own;
	for (uint64_t at = start; depth < 8 && at < end;) {
		uint64_t from = at + below(seed, 20), to = from + 1 + below(seed, 60);

		if (to > end)
			return;
		fill(s, want, from, to, depth + 1, value, seed);
		at = to;
	}
}

static void test_random(void **state)
{
	for (unsigned int seed = 0; seed < 200; seed++) {
		struct range_set s = {0};
		uint32_t want[SIZE], value = 0;
		uint64_t random = seed;

		fill(&s, want, 0, SIZE, 0, &value, &random);
		assert_int_equal(range_set_build(&s), 0);
		for (uint64_t i = 0; i < SIZE; i++)
			assert_int_equal(range_set_find(&s, i), want[i]);
		range_set_release(&s);
	}
}

/* Ranges of a damaged file: anything goes, but each segment begins behind the one before. */
static void test_overlaps(void **state)
{
	for (unsigned int seed = 0; seed < 200; seed++) {
		struct range_set s = {0};
		uint64_t random = seed;

		for (uint32_t i = 0; i < 100; i++) {
			uint64_t start = below(&random, SIZE);

			add(&s, start, start + below(&random, SIZE), below(&random, 4), i);
		}
		assert_int_equal(range_set_build(&s), 0);
		for (size_t i = 1; i < s.nr; i++)
			assert_true(s.segments[i - 1].start < s.segments[i].start);
		assert_int_equal(range_set_find(&s, 2 * SIZE), RANGE_NONE);
		range_set_release(&s);
	}
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_empty),
		cmocka_unit_test(test_nested),
		cmocka_unit_test(test_random),
		cmocka_unit_test(test_overlaps),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
