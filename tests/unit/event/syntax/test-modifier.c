// SPDX-License-Identifier: Apache-2.0
/* Modifiers behind an event and behind a group: what each sets, and what is refused. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "event/syntax/modifier.h"

#define U      PD_ATTR_EXCLUDE_USER
#define K      PD_ATTR_EXCLUDE_KERNEL
#define V      PD_ATTR_EXCLUDE_HV
#define HOST   PD_ATTR_EXCLUDE_HOST
#define GUEST  PD_ATTR_EXCLUDE_GUEST
#define LEVELS (U | K | V | HOST | GUEST)

static unsigned int precision(const struct draft *d)
{
	return (unsigned int)((d->spec.attr.flags & PD_ATTR_PRECISE_IP) >>
			      PD_ATTR_PRECISE_IP_SHIFT);
}

static void test_levels(void **state)
{
	static const struct {
		const char *own, *of_group;
		uint64_t flags; /* of the levels and sides */
		unsigned int precise;
	} tests[] = {
		{"u", NULL, K | V | GUEST, 0}, {"k", NULL, U | V, 0},
		{"h", NULL, U | K, 0},	       {"uk", NULL, V | GUEST, 0},
		{"ukh", NULL, GUEST, 0},       {"G", NULL, HOST, 0},
		{"H", NULL, GUEST, 0},	       {"GH", NULL, 0, 0},
		{"Gu", NULL, HOST | K | V, 0}, {"p", NULL, GUEST, 1},
		{"ppp", NULL, GUEST, 3},       {"kpp", NULL, U | V | GUEST, 2},
		{"Gp", NULL, HOST, 1},	       {"p", "pp", GUEST, 3},
		{"u", "k", V | GUEST, 0},      {"k", "p", U | V | GUEST, 1},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(tests) / sizeof(tests[0]); i++) {
		/* the default, which an event's own modifiers replace */
		struct draft d = {.spec.attr.flags = GUEST | PD_ATTR_COMM};

		assert_int_equal(modifier_check(tests[i].own, NULL), 0);
		assert_int_equal(modifier_apply(&d, tests[i].own, false, NULL), 0);
		if (tests[i].of_group)
			assert_int_equal(modifier_apply(&d, tests[i].of_group, true, NULL), 0);
		if ((d.spec.attr.flags & LEVELS) != tests[i].flags)
			fail_msg("%s %s: 0x%llx", tests[i].own, tests[i].of_group ?: "",
				 (unsigned long long)d.spec.attr.flags);
		assert_int_equal(precision(&d), tests[i].precise);
		assert_true(d.spec.attr.flags & PD_ATTR_COMM);
	}
}

static void test_others(void **state)
{
	struct draft d = {0};

	(void)state;
	assert_int_equal(modifier_apply(&d, "SDW", false, NULL), 0);
	assert_true(d.spec.sample_read && d.spec.pinned_group && d.spec.weak_group);
	assert_false(d.spec.modifier_given || d.spec.precise_max);
	assert_int_equal(modifier_apply(&d, "PIeu", false, NULL), 0);
	assert_true(d.spec.modifier_given && d.spec.precise_max);
	assert_true(d.spec.attr.flags & PD_ATTR_EXCLUDE_IDLE);
	assert_true(d.spec.attr.flags & PD_ATTR_EXCLUSIVE);
}

static void test_refused(void **state)
{
	static const char *const bad[] = {"", "x", "ux", "uu", "kGk", "b", "u:k", "SS", " "};
	static const char *const good[] = {"u", "ppp", "ukhGHpPSDIWe", "pup"};
	struct error err = ERROR_INIT;
	struct draft d = {.spec.attr.flags = GUEST};

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		err = (struct error)ERROR_INIT;
		assert_int_equal(modifier_check(bad[i], &err), -EINVAL);
		assert_true(*err.text);
	}
	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
		assert_int_equal(modifier_check(good[i], &err), 0);
		assert_true(modifier_like(good[i]));
	}
	assert_false(modifier_like("") || modifier_like("cycles") || modifier_like("u:"));
	/* what is refused changes nothing of the attribute */
	assert_int_equal(modifier_apply(&d, "pppp", false, &err), -EINVAL);
	assert_int_equal(d.spec.attr.flags, GUEST);
	assert_int_equal(modifier_apply(&d, "pp", false, &err), 0);
	assert_int_equal(modifier_apply(&d, "pp", true, &err), -EINVAL);
	assert_int_equal(precision(&d), 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_levels),
		cmocka_unit_test(test_others),
		cmocka_unit_test(test_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
