// SPDX-License-Identifier: Apache-2.0
/* Conversion of the hardware's clock to the recording's. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "auxtrace/decoder/decoder.h"

static void test_conversion(void **state)
{
	const struct pd_time_conv conv = {
		.time_shift = 10, .time_mult = 1536, .time_zero = 7, .cap_user_time_zero = true};
	const struct pd_time_conv tsc = {.time_shift = 31,
					 .time_mult = 1789569706,
					 .time_zero = 18446744041015200657ull,
					 .cap_user_time_zero = true};
	uint64_t time;

	(void)state;
	assert_true(aux_time(&conv, 0, &time));
	assert_int_equal(time, 7);
	assert_true(aux_time(&conv, 1000001, &time));
	assert_int_equal(time, 7 + 1500001);
	/* The product of all cycles and the factor has more than 64 bits. */
	assert_true(aux_time(&conv, 1ull << 60, &time));
	assert_int_equal(time, 7 + (3ull << 59));
	assert_true(aux_time(&tsc, 0xbc4cd2cfe8, &time));
	assert_int_equal(time, (uint64_t)((unsigned __int128)0xbc4cd2cfe8 * 1789569706 >> 31) +
				       18446744041015200657ull);
}

/* A counter of few bits has wrapped around since the conversion was made, or is about to. */
static void test_short_counter(void **state)
{
	const struct pd_time_conv conv = {
		.time_mult = 1,
		.time_cycles = 0x5fe,
		.time_mask = 0xff,
		.cap_user_time_zero = true,
		.cap_user_time_short = true,
	};
	uint64_t time;

	(void)state;
	assert_true(aux_time(&conv, 0xff, &time));
	assert_int_equal(time, 0x5ff);
	assert_true(aux_time(&conv, 0x01, &time));
	assert_int_equal(time, 0x601);
}

static void test_unknown(void **state)
{
	const struct pd_time_conv no_zero = {.time_mult = 1};
	const struct pd_time_conv shift = {.time_shift = 64, .cap_user_time_zero = true};
	uint64_t time = 5;

	(void)state;
	assert_false(aux_time(NULL, 1, &time));
	assert_false(aux_time(&no_zero, 1, &time));
	assert_false(aux_time(&shift, 1, &time));
	assert_int_equal(time, 5);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_conversion),
		cmocka_unit_test(test_short_counter),
		cmocka_unit_test(test_unknown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
