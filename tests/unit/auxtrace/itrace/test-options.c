// SPDX-License-Identifier: Apache-2.0
/* The letters of --itrace. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <string.h>

#include "auxtrace/itrace/options.h"

static struct itrace_opts parsed(const char *text)
{
	struct error err = ERROR_INIT;
	struct itrace_opts o;

	itrace_opts_calls(&o);
	assert_int_equal(itrace_opts_parse(text, &o, &err), 0);
	return o;
}

static void test_letters(void **state)
{
	struct itrace_opts o = parsed("cre"), all;

	(void)state;
	assert_true(o.calls && o.returns && o.errors);
	assert_false(o.branches || o.instructions || o.power || o.memory);
	o = parsed("b,x wp s5");
	assert_true(o.branches && o.transactions && o.ptwrite && o.power);
	assert_int_equal(o.skip, 5);
	o = parsed("");
	itrace_opts_calls(&all);
	assert_memory_equal(&o, &all, sizeof(o)); /* no letters: as before */
	assert_true(o.calls && o.errors && o.memory && o.ptwrite);
	assert_false(o.instructions || o.branches);
	itrace_opts_all(&all);
	assert_true(all.branches && all.instructions && all.errors && all.memory && !all.calls);
}

static void test_chains(void **state)
{
	struct itrace_opts o = parsed("ig");

	(void)state;
	assert_true(o.chains && !o.chains_recorded && itrace_opts_need_past(&o));
	assert_int_equal(o.chain_max, 16);
	o = parsed("G1024i1ms");
	assert_true(o.chains_recorded && !o.chains && o.instructions && itrace_opts_need_past(&o));
	assert_int_equal(o.chain_max, 1024);
	assert_int_equal(o.period, 1000000);
}

static void test_errors(void **state)
{
	struct itrace_opts o = parsed("e+l-ob");

	(void)state;
	assert_true(o.errors && o.no_overflows && o.branches);
	o = parsed("e-l");
	assert_true(o.errors && !o.no_overflows);
	o = parsed("qqe");
	assert_true(o.errors);
}

static void test_last_branches(void **state)
{
	struct itrace_opts o = parsed("il");

	(void)state;
	assert_true(o.last && !o.last_recorded && o.instructions);
	assert_int_equal(o.last_max, 64);
	assert_true(itrace_opts_need_past(&o));
	o = parsed("il1024b");
	assert_int_equal(o.last_max, 1024);
	assert_true(o.branches);
	o = parsed("L7");
	assert_true(o.last_recorded && !o.last && itrace_opts_need_past(&o));
	assert_int_equal(o.last_max, 7);
	o = parsed("ib");
	assert_false(itrace_opts_need_past(&o));
}

static void test_periods(void **state)
{
	static const struct {
		const char *text;
		enum itrace_unit unit;
		uint64_t period;
	} cases[] = {
		{"i", ITRACE_NS, 100000},     {"ie", ITRACE_NS, 100000},
		{"i1ms", ITRACE_NS, 1000000}, {"i10us", ITRACE_NS, 10000},
		{"i7ns", ITRACE_NS, 7},	      {"i0ns", ITRACE_NS, 0},
		{"i1000", ITRACE_NS, 1000},   {"i3i", ITRACE_INSNS, 3},
		{"i0i", ITRACE_INSNS, 1},     {"bi100usxwpe", ITRACE_NS, 100000},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct itrace_opts o = parsed(cases[i].text);

		assert_true(o.instructions);
		assert_int_equal(o.unit, cases[i].unit);
		assert_int_equal(o.period, cases[i].period);
	}
}

static void test_refusals(void **state)
{
	static const char *const bad[] = {"ik",
					  "z",
					  "i5t",
					  "g0",
					  "g1025",
					  "y",
					  "o",
					  "I",
					  "d+a",
					  "A",
					  "Z",
					  "T",
					  "e+x",
					  "e-",
					  "l0",
					  "l1025",
					  "L99999999999999999999",
					  "i99999999999999999999i",
					  "i99999999999999ms"};

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct error err = ERROR_INIT;
		struct itrace_opts o;

		assert_int_equal(itrace_opts_parse(bad[i], &o, &err), -EINVAL);
		assert_true(strlen(err.text) > 0);
	}
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_letters), cmocka_unit_test(test_chains),
		cmocka_unit_test(test_errors),	cmocka_unit_test(test_last_branches),
		cmocka_unit_test(test_periods), cmocka_unit_test(test_refusals),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
