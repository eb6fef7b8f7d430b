// SPDX-License-Identifier: Apache-2.0
/* Numbers of threads: equal ones, those of a namespace, of threads outside, of ended and of new
 * ones. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "report/waits/tid_numbers.h"

static struct sched_event change(uint32_t tid, uint32_t next)
{
	return (struct sched_event){.kind = SCHED_EVENT_SWITCH, .tid = tid, .next = next};
}

static void test_equal(void **state)
{
	struct tid_numbers n = {0};
	struct sched_event e = change(10, 20), woken = {.kind = SCHED_EVENT_WAKEUP, .tid = 30};

	assert_int_equal(tid_numbers_translate(&n, 10, &e), 0);
	assert_int_equal(e.tid, 10);
	assert_int_equal(e.next, 20);
	assert_int_equal(tid_numbers_translate(&n, 10, &woken), 0);
	assert_int_equal(woken.tid, 30);
	e = change(11, 10); /* the thread that leaves has ended */
	assert_int_equal(tid_numbers_translate(&n, UINT32_MAX, &e), 0);
	assert_int_equal(e.tid, 11);
	e = change(12, 10); /* the same, where a recording has 0 for it */
	assert_int_equal(tid_numbers_translate(&n, 0, &e), 0);
	assert_int_equal(e.tid, 12);
	assert_int_equal(e.next, 10);
	tid_numbers_release(&n);
}

static void test_namespace(void **state)
{
	struct tid_numbers n = {0};
	struct sched_event e = change(5010, 0), woken = {.kind = SCHED_EVENT_WAKEUP, .tid = 5010};

	assert_int_equal(tid_numbers_translate(&n, 2, &e), 0);
	assert_int_equal(e.tid, 2);
	assert_int_equal(e.next, 0);
	e = change(7, 5010); /* a thread outside, which the recorder does not see */
	assert_int_equal(tid_numbers_translate(&n, 0, &e), 0);
	assert_int_equal(e.tid, 0);
	assert_int_equal(e.next, 2);
	assert_int_equal(tid_numbers_translate(&n, 0, &woken), 0);
	assert_int_equal(woken.tid, 2);
	e = change(5010, 7); /* it has ended: its number is still known */
	assert_int_equal(tid_numbers_translate(&n, UINT32_MAX, &e), 0);
	assert_int_equal(e.tid, 2);
	e = change(5010, 0); /* another thread has the number now */
	assert_int_equal(tid_numbers_translate(&n, 9, &e), 0);
	assert_int_equal(e.tid, 9);
	tid_numbers_release(&n);
	assert_false(n.differ);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_equal),
		cmocka_unit_test(test_namespace),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
