// SPDX-License-Identifier: Apache-2.0
/* Rows of reports joined by name, and call chains (stacks.c); each sum against the reports. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/diff/diff.h"
#include "report/diff/significance.h"
#include "report/diff/stacks.h"

#define FILES 3

static uint32_t rnd(uint32_t *seed)
{
	*seed = *seed * 1664525u + 1013904223u;
	return *seed >> 8;
}

static int name_text(const struct trace *t, struct hist_cell cell, struct buf *out)
{
	return buf_printf(out, "row %d", (int)cell.a);
}

static int name_compare(const struct trace *t, struct hist_cell a, struct hist_cell b)
{
	return a.a < b.a ? -1 : a.a > b.a;
}

static const struct sort_key name_key = {
	.name = "name", .header = "Name", .text = name_text, .compare = name_compare};
static const struct sort_key *const keys[] = {&name_key};

/* A report that a test fills, with the events @names. */
struct made_report {
	struct trace trace;
	struct report_opts opts;
	struct report report;
};

static void made_init(struct made_report *m, const char *path, const char *const *names, size_t nr)
{
	static const struct pd_attr attr = {.type = PERF_TYPE_SOFTWARE};

	*m = (struct made_report){
		.trace = {.opts = {.path = path}, .evlist = pd_evlist_new()},
		.report = {.tables = {.hists = calloc(nr, sizeof(struct hist)), .nr = nr}},
	};
	m->report.trace = &m->trace;
	m->report.opts = &m->opts;
	assert_non_null(m->trace.evlist);
	for (size_t i = 0; i < nr; i++) {
		assert_int_equal(pd_evlist_add(m->trace.evlist, &attr, names[i], NULL, 0), 0);
		assert_int_equal(hist_init(&m->report.tables.hists[i], keys, 1), 0);
	}
}

static void made_release(struct made_report *m)
{
	for (size_t i = 0; i < m->report.tables.nr; i++)
		hist_release(&m->report.tables.hists[i]);
	free(m->report.tables.hists);
	pd_evlist_free(m->trace.evlist);
}

static struct hist_entry *made_add(struct made_report *m, size_t event, uint64_t number,
				   uint64_t samples, uint64_t period)
{
	struct hist *h = &m->report.tables.hists[event];
	struct hist_cell cell = {.a = number};
	uint32_t row;

	assert_int_equal(hist_row(h, &cell, &row), 0);
	h->entry[row].samples += samples;
	h->entry[row].self += period;
	h->samples += samples;
	h->period += period;
	return &h->entry[row];
}

static struct diff *made_diff(size_t nr_files, enum diff_order order, size_t by)
{
	struct diff_opts opts = {
		.keys = {&name_key},
		.nr_keys = 1,
		.nr_files = nr_files,
		.confidence = 95,
		.order = order,
		.order_by = by,
		.weight = {1, 2},
	};
	struct diff *d = diff_new(&opts);

	assert_non_null(d);
	return d;
}

/* Returns the number of the row with that name, or UINT32_MAX. */
static uint32_t row_of(const struct diff_event *e, int number)
{
	char name[16];

	snprintf(name, sizeof(name), "row %d", number);
	for (uint32_t i = 0; i < e->nr; i++)
		if (!strcmp(e->cell[i], name))
			return i;
	return UINT32_MAX;
}

/* Each sample of each report is in one row, and totals are the sums of the rows. */
static void test_join(void **state)
{
	static const char *const one[] = {"cycles", "faults"}, *const two[] = {"faults", "cycles"};
	uint64_t samples[FILES][2][50] = {0}, period[FILES][2][50] = {0};
	struct diff *d = made_diff(FILES, DIFF_DELTA_ABS, 1);
	uint32_t seed = 5;

	for (size_t f = 0; f < FILES; f++) {
		struct made_report m;

		made_init(&m, "file", f % 2 ? two : one, 2);
		for (int i = 0; i < 400; i++) {
			size_t event = rnd(&seed) % 2, number = rnd(&seed) % 50;
			uint64_t n = 1 + rnd(&seed) % 5, p = rnd(&seed) % 1000;

			made_add(&m, event, number, n, p);
			/* the second file has its events in the other order */
			samples[f][event ^ f % 2][number] += n;
			period[f][event ^ f % 2][number] += p;
		}
		assert_int_equal(diff_add(d, &m.report), 0);
		made_release(&m); /* the diff outlives it */
	}
	assert_int_equal(diff_finish(d), 0);
	assert_int_equal(d->nr_events, 2);
	for (size_t e = 0; e < 2; e++) {
		const struct diff_event *event = &d->event[e];
		struct diff_weight sum[FILES] = {0};

		assert_string_equal(event->name, one[e]);
		for (int number = 0; number < 50; number++) {
			uint32_t row = row_of(event, number);

			for (size_t f = 0; f < FILES; f++) {
				if (row == UINT32_MAX) {
					assert_int_equal(samples[f][e][number], 0);
					continue;
				}
				assert_int_equal(diff_weight(d, event, row, f)->samples,
						 samples[f][e][number]);
				assert_int_equal(diff_weight(d, event, row, f)->period,
						 period[f][e][number]);
				sum[f].samples += samples[f][e][number];
				sum[f].period += period[f][e][number];
			}
		}
		for (size_t f = 0; f < FILES; f++) {
			assert_int_equal(event->total[f].samples, sum[f].samples);
			assert_int_equal(event->total[f].period, sum[f].period);
		}
	}
	diff_free(d);
}

static void fill_two(struct diff *d)
{
	static const char *const names[] = {"cycles"};
	/* row, samples before and after; each has the period 10 */
	static const uint64_t rows[][3] = {
		{1, 500, 400}, {2, 100, 250}, {3, 390, 345}, {4, 10, 0}, {5, 0, 5}};

	for (size_t f = 0; f < 2; f++) {
		struct made_report m;

		made_init(&m, "file", names, 1);
		for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
			if (rows[i][1 + f])
				made_add(&m, 0, rows[i][0], rows[i][1 + f], rows[i][1 + f] * 10);
		assert_int_equal(diff_add(d, &m.report), 0);
		made_release(&m);
	}
	assert_int_equal(diff_finish(d), 0);
}

static void check_order(enum diff_order order, size_t by, const int *expected)
{
	struct diff *d = made_diff(2, order, by);

	fill_two(d);
	assert_int_equal(d->event[0].nr, 5);
	for (size_t i = 0; i < 5; i++)
		assert_int_equal(d->event[0].order[i], row_of(&d->event[0], expected[i]));
	diff_free(d);
}

static void test_order(void **state)
{
	check_order(DIFF_DELTA_ABS, 1, (const int[]){2, 1, 3, 4, 5});
	check_order(DIFF_DELTA, 1, (const int[]){2, 5, 4, 3, 1});
	check_order(DIFF_RATIO, 1, (const int[]){2, 3, 1, 4, 5});
	check_order(DIFF_WDIFF, 1, (const int[]){2, 1, 3, 5, 4});
	check_order(DIFF_DELTA, 0, (const int[]){1, 3, 2, 4, 5});
}

/* Values and marks of known rows. */
static void test_changes(void **state)
{
	struct diff *d = made_diff(2, DIFF_DELTA_ABS, 1);
	const struct diff_event *e;
	struct significance_counts c = {.part = {100, 250}, .all = {1000, 1000}};
	uint32_t two, four, five;

	fill_two(d);
	e = &d->event[0];
	two = row_of(e, 2);
	four = row_of(e, 4);
	five = row_of(e, 5);
	assert_true(diff_delta(d, e, two, 1) == 15);
	assert_true(diff_ratio(d, e, two, 1) == 2.5);
	assert_true(diff_wdiff(d, e, two, 1) == 4000);
	assert_true(diff_change(d, e, two, 1)->p == significance_p(&c));
	assert_true(diff_change(d, e, two, 1)->changed);
	assert_true(diff_change(d, e, row_of(e, 1), 1)->changed);
	assert_true(diff_ratio(d, e, four, 1) < 0);
	assert_true(diff_ratio(d, e, five, 1) < 0);
	assert_true(diff_change(d, e, four, 1)->changed); /* 10 of 1000, and then 0 */
	assert_false(diff_change(d, e, five, 1)->changed);
	assert_int_equal(e->verdict[1].rows, 5);
	assert_int_equal(e->verdict[1].changed, 4);
	diff_free(d);
}

/* More samples, but a smaller share of the periods: no mark, because it would contradict the row.
 */
static void test_directions(void **state)
{
	static const char *const names[] = {"cycles"};
	struct diff *d = made_diff(2, DIFF_DELTA_ABS, 1);

	for (size_t f = 0; f < 2; f++) {
		struct made_report m;

		made_init(&m, "file", names, 1);
		made_add(&m, 0, 1, f ? 400 : 100, f ? 1000 : 5000);
		made_add(&m, 0, 2, 600, 5000);
		assert_int_equal(diff_add(d, &m.report), 0);
		made_release(&m);
	}
	assert_int_equal(diff_finish(d), 0);
	assert_true(diff_change(d, &d->event[0], 0, 1)->corrected < 1e-6);
	assert_false(diff_change(d, &d->event[0], 0, 1)->changed);
	assert_int_equal(d->event[0].verdict[1].changed, 0);
	diff_free(d);
}

/* Events and samples that only one recording has. */
static void test_missing(void **state)
{
	static const char *const cycles[] = {"cycles"}, *const faults[] = {"faults"};
	struct diff *d = made_diff(2, DIFF_RATIO, 1);
	struct made_report m;

	made_init(&m, "a", cycles, 1);
	made_add(&m, 0, 1, 5, 5);
	assert_int_equal(diff_add(d, &m.report), 0);
	made_release(&m);
	made_init(&m, "b", faults, 1);
	made_add(&m, 0, 1, 5, 5);
	assert_int_equal(diff_add(d, &m.report), 0);
	made_release(&m);
	assert_int_equal(diff_finish(d), 0);
	assert_int_equal(d->nr_events, 2);
	for (size_t e = 0; e < 2; e++) {
		assert_false(diff_comparable(d, &d->event[e]));
		assert_int_equal(d->event[e].verdict[1].changed, 0);
	}
	assert_string_equal(d->files[1].path, "b");
	diff_free(d);
	diff_free(NULL);
}

/* --- stacks --- */

static const struct symbol symbols[] = {
	{0x10, 0x20, "main"}, {0x20, 0x30, "a"}, {0x30, 0x40, "b"}, {0x40, 0x50, "a"}};

/* Adds chains, each a string of the digits of symbols with the innermost first; '-' has none. */
static void add_chains(struct made_report *m, uint64_t row, const char *const *chains)
{
	struct hist *h = &m->report.tables.hists[0];

	for (; *chains; chains++) {
		struct frame frame[8] = {0};
		struct hist_entry *e = made_add(m, 0, row, 1, 7);
		size_t nr = strlen(*chains);
		uint32_t root;

		for (size_t i = 0; i < nr; i++)
			if ((*chains)[i] != '-')
				frame[i].sym = &symbols[(*chains)[i] - '0'];
		if (!nr)
			continue;
		assert_int_equal(hist_tree(h, (uint32_t)(e - h->entry), &root), 0);
		assert_int_equal(callgraph_add(&h->graph, root, frame, nr, CALLGRAPH_CALLER, 7, 1),
				 0);
	}
}

static int put_stack(const char *const *name, size_t depth, const uint64_t *samples, void *arg)
{
	struct buf *out = arg;

	for (size_t i = 0; i < depth; i++)
		buf_printf(out, "%s%s", i ? ";" : "", name[i]);
	return buf_printf(out, " %d %d\n", (int)samples[0], (int)samples[1]);
}

static void test_stacks(void **state)
{
	static const char *const names[] = {"cycles"};
	/* Symbol 3 is another function of the name of symbol 1. */
	static const char *const before[] = {"10", "10", "210", "0", "", "-0", NULL};
	static const char *const after[] = {"30", "210", "210", "20", "--0", NULL};
	struct stacks *s;
	struct buf out = {0};

	assert_int_equal(stacks_new(2, &s), 0);
	for (size_t f = 0; f < 2; f++) {
		struct made_report m;

		made_init(&m, "file", names, 1);
		add_chains(&m, 1, f ? after : before);
		add_chains(&m, 2, before);
		assert_int_equal(stacks_add(s, &m.report), 0);
		made_release(&m);
	}
	assert_int_equal(stacks_events(s), 1);
	assert_int_equal(stacks_walk(s, put_stack, &out), 0);
	assert_int_equal(buf_zero(&out, 1), 0);
	assert_string_equal((const char *)out.data, "cycles;row 1 1 0\n"
						    "cycles;row 1;main 1 0\n"
						    "cycles;row 1;main;[unknown] 1 0\n"
						    "cycles;row 1;main;[unknown];[unknown] 0 1\n"
						    "cycles;row 1;main;a 2 1\n"
						    "cycles;row 1;main;a;b 1 2\n"
						    "cycles;row 1;main;b 0 1\n"
						    "cycles;row 2 1 1\n"
						    "cycles;row 2;main 1 1\n"
						    "cycles;row 2;main;[unknown] 1 1\n"
						    "cycles;row 2;main;a 2 2\n"
						    "cycles;row 2;main;a;b 1 1\n");
	buf_release(&out);
	stacks_free(s);
	stacks_free(NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_join),	cmocka_unit_test(test_order),
		cmocka_unit_test(test_changes), cmocka_unit_test(test_directions),
		cmocka_unit_test(test_missing), cmocka_unit_test(test_stacks),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
