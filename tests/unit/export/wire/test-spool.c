// SPDX-License-Identifier: Apache-2.0
/* Each lane gives its items back in order, from memory and from the file. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <stdlib.h>

#include "export/wire/spool.h"

#define LANES 50

struct item {
	uint64_t lane, number;
};

struct walk {
	uint64_t lane, next, stop;
};

/* How many items a lane gets: few, or more than its memory holds. */
static uint64_t items_of(uint64_t lane)
{
	return lane * lane;
}

static int check_item(const void *p, void *arg)
{
	const struct item *item = p;
	struct walk *w = arg;

	assert_int_equal(item->lane, w->lane);
	assert_int_equal(item->number, w->next);
	w->next++;
	return w->stop && w->next == w->stop ? -EINTR : 0;
}

static void test_order(void **state)
{
	struct spool s = {0};

	for (uint64_t number = 0; number < items_of(LANES - 1); number++)
		for (uint32_t lane = 0; lane < LANES; lane++) {
			struct item item = {lane, number};

			if (number < items_of(lane))
				assert_int_equal(spool_add(&s, lane, &item, sizeof(item)), 0);
		}
	assert_true(s.fd);
	for (int round = 0; round < 2; round++)
		for (uint32_t lane = LANES + 3; lane--;) {
			struct walk w = {.lane = lane};

			assert_int_equal(spool_each(&s, lane, sizeof(struct item), check_item, &w),
					 0);
			assert_int_equal(w.next, lane < LANES ? items_of(lane) : 0);
		}
	for (uint32_t lane = 2; lane < LANES; lane++) {
		struct walk w = {.lane = lane, .stop = items_of(lane) / 2};

		assert_int_equal(spool_each(&s, lane, sizeof(struct item), check_item, &w), -EINTR);
		assert_int_equal(w.next, w.stop);
	}
	spool_release(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_order),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
