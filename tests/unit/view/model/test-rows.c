// SPDX-License-Identifier: Apache-2.0
/* Lines of tables and of open trees, against a walk over all nodes; zooms, expressions, flames. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "view/model/code.h"
#include "view/model/flame.h"

#define ROWS  60
#define CHAIN 6

static const struct symbol symbols[6] = {
	{0x10, 0x20, "alpha"}, {0x20, 0x30, "beta"},  {0x30, 0x40, "gamma"},
	{0x40, 0x50, "delta"}, {0x50, 0x60, "Beta2"}, {0x60, 0x70, "zeta"},
};

/* A generator of its own, so that a failure repeats. */
static uint32_t rnd(uint32_t *seed)
{
	*seed = *seed * 1664525u + 1013904223u;
	return *seed >> 8;
}

static int no_cell(const struct key_source *src, struct hist_cell *ret)
{
	(void)src;
	*ret = (struct hist_cell){0};
	return 0;
}

static int group_text(const struct trace *t, struct hist_cell cell, struct buf *out)
{
	(void)t;
	return buf_printf(out, "group%u", (unsigned int)cell.a);
}

static const struct sort_key number_key = {.name = "pid", .cell = no_cell, .text = group_text};
static const struct sort_key group_key = {.name = "comm", .cell = no_cell, .text = group_text};

/* A table of made rows. */
struct made_table {
	const struct sort_key *keys[3];
	struct columns columns;
	struct report_opts opts;
	struct hist hist;
	struct trace trace;
	struct report report;
};

static void add_chains(struct hist *h, uint32_t row, uint32_t *seed)
{
	uint32_t root;

	assert_int_equal(hist_tree(h, row, &root), 0);
	for (unsigned int i = 0; i < 1 + rnd(seed) % 6; i++) {
		size_t nr = 1 + rnd(seed) % CHAIN;
		uint64_t period = 1 + rnd(seed) % 50;
		struct frame chain[CHAIN];

		for (size_t k = 0; k < nr; k++) {
			const struct symbol *sym = &symbols[rnd(seed) % 6];

			chain[k] = (struct frame){.sym = sym, .addr = sym->start, .cpumode = 2};
		}
		assert_int_equal(
			callgraph_add(&h->graph, root, chain, nr, CALLGRAPH_CALLER, period, 1), 0);
		h->entry[row].self += period;
		h->entry[row].samples++;
		h->period += period;
		h->samples++;
	}
}

static int make(void **state)
{
	struct made_table *m = calloc(1, sizeof(*m));
	struct pd_attr attr = {.size = 128};
	uint64_t id = 1;
	uint32_t seed = 11;

	m->keys[0] = &group_key;
	m->keys[1] = sort_key_find("sym", 3);
	m->keys[2] = &number_key;
	m->columns.nr_shown = 2;
	m->columns.shown[0].field = field_find("overhead", 8);
	m->columns.shown[1].key = m->keys[1];
	m->opts.graph = REPORT_GRAPH_CALLER;
	m->trace.evlist = pd_evlist_new();
	assert_int_equal(pd_evlist_add(m->trace.evlist, &attr, "event", &id, 1), 0);
	assert_int_equal(hist_init(&m->hist, m->keys, 3), 0);
	for (unsigned int i = 0; i < ROWS; i++) {
		const struct hist_cell cells[3] = {
			{i % 3, 0}, {(uintptr_t)&symbols[i % 6], 2}, {i, 0}};
		uint32_t row;

		assert_int_equal(hist_row(&m->hist, cells, &row), 0);
		m->hist.entry[row].root = CALLGRAPH_NONE;
		if (i % 5)
			add_chains(&m->hist, row, &seed);
	}
	m->report = (struct report){.trace = &m->trace,
				    .opts = &m->opts,
				    .columns = &m->columns,
				    .tables = {.hists = &m->hist, .nr = 1}};
	*state = m;
	return 0;
}

static int unmake(void **state)
{
	struct made_table *m = *state;

	hist_release(&m->hist);
	pd_evlist_free(m->trace.evlist);
	free(m);
	return 0;
}

static void show_all(struct rows *r, const struct rows_zoom *zooms, size_t nr,
		     const struct view_match *match)
{
	int rc;

	rows_choose(r, zooms, nr, match);
	while (!(rc = rows_step(r, 7)))
		;
	assert_int_equal(rc, 1);
}

/* Counts the lines of the open part below @n, and compares each with rows_at(). */
static uint64_t check_below(struct rows *r, uint32_t n, uint64_t line, size_t at)
{
	const struct callgraph *g = rows_graph(r);
	uint64_t before = line;

	for (uint32_t c = g->node[n].child; c != CALLGRAPH_NONE; c = g->node[c].sibling) {
		struct rows_line l;

		assert_true(rows_at(r, line, &l));
		assert_int_equal(l.node, c);
		assert_int_equal(l.at, at);
		assert_int_equal(l.is_open, r->open[c]);
		assert_true(rows_parent_of(r, line) < line);
		line++;
		if (r->open[c])
			line += check_below(r, c, line, at);
	}
	return line - before;
}

/* Every line is the one that a walk over all rows and open nodes meets. */
static void check_lines(struct rows *r)
{
	struct rows_line l;
	uint64_t line = 0;

	for (size_t at = 0; at < r->nr_shown; at++) {
		const struct hist_entry *e = &r->hist->entry[r->shown[at]];

		assert_true(rows_at(r, line, &l));
		assert_int_equal(l.at, at);
		assert_int_equal(l.node, CALLGRAPH_NONE);
		assert_ptr_equal(l.entry, e);
		assert_int_equal(rows_line_of(r, at), line);
		line++;
		if (e->root != CALLGRAPH_NONE && r->open[e->root])
			line += check_below(r, e->root, line, at);
	}
	assert_int_equal(rows_count(r), line);
	assert_false(rows_at(r, line, &l));
}

static void test_open_and_close_at_random(void **state)
{
	struct made_table *m = *state;
	struct rows r;
	uint32_t seed = 5;

	assert_int_equal(rows_init(&r, &m->report, 0, 0), 0);
	show_all(&r, NULL, 0, NULL);
	assert_int_equal(rows_count(&r), ROWS);
	for (int i = 0; i < 400; i++) {
		uint64_t line = rnd(&seed) % rows_count(&r);

		assert_int_equal(rows_open(&r, line, rnd(&seed) % 3, rnd(&seed) % 4 == 0), 0);
		check_lines(&r);
		if (i == 200)
			assert_int_equal(rows_open_all(&r, true), 0);
		if (i == 300)
			assert_int_equal(rows_open_all(&r, false), 0);
	}
	/* What is open stays open where other rows are chosen. */
	assert_int_equal(rows_open_all(&r, true), 0);
	assert_int_equal(rows_count(&r), ROWS + m->hist.graph.nr - (ROWS - ROWS / 5));
	show_all(&r, NULL, 0, NULL);
	check_lines(&r);
	rows_release(&r);
}

/* What was open in one table is open in the next one of the same rows. */
static void test_open_rows_stay_open(void **state)
{
	struct made_table *m = *state;
	struct buf names = {0};
	struct rows a, b;
	uint64_t lines;

	assert_int_equal(rows_init(&a, &m->report, 0, 0), 0);
	show_all(&a, NULL, 0, NULL);
	assert_int_equal(rows_open(&a, 7, true, true), 0);
	assert_int_equal(rows_open(&a, 3, true, false), 0);
	assert_int_equal(rows_open(&a, 1, true, true), 0);
	lines = rows_count(&a);
	assert_true(lines > ROWS + 3);
	assert_int_equal(rows_opened_names(&a, &names), 0);
	assert_int_equal(rows_init(&b, &m->report, 0, 0), 0);
	show_all(&b, NULL, 0, NULL);
	assert_int_equal(rows_open_names(&b, &names), 0);
	assert_int_equal(rows_count(&b), lines);
	check_lines(&b);
	buf_release(&names);
	rows_release(&a);
	rows_release(&b);
}

static void test_zooms_and_expressions(void **state)
{
	struct made_table *m = *state;
	struct rows_zoom zoom = {&group_key, (char *)(uintptr_t) "group1"};
	struct view_match match = {0};
	struct error err = ERROR_INIT;
	struct rows r;

	assert_int_equal(rows_init(&r, &m->report, 0, 0), 0);
	show_all(&r, &zoom, 1, NULL);
	assert_int_equal(r.nr_shown, ROWS / 3);
	for (size_t i = 0; i < r.nr_shown; i++)
		assert_int_equal(hist_cells(&m->hist, &m->hist.entry[r.shown[i]])[0].a, 1);
	assert_int_equal(match_set(&match, "^(beta|al)", &err), 0);
	show_all(&r, NULL, 0, &match);
	assert_int_equal(r.nr_shown, ROWS / 2); /* alpha, beta, Beta2 */
	assert_int_equal(match_set(&match, "Beta", &err), 0);
	show_all(&r, NULL, 0, &match);
	assert_int_equal(r.nr_shown, ROWS / 6);
	assert_int_equal(match_set(&match, "a(", &err), -EINVAL);
	assert_string_equal(match.text, "Beta"); /* as before */
	show_all(&r, &zoom, 1, &match);
	check_lines(&r);
	match_release(&match);
	rows_release(&r);
}

/* The boxes of a depth neither overlap nor leave the box above. */
static void check_boxes(const struct flame *f)
{
	for (size_t i = 1; i < f->nr; i++) {
		const struct flame_box *b = &f->box[i], *before = &f->box[i - 1];
		const struct flame_box *up = flame_box_of(f, f->graph.node[b->node].parent);

		assert_true(b->width >= 1 && b->x + b->width <= f->width);
		assert_true(b->depth >= before->depth);
		if (b->depth == before->depth)
			assert_true(b->x >= before->x + before->width);
		assert_non_null(up);
		assert_true(b->x >= up->x && b->x + b->width <= up->x + up->width);
	}
}

static void test_flame(void **state)
{
	struct made_table *m = *state;
	struct view_match match = {0};
	struct flame f = {0};
	struct rows r;
	uint32_t seed = 3;

	assert_int_equal(rows_init(&r, &m->report, 0, 0), 0);
	show_all(&r, NULL, 0, NULL);
	assert_int_equal(flame_build(&f, &r), 0);
	assert_int_equal(f.graph.node[f.root].total, m->hist.period);
	for (unsigned int width = 1; width < 300; width += 7) {
		assert_int_equal(flame_layout(&f, width), 0);
		assert_int_equal(f.box[0].width, width);
		check_boxes(&f);
	}
	for (int i = 0; i < 300; i++) {
		flame_go(&f, (enum flame_move)(rnd(&seed) % 4));
		assert_true(f.at < f.graph.nr);
		if (i % 20 == 0)
			assert_int_equal(flame_zoom(&f, f.at), 0);
		assert_non_null(flame_box_of(&f, f.zoom));
		check_boxes(&f);
	}
	assert_int_equal(match_set(&match, "nothing of the kind", NULL), 0);
	assert_int_equal(flame_matched(&f, &match), 0);
	assert_int_equal(match_set(&match, "", NULL), 0);
	assert_int_equal(flame_matched(&f, &match), m->hist.period);
	match_release(&match);
	flame_release(&f);
	rows_release(&r);
}

/* The code of an inlined function is that of the function around it, in either order of chains. */
static void test_owner_of_inlined_code(void **state)
{
	static const struct symbol inlined = {0, 0, "inlined"};
	const struct frame chain[] = {{.sym = &inlined, .addr = 1, .cpumode = 2},
				      {.sym = &symbols[0], .addr = 2, .cpumode = 2},
				      {.sym = &symbols[1], .addr = 3, .cpumode = 2}};

	(void)state;
	for (int callee = 0; callee < 2; callee++) {
		enum report_graph order = callee ? REPORT_GRAPH_CALLEE : REPORT_GRAPH_CALLER;
		struct callgraph g = {0};
		uint32_t root, n, owner;

		assert_int_equal(callgraph_root(&g, &root), 0);
		assert_int_equal(callgraph_add(&g, root, chain, 3,
					       callee ? CALLGRAPH_CALLEE : CALLGRAPH_CALLER, 1, 1),
				 0);
		for (n = 0; g.node[n].sym != &inlined; n++)
			assert_true(n + 1 < g.nr);
		owner = code_owner(&g, n, order);
		assert_ptr_equal(g.node[owner].sym, &symbols[0]);
		assert_int_equal(code_owner(&g, owner, order), owner);
		callgraph_release(&g);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_open_and_close_at_random, make, unmake),
		cmocka_unit_test_setup_teardown(test_open_rows_stay_open, make, unmake),
		cmocka_unit_test_setup_teardown(test_zooms_and_expressions, make, unmake),
		cmocka_unit_test_setup_teardown(test_flame, make, unmake),
		cmocka_unit_test(test_owner_of_inlined_code),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
