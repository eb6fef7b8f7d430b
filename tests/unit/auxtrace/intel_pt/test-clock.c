// SPDX-License-Identifier: Apache-2.0
/* The time of packets, computed by hand. */
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>
#include <cmocka.h>

#include "auxtrace/intel_pt/clock.h"

/* A tick of the crystal is four of the TSC; an MTC comes each 8 ticks. */
static const struct pt_setup setup = {.crystal = 1, .tsc = 4, .mtc_freq = 3, .nom_freq = 30};

static bool take(struct pt_clock *c, enum pt_token_kind kind, uint64_t value, uint32_t value2)
{
	const struct pt_token t = {.kind = kind, .value = value, .value2 = value2};

	return pt_clock_take(c, &t);
}

static void test_crystal(void **state)
{
	struct pt_clock c;

	(void)state;
	pt_clock_init(&c, &setup);
	assert_int_equal(c.tsc, 0);
	assert_true(take(&c, PT_TOKEN_TSC, 10000, 0));
	assert_false(take(&c, PT_TOKEN_TSC, 10000, 0));
	/* An MTC before the TMA says nothing. */
	assert_false(take(&c, PT_TOKEN_MTC, 5, 0));
	/* The crystal has 0x7fd; it ticked six ticks of the TSC ago. */
	assert_false(take(&c, PT_TOKEN_TMA, 0x7fd, 6));
	assert_true(take(&c, PT_TOKEN_MTC, 0, 0)); /* 0x800 */
	assert_int_equal(c.tsc, 10000 - 6 + 3 * 4);
	assert_true(take(&c, PT_TOKEN_MTC, 1, 0));
	assert_int_equal(c.tsc, 10000 - 6 + (3 + 8) * 4);
	/* One was lost. */
	assert_true(take(&c, PT_TOKEN_MTC, 3, 0));
	assert_int_equal(c.tsc, 10000 - 6 + (3 + 24) * 4);
	assert_true(take(&c, PT_TOKEN_TSC, 500, 0));
	assert_int_equal(c.tsc, 500);
}

/* The bits of an MTC that a TMA lacks are those of the period in front of the MTC. */
static void test_slow_crystal(void **state)
{
	struct pt_setup s = setup;
	struct pt_clock c;

	(void)state;
	s.mtc_freq = 12; /* bits 12 to 19; a TMA has 16 */
	pt_clock_init(&c, &s);
	take(&c, PT_TOKEN_TSC, 10000, 0);
	take(&c, PT_TOKEN_TMA, 0xff00, 0);
	assert_true(take(&c, PT_TOKEN_MTC, 0x30, 0)); /* 0x30000; the TMA was at 0x2ff00 */
	assert_int_equal(c.tsc, 10000 + 0x100 * 4);
}

static void test_cycles(void **state)
{
	struct pt_clock c;

	(void)state;
	pt_clock_init(&c, &setup);
	assert_false(take(&c, PT_TOKEN_CYC, 7, 0));
	take(&c, PT_TOKEN_TSC, 10000, 0);
	/* Nothing says how long a cycle is. */
	assert_false(take(&c, PT_TOKEN_CYC, 7, 0));
	assert_int_equal(c.tsc, 10000);
	/* Two thirds of the TSC's. */
	take(&c, PT_TOKEN_CBR, 45, 0);
	assert_true(take(&c, PT_TOKEN_CYC, 300, 0));
	assert_uint_in_range(c.tsc, 10199, 10200);
	assert_int_equal(c.cycles, 314);
	/* Time does not go back where cycles were too fast. */
	take(&c, PT_TOKEN_TSC, 20000, 0);
	take(&c, PT_TOKEN_TMA, 0, 0);
	take(&c, PT_TOKEN_CYC, 300, 0);
	assert_false(take(&c, PT_TOKEN_MTC, 1, 0));
	assert_uint_in_range(c.tsc, 20199, 20200);
	/* Since then a cycle is 32/300 of a tick. */
	assert_false(take(&c, PT_TOKEN_CYC, 300, 0));
	assert_true(take(&c, PT_TOKEN_CYC, 3000, 0));
	assert_uint_in_range(c.tsc, 20032 + 350, 20032 + 352);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_crystal),
		cmocka_unit_test(test_slow_crystal),
		cmocka_unit_test(test_cycles),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
