// SPDX-License-Identifier: Apache-2.0
/*
 * The controller of --max-cpu with recorders whose cost is partly fixed. For any cost, they end
 * within the budget or at the least share, and they record as much as fits.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

#include "record/session/budget.h"

#define LOOK_NS (BUDGET_LOOK_MS * 1000000ull)

struct recorder {
	struct budget b;
	double fixed, full; /* parts of a CPU: in any case, and at share 1 */
	uint64_t cpu, clock;
};

static double cost(const struct recorder *r)
{
	return r->fixed + r->full * r->b.share;
}

static void run(struct recorder *r, unsigned int looks)
{
	for (unsigned int i = 0; i < looks; i++) {
		double before = r->b.share;
		bool over = cost(r) > r->b.most;

		r->cpu += (uint64_t)(cost(r) * (double)LOOK_NS);
		r->clock += LOOK_NS;
		assert_true(budget_look(&r->b, r->cpu, r->clock) ==
			    (r->b.share < before || r->b.share > before));
		assert_true(r->b.share <= 1 && r->b.share >= r->b.least);
		assert_true(!over || r->b.share < before || r->b.share <= r->b.least);
	}
}

static struct recorder begin(double most, double fixed, double full)
{
	struct recorder r = {.fixed = fixed, .full = full, .cpu = 12345, .clock = 777};

	budget_init(&r.b, most, 1.0 / 4000, r.cpu, r.clock);
	return r;
}

static void test_within_the_budget(void **state)
{
	for (double most = 0.001; most < 2; most *= 2.7) {
		for (double full = 0.0005; full < 4; full *= 3.1) {
			struct recorder r = begin(most, most / 4, full);

			run(&r, 60);
			/* Between one look that is above and the next there may be a rise. */
			assert_true(cost(&r) <= most * 1.5);
			assert_true(r.b.share >= 1 || cost(&r) > most * 0.6);
		}
	}
}

static void test_what_cannot_be_held(void **state)
{
	struct recorder r = begin(0.01, 0.02, 0.5);

	run(&r, 30);
	assert_true(r.b.share <= r.b.least);
}

/* What costs nothing is asked for as it was. */
static void test_rises_again(void **state)
{
	struct recorder r = begin(0.01, 0.001, 0.3);

	run(&r, 20);
	assert_true(r.b.share < 0.1);
	r.full = 0.001;
	run(&r, 20);
	assert_true(r.b.share >= 1);
	run(&r, 20);
	assert_true(r.b.share >= 1);
}

static void test_odd_clocks(void **state)
{
	struct recorder r = begin(0.01, 0, 1);

	assert_false(budget_look(&r.b, r.cpu + 5, r.clock));
	assert_false(budget_look(&r.b, r.cpu - 5, r.clock + 5));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_within_the_budget),
		cmocka_unit_test(test_what_cannot_be_held),
		cmocka_unit_test(test_rises_again),
		cmocka_unit_test(test_odd_clocks),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
