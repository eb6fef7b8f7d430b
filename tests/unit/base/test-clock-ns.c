// SPDX-License-Identifier: Apache-2.0
/* Clock readings and deadlines: conversions lose nothing, deadlines pass. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/clock_ns.h"

static void test_conversion(void **state)
{
	static const struct {
		uint64_t ns;
		time_t sec;
		long nsec;
	} rows[] = {
		{0, 0, 0},
		{1, 0, 1},
		{NS_PER_SEC - 1, 0, 999999999},
		{NS_PER_SEC, 1, 0},
		{1700000000 * NS_PER_SEC + 5, 1700000000, 5},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct timespec t = timespec_from_ns(rows[i].ns);

		assert_int_equal(t.tv_sec, rows[i].sec);
		assert_int_equal(t.tv_nsec, rows[i].nsec);
		assert_int_equal(timespec_to_ns(&t), rows[i].ns);
	}
}

static void test_now(void **state)
{
	struct timespec real;
	uint64_t before = now_ns(CLOCK_MONOTONIC), ms = now_ms(), after = now_ns(CLOCK_MONOTONIC);

	assert_true(before && before <= after);
	assert_true(before / NS_PER_MS <= ms && ms <= after / NS_PER_MS);

	clock_gettime(CLOCK_REALTIME, &real);
	assert_true(now_ns(CLOCK_REALTIME) / NS_PER_SEC - (uint64_t)real.tv_sec <= 1);
	assert_int_equal(now_ns(12345), 0);
}

static void test_deadline(void **state)
{
	uint64_t deadline = now_ms() + 20;
	struct timespec t = timespec_of_deadline(deadline);

	assert_int_equal(timespec_to_ns(&t), deadline * NS_PER_MS);
	assert_true(ms_until(now_ms() + 60000) > 50000);
	assert_int_equal(ms_until(0), 0);
	assert_int_equal(clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, NULL), 0);
	assert_int_equal(ms_until(deadline), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_conversion),
		cmocka_unit_test(test_now),
		cmocka_unit_test(test_deadline),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
