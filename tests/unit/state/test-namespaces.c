// SPDX-License-Identifier: Apache-2.0
/* Cgroup namespaces of threads over time. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

#include "state/namespaces.h"

static struct moment at(uint64_t time)
{
	return (struct moment){.time = time};
}

/* The thread enters a cgroup namespace of inode @ino; @nr namespaces are recorded. */
static void enter(struct namespaces *n, uint32_t tid, uint64_t ino, uint64_t nr, uint64_t time)
{
	const uint64_t link[14] = {[12] = 4, [13] = ino};
	const struct pd_namespaces rec = {.pid = 1, .tid = tid, .nr = nr, .link = link};

	assert_int_equal(namespaces_add(n, &rec, at(time)), 0);
}

static void expect(const struct namespaces *n, uint32_t tid, uint64_t time, uint64_t ino)
{
	const struct namespace_id id = namespaces_cgroup(n, tid, at(time));

	assert_int_equal(id.ino, ino);
	assert_int_equal(id.dev, ino ? 4 : 0);
}

static void each_thread_has_its_own_history(void **state)
{
	struct namespaces n = {0};

	enter(&n, 20, 5, 7, 100);
	enter(&n, 10, 6, 7, 150);
	enter(&n, 20, 7, 7, 200);
	enter(&n, 20, 8, 7, 200); /* the later of one moment counts */
	namespaces_freeze(&n);
	expect(&n, 20, 99, 0);
	expect(&n, 20, 100, 5);
	expect(&n, 20, 199, 5);
	expect(&n, 10, 149, 0);
	expect(&n, 10, 900, 6);
	expect(&n, 15, 900, 0);
	expect(&n, 30, 900, 0);
	expect(&n, 20, 900, 8);
	namespaces_release(&n);
}

/* Old kernels have no cgroup namespace. */
static void a_short_record_names_none(void **state)
{
	struct namespaces n = {0};

	expect(&n, 1, 1, 0);
	enter(&n, 1, 5, 6, 1);
	namespaces_freeze(&n);
	expect(&n, 1, 1, 0);
	namespaces_release(&n);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_thread_has_its_own_history),
		cmocka_unit_test(a_short_record_names_none),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
