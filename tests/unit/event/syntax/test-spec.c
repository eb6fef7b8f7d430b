// SPDX-License-Identifier: Apache-2.0
/* Cgroups of lists of events, and branch filters. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "event/syntax/spec.h"
#include "event/syntax/terms.h"

/* Events with these names, a group of the first two. */
static struct event_list make(size_t nr)
{
	static const char *const names[] = {"one", "two", "three"};
	struct event_list list = {
		.specs = calloc(nr, sizeof(*list.specs)), .count = nr, .capacity = nr};

	for (size_t i = 0; i < nr; i++)
		list.specs[i] =
			(struct event_spec){.name = strdup(names[i]), .leader = i < 2 ? 0 : (int)i};
	list.specs[0].filter = strdup("a == 1");
	return list;
}

static void test_cgroups_in_order(void **state)
{
	struct event_list list = make(3);
	struct error err = ERROR_INIT;

	assert_int_equal(event_list_cgroups(&list, "a,,c", &err), 0);
	assert_string_equal(list.specs[0].cgroup, "a");
	assert_string_equal(list.specs[0].name, "one@a");
	assert_null(list.specs[1].cgroup);
	assert_string_equal(list.specs[1].name, "two");
	assert_string_equal(list.specs[2].cgroup, "c");
	assert_int_equal(event_list_cgroups(&list, "d,e", &err), -EINVAL);
	assert_int_equal(event_list_cgroups(&list, "d", &err), 0);
	assert_string_equal(list.specs[1].cgroup, "d");
	assert_string_equal(list.specs[0].cgroup, "a");
	event_list_release(&list);
	assert_int_equal(event_list_cgroups(&list, "a", &err), -EINVAL);
}

static void test_one_cgroup_is_for_all(void **state)
{
	struct event_list list = make(3);
	struct error err = ERROR_INIT;

	assert_int_equal(event_list_cgroups(&list, "a", &err), 0);
	for (size_t i = 0; i < list.count; i++)
		assert_string_equal(list.specs[i].cgroup, "a");
	assert_string_equal(list.specs[0].name, "one");
	event_list_release(&list);
}

/* Groups stay groups, each in its cgroup. */
static void test_each_cgroup(void **state)
{
	struct event_list list = make(3);
	struct error err = ERROR_INIT;

	assert_int_equal(event_list_each_cgroup(&list, "a,,b", &err), -EINVAL);
	assert_int_equal(list.count, 3);
	assert_int_equal(event_list_each_cgroup(&list, "a,b", &err), 0);
	assert_int_equal(list.count, 6);
	for (size_t i = 0; i < 6; i++) {
		assert_string_equal(list.specs[i].cgroup, i < 3 ? "a" : "b");
		assert_int_equal(list.specs[i].leader, i % 3 < 2 ? i / 3 * 3 : i);
	}
	assert_string_equal(list.specs[3].name, "one@b");
	assert_string_equal(list.specs[3].filter, "a == 1");
	assert_null(list.specs[4].filter);
	event_list_release(&list);
}

static void test_branch_filters(void **state)
{
	struct error err = ERROR_INIT;
	uint64_t mask = 0;

	assert_int_equal(term_branches_parse("any_call,u", &mask, &err), 0);
	assert_int_equal(mask, PERF_SAMPLE_BRANCH_ANY_CALL | PERF_SAMPLE_BRANCH_USER);
	assert_int_equal(term_branches_parse("k", &mask, &err), 0);
	assert_int_equal(mask, PERF_SAMPLE_BRANCH_ANY | PERF_SAMPLE_BRANCH_KERNEL);
	assert_int_equal(term_branches_parse("any,frob", &mask, &err), -EINVAL);
	assert_int_equal(term_branches_parse("", &mask, &err), -EINVAL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_cgroups_in_order),
		cmocka_unit_test(test_one_cgroup_is_for_all),
		cmocka_unit_test(test_each_cgroup),
		cmocka_unit_test(test_branch_filters),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
