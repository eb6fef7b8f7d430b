// SPDX-License-Identifier: Apache-2.0
/* Stays of an AUX ring: joined when the list is full, and when their bytes cannot be told apart. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdlib.h>

#include "ring/aux_stays.h"

static void check(const struct aux_stays *s, size_t i, struct aux_stay expected)
{
	assert_true(i < s->nr);
	assert_int_equal(s->stays[i].begun, expected.begun);
	assert_int_equal(s->stays[i].ended, expected.ended);
	assert_int_equal(s->stays[i].bytes, expected.bytes);
	assert_int_equal(s->stays[i].tail, expected.tail);
	assert_int_equal(s->stays[i].joined, expected.joined);
	assert_int_equal(s->stays[i].tail_begun, expected.tail_begun);
}

static uint64_t bytes_of(const struct aux_stays *s)
{
	uint64_t bytes = 0;

	for (size_t i = 0; i < s->nr; i++)
		bytes += s->stays[i].bytes;
	return bytes;
}

static void test_a_full_list_joins_the_old(void **state)
{
	struct aux_stays s;
	uint64_t bytes = 0;

	assert_int_equal(aux_stays_init(&s, 16), 0);
	for (uint64_t i = 1; i <= 1000; i++) {
		aux_stays_add(&s, 10 * i, 10 * i + 7, i, true);
		bytes += i;
		assert_true(s.nr <= 16 && s.unsettled <= s.nr);
		assert_int_equal(bytes_of(&s), bytes);
		check(&s, s.nr - 1, (struct aux_stay){10 * i, 10 * i + 7, i, false, i, 10 * i});
	}
	/* The newer half was never joined, and the first begins where the first stay did. */
	for (size_t i = s.nr / 2 + 1; i < s.nr; i++)
		assert_false(s.stays[i].joined);
	assert_int_equal(s.stays[0].begun, 10);
	for (size_t i = 0; i < s.nr; i++) {
		assert_true(!i || s.stays[i].begun > s.stays[i - 1].ended);
		assert_true(s.stays[i].tail <= s.stays[i].bytes);
	}
	aux_stays_release(&s);
	aux_stays_release(&s);
}

static void test_a_turn_is_of_the_only_stay(void **state)
{
	struct aux_stays s;

	assert_int_equal(aux_stays_init(&s, 8), 0);
	aux_stays_add(&s, 1, 2, 100, true);
	aux_stays_settle(&s, 0);
	aux_stays_add(&s, 3, 4, 50, true);
	aux_stays_settle(&s, 4096);
	assert_int_equal(s.nr, 2);
	check(&s, 0, (struct aux_stay){1, 2, 100, false, 100, 1});
	check(&s, 1, (struct aux_stay){3, 4, 4146, false, 4146, 3});
	aux_stays_release(&s);
}

/* Which of several stays went around is unknown: only the end of the last is its own for sure. */
static void test_a_turn_of_several_joins_them(void **state)
{
	struct aux_stays s;

	assert_int_equal(aux_stays_init(&s, 8), 0);
	aux_stays_add(&s, 1, 2, 100, true);
	aux_stays_settle(&s, 0);
	for (uint64_t i = 0; i < 3; i++)
		aux_stays_add(&s, 10 + 2 * i, 11 + 2 * i, 20 + i, true);
	aux_stays_settle(&s, 4096);
	assert_int_equal(s.nr, 2);
	check(&s, 1, (struct aux_stay){10, 15, 63 + 4096, true, 22, 14});
	/* A stay before which records were lost has no end that is surely its own. */
	aux_stays_add(&s, 0, 20, 30, false);
	aux_stays_settle(&s, 4096);
	check(&s, 2, (struct aux_stay){0, 20, 4126, true, 0, 0});
	/* Of a turn without a stay nothing is known any more. */
	aux_stays_settle(&s, 4096);
	assert_int_equal(s.nr, 0);
	assert_int_equal(s.floor, 20);
	aux_stays_release(&s);
}

static void test_times_and_the_floor(void **state)
{
	struct aux_stays s;

	assert_int_equal(aux_stays_init(&s, 8), 0);
	assert_int_equal(aux_stays_since(&s, 1), 0);
	aux_stays_drop(&s);
	assert_int_equal(s.floor, 0);
	aux_stays_add(&s, 5, 9, 100, true);
	aux_stays_add(&s, 12, 19, 0, true);
	aux_stays_add(&s, 20, 29, 50, true);
	assert_int_equal(aux_stays_since(&s, 0), 0);
	assert_int_equal(aux_stays_since(&s, 1), 20);
	assert_int_equal(aux_stays_since(&s, 50), 20);
	assert_int_equal(aux_stays_since(&s, 51), 5);
	assert_int_equal(aux_stays_since(&s, 150), 5);
	assert_int_equal(aux_stays_since(&s, 151), 0);
	aux_stays_drop(&s);
	assert_int_equal(s.nr, 0);
	assert_int_equal(s.floor, 29);
	aux_stays_drop(&s);
	assert_int_equal(s.floor, 29);
	aux_stays_release(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_full_list_joins_the_old),
		cmocka_unit_test(test_a_turn_is_of_the_only_stay),
		cmocka_unit_test(test_a_turn_of_several_joins_them),
		cmocka_unit_test(test_times_and_the_floor),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
