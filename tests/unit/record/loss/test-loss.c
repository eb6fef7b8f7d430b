// SPDX-License-Identifier: Apache-2.0
/*
 * Counts of losses against a table of all causes, events and CPUs: after each step every entry and
 * the total are those of the table.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "record/loss/loss.h"

#define EVENTS 3 /* the last stands for LOSS_NO_EVENT */
#define CPUS   4 /* the first stands for -1 */

struct model {
	uint64_t count[LOSS_CAUSES][EVENTS][CPUS], total;
};

static unsigned int event_of(int i)
{
	return i == EVENTS - 1 ? LOSS_NO_EVENT : (unsigned int)i;
}

static void check(const struct loss *l, const struct model *m)
{
	size_t nr = 0;

	assert_true(l->total == m->total);
	for (int cause = 0; cause < LOSS_CAUSES; cause++)
		for (int event = 0; event < EVENTS; event++)
			for (int cpu = 0; cpu < CPUS; cpu++)
				/* With `nr += …!= 0` gcc 12 -O3 counts down on arm64. */
				if (m->count[cause][event][cpu])
					nr++;
	assert_int_equal(l->nr, nr);
	for (size_t i = 0; i < l->nr; i++) {
		const struct loss_entry *e = &l->entries[i];
		unsigned int event = e->event == LOSS_NO_EVENT ? EVENTS - 1 : e->event;

		assert_true(e->count == m->count[e->cause][event][e->cpu + 1]);
	}
}

static void add(struct loss *l, struct model *m, uint64_t count)
{
	int cause = rand() % LOSS_CAUSES, event = rand() % EVENTS, cpu = rand() % CPUS;

	assert_int_equal(loss_add(l, cause, event_of(event), cpu - 1, count), 0);
	m->count[cause][event][cpu] += count;
	m->total += count;
	check(l, m);
}

static void merge(struct loss *to, struct model *m, const struct loss *from, const struct model *n)
{
	assert_int_equal(loss_merge(to, from), 0);
	for (int cause = 0; cause < LOSS_CAUSES; cause++)
		for (int event = 0; event < EVENTS; event++)
			for (int cpu = 0; cpu < CPUS; cpu++)
				m->count[cause][event][cpu] += n->count[cause][event][cpu];
	m->total += n->total;
	check(to, m);
	check(from, n);
}

static void test_random(void **state)
{
	struct loss a = {0}, b = {0}, none = {0};
	struct model m = {0}, n = {0}, zero = {0};

	srand(1);
	for (int i = 0; i < 500; i++) {
		add(&a, &m, (uint64_t)(rand() % 5) << (rand() % 40));
		add(&b, &n, (uint64_t)(rand() % 5));
		if (i % 50 == 0)
			merge(&a, &m, &b, &n);
		merge(&a, &m, &none, &zero);
	}
	loss_release(&a);
	check(&a, &zero);
	merge(&a, &zero, &none, &zero);
	loss_release(&a);
	loss_release(&b);
}

/* Messages name the cause. */
static void test_causes_have_texts(void **state)
{
	for (int i = 0; i < LOSS_CAUSES; i++) {
		const char *text = loss_cause_text(i);

		assert_non_null(text);
		assert_true(*text);
		for (int j = 0; j < i; j++)
			assert_string_not_equal(text, loss_cause_text(j));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_random),
		cmocka_unit_test(test_causes_have_texts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
