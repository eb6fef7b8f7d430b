// SPDX-License-Identifier: Apache-2.0
/* Suggestions for names that are not known: the nearest ones, few of them, none that is far. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "base/nearest.h"

static const char *suggest(const char *wanted, const char *const *names, char out[256])
{
	struct nearest n;

	*out = '\0';
	if (!nearest_init(&n, wanted))
		return out;
	for (; *names; names++)
		nearest_offer(&n, *names);
	nearest_write(&n, out, 256);
	return out;
}

static void test_suggestions(void **state)
{
	static const char *const names[] = {
		"cycles",	 "cpu-cycles",	       "instructions",	     "branches",
		"branch-misses", "sched:sched_switch", "sched:sched_switch", NULL};
	static const struct {
		const char *wanted, *text;
	} tests[] = {
		{"cycels", "; did you mean 'cycles'?"},
		{"CYCLES", "; did you mean 'cycles'?"},
		{"instruction", "; did you mean 'instructions'?"},
		{"sched:sch", "; did you mean 'sched:sched_switch'?"}, /* once */
		{"branc", "; did you mean 'branches' or 'branch-misses'?"},
		{"xyzzyxyzzy", ""},
		{"c", ""},
		{"", ""},
	};
	char out[256];

	(void)state;
	for (size_t i = 0; i < sizeof(tests) / sizeof(tests[0]); i++)
		assert_string_equal(suggest(tests[i].wanted, names, out), tests[i].text);
}

/* Of many that are equally near, the first three. */
static void test_few(void **state)
{
	static const char *const names[] = {"name1", "name2", "name3", "name4", NULL};
	static const char *const nearer[] = {"nbme4", "nbme5", "name5", NULL};
	char out[256];

	(void)state;
	assert_string_equal(suggest("name0", names, out),
			    "; did you mean 'name1', 'name2' or 'name3'?");
	assert_string_equal(suggest("nameX", nearer, out),
			    "; did you mean 'name5', 'nbme4' or 'nbme5'?");
}

static void test_bounds(void **state)
{
	char far[NEAREST_NAME_MAX + 1], out[24];
	struct nearest n;

	(void)state;
	memset(far, 'x', NEAREST_NAME_MAX);
	far[NEAREST_NAME_MAX] = '\0';
	assert_false(nearest_init(&n, far));
	far[NEAREST_NAME_MAX - 1] = '\0';
	assert_true(nearest_init(&n, far));
	nearest_offer(&n, far);
	assert_int_equal(n.count, 1);
	/* of a list, one name */
	assert_true(nearest_init_len(&n, "cycels,instructions", 6));
	assert_string_equal(n.wanted, "cycels");
	assert_false(nearest_init_len(&n, far, NEAREST_NAME_MAX));
	nearest_init(&n, far);
	nearest_offer(&n, far);
	nearest_write(&n, out, sizeof(out));
	assert_int_equal(strlen(out), sizeof(out) - 1);
	/* under another key */
	assert_true(nearest_init(&n, "sched_switch"));
	nearest_offer_as(&n, "sched_switch", "sched:sched_switch");
	assert_int_equal(n.count, 1);
	assert_string_equal(n.best[0].name, "sched:sched_switch");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_suggestions),
		cmocka_unit_test(test_few),
		cmocka_unit_test(test_bounds),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
