// SPDX-License-Identifier: Apache-2.0
/* Distributions, trees of calls, and the choice of the slowest ones. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdlib.h>

#include "report/latency/distribution.h"
#include "report/latency/slowest.h"

static void test_few(void **state)
{
	struct distribution d = {0};

	(void)state;
	assert_int_equal(distribution_at(&d, 0.5), 0);
	for (uint64_t i = 100; i; i--)
		assert_int_equal(distribution_add(&d, i), 0);
	assert_int_equal(d.count, 100);
	assert_int_equal(d.sum, 5050);
	assert_int_equal(distribution_at(&d, 0), 1);
	assert_int_equal(distribution_at(&d, 0.5), 50);
	assert_int_equal(distribution_at(&d, 0.9), 90);
	assert_int_equal(distribution_at(&d, 0.99), 99);
	assert_int_equal(distribution_at(&d, 0.999), 100);
	assert_int_equal(distribution_at(&d, 1), 100);
	assert_int_equal(distribution_below(&d, 11), 10);
	assert_int_equal(d.powers[1], 1);
	assert_int_equal(d.powers[7], 37); /* 64 to 100 */
	assert_int_equal(distribution_add(&d, 0), 0);
	assert_int_equal(d.powers[0], 1);
	assert_int_equal(distribution_at(&d, 0), 0);
	distribution_release(&d);
}

static int compare(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

/* More than are kept: within 1 % of the true ones. */
static void test_many(void **state)
{
	static const double shares[] = {0, 0.001, 0.1, 0.5, 0.9, 0.99, 0.999, 1};
	size_t nr = 3 * DISTRIBUTION_EXACT;
	uint64_t *values = malloc(nr * sizeof(*values));
	struct distribution d = {0};

	(void)state;
	assert_non_null(values);
	srandom(1);
	for (size_t i = 0; i < nr; i++) {
		values[i] = ((uint64_t)random() << 31 | (uint64_t)random()) >> random() % 62;
		assert_int_equal(distribution_add(&d, values[i]), 0);
	}
	qsort(values, nr, sizeof(*values), compare);
	for (size_t i = 0; i < sizeof(shares) / sizeof(shares[0]); i++) {
		double place = shares[i] * (double)nr;
		size_t rank = (size_t)place + ((double)(size_t)place < place);
		uint64_t is = values[rank ? rank - 1 : 0], got = distribution_at(&d, shares[i]);

		assert_true(got <= is + is / 100 && got >= is - is / 100);
	}
	assert_int_equal(d.min, values[0]);
	assert_int_equal(d.max, values[nr - 1]);
	assert_int_equal(distribution_at(&d, 1), values[nr - 1]);
	assert_int_equal(distribution_add(&d, UINT64_MAX), 0);
	assert_int_equal(distribution_at(&d, 1), UINT64_MAX);
	assert_int_equal(d.sum, UINT64_MAX);
	distribution_release(&d);
	free(values);
}

static uint32_t enter(struct call_tree *t, uint32_t parent, uint32_t function)
{
	uint32_t node;

	assert_int_equal(call_tree_enter(t, parent, function, &node), 0);
	return node;
}

/* f calls g twice and h once; g calls itself, and h. */
static void test_tree(void **state)
{
	struct call_tree t = {0};
	uint32_t f = enter(&t, CALL_TREE_NONE, 1), g, h, *children;

	(void)state;
	assert_int_equal(f, 0);
	h = enter(&t, f, 3);
	call_tree_leave(&t, f, h, 10);
	for (int i = 0; i < 2; i++) {
		g = enter(&t, f, 2);
		assert_int_equal(enter(&t, g, 2), g);
		assert_int_not_equal(enter(&t, g, 3), h);
		call_tree_leave(&t, g, enter(&t, g, 3), 5);
		call_tree_leave(&t, g, g, 30);
		call_tree_leave(&t, f, g, 40 + (uint64_t)i);
	}
	call_tree_leave(&t, CALL_TREE_NONE, f, 100);
	assert_int_equal(t.nr, 4);
	assert_int_equal(t.nodes[g].calls, 4);
	assert_int_equal(t.nodes[g].total, 81);
	assert_int_equal(t.nodes[g].longest, 41);
	assert_int_equal(call_node_self(&t.nodes[g]), 71);
	assert_int_equal(call_node_self(&t.nodes[f]), 9);
	assert_int_equal(call_tree_children(&t, f, &children), 2);
	assert_int_equal(children[0], g); /* the longest first */
	assert_int_equal(children[1], h);
	free(children);
	assert_int_equal(call_tree_children(&t, h, &children), 0);
	assert_null(children);
	call_tree_release(&t);
}

static void test_bounds(void **state)
{
	struct call_tree t = {0};
	uint32_t node = CALL_TREE_NONE;

	(void)state;
	for (uint32_t i = 0; i < 1000; i++)
		node = enter(&t, node, i);
	assert_int_equal(node, CALL_TREE_NONE);
	assert_int_equal(t.nr, CALL_TREE_DEPTH + 1);
	assert_int_equal(t.left_out, 1000 - t.nr);
	for (uint32_t i = 0; i < 2 * CALL_TREE_NODES; i++)
		enter(&t, 0, 1000 + i);
	assert_int_equal(t.nr, CALL_TREE_NODES);
	call_tree_release(&t);
}

static void test_slowest(void **state)
{
	struct slowest s = {.max = 3}, none = {0};

	(void)state;
	assert_false(slowest_wants(&none, 5));
	for (uint64_t i = 0; i < 20; i++) {
		struct latency_call call = {.time = i, .ns = i * 7 % 10};

		enter(&call.tree, CALL_TREE_NONE, 1);
		if (!slowest_wants(&s, call.ns))
			call_tree_release(&call.tree);
		else
			assert_int_equal(slowest_take(&s, &call), 0);
	}
	assert_int_equal(s.nr, 3);
	assert_int_equal(s.calls[0].ns, 9);
	assert_int_equal(s.calls[0].time, 7); /* of two as long, the first */
	assert_int_equal(s.calls[1].time, 17);
	assert_int_equal(s.calls[2].time, 4);
	assert_false(slowest_wants(&s, 8));
	slowest_release(&s);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_few),	cmocka_unit_test(test_many),
		cmocka_unit_test(test_tree),	cmocka_unit_test(test_bounds),
		cmocka_unit_test(test_slowest),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
