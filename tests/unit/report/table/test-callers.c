// SPDX-License-Identifier: Apache-2.0
/* Rows of --children and their trees, against a simple count. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <string.h>

#include "report/table/callers.h"

#define CHAIN_MAX 8
#define ROWS_MAX  128

static const struct symbol symbols[6] = {
	{0x10, 0x20, "a"}, {0x20, 0x30, "b"}, {0x30, 0x40, "c"},
	{0x40, 0x50, "d"}, {0x50, 0x60, "e"}, {0x60, 0x70, "f"},
};

/* A small generator of its own, so that a failure repeats. */
static uint32_t rnd(uint32_t *seed)
{
	*seed = *seed * 1664525u + 1013904223u;
	return *seed >> 8;
}

static int cpu_cell(const struct key_source *src, struct hist_cell *ret)
{
	*ret = (struct hist_cell){.a = src->ws->s.cpu};
	return 0;
}

static int place_cell(const struct key_source *src, struct hist_cell *ret)
{
	*ret = (struct hist_cell){.a = (uintptr_t)src->frame->sym, .b = src->frame->addr};
	return 0;
}

static const struct sort_key cpu_key = {.name = "cpu", .cell = cpu_cell};
static const struct sort_key place_key = {.name = "place", .of_frame = true, .cell = place_cell};
static const struct sort_key *const keys[] = {&cpu_key, &place_key};

struct sample {
	struct frame own, chain[CHAIN_MAX]; /* innermost first */
	size_t nr;
	uint32_t cpu;
	uint64_t period;
};

static struct frame make_frame(uint32_t *seed)
{
	const struct symbol *sym = &symbols[rnd(seed) % 6];

	return (struct frame){
		.sym = rnd(seed) % 4 ? sym : NULL,
		.addr = sym->start,
		.cpumode = PERF_RECORD_MISC_USER,
	};
}

/* Recursion, samples without a chain, and chains truncated on the side of the sample. */
static struct sample make_sample(uint32_t *seed)
{
	struct sample s = {.cpu = rnd(seed) % 2, .period = rnd(seed) % 20};

	s.nr = rnd(seed) % CHAIN_MAX;
	for (size_t i = 0; i < s.nr; i++)
		s.chain[i] = make_frame(seed);
	s.own = s.nr && rnd(seed) % 5 ? s.chain[0] : make_frame(seed);
	return s;
}

static struct hist_cell frame_cell(const struct frame *f)
{
	/* as of a node: a symbol's own address */
	return (struct hist_cell){(uintptr_t)f->sym, f->sym ? f->sym->start : f->addr};
}

/* What a row should be. */
struct model {
	struct callgraph graph;
	struct row {
		uint32_t cpu, root;
		struct hist_cell place;
		uint64_t self, children, samples;
	} row[ROWS_MAX];
	size_t nr;
};

static struct row *model_row(struct model *m, uint32_t cpu, const struct frame *f)
{
	struct hist_cell place = frame_cell(f);

	for (size_t i = 0; i < m->nr; i++)
		if (m->row[i].cpu == cpu && m->row[i].place.a == place.a &&
		    m->row[i].place.b == place.b)
			return &m->row[i];
	assert_true(m->nr < ROWS_MAX);
	m->row[m->nr] = (struct row){.cpu = cpu, .place = place};
	assert_int_equal(callgraph_root(&m->graph, &m->row[m->nr].root), 0);
	return &m->row[m->nr++];
}

static void model_add(struct model *m, const struct sample *s, enum callgraph_order order)
{
	struct row *own = model_row(m, s->cpu, &s->own), *seen[CHAIN_MAX + 1] = {own};
	size_t nr_seen = 1;

	own->self += s->period;
	own->children += s->period;
	own->samples++;
	if (s->nr)
		callgraph_add(&m->graph, own->root, s->chain, s->nr, order, s->period, 1);
	for (size_t k = 0; k < s->nr; k++) {
		size_t i = order == CALLGRAPH_CALLER ? s->nr - 1 - k : k, j = 0;
		struct row *row = model_row(m, s->cpu, &s->chain[i]);

		while (j < nr_seen && seen[j] != row)
			j++;
		if (j < nr_seen)
			continue;
		seen[nr_seen++] = row;
		row->children += s->period;
		if (order == CALLGRAPH_CALLER)
			callgraph_add(&m->graph, row->root, s->chain, i + 1, order, s->period, 1);
		else
			callgraph_add(&m->graph, row->root, s->chain + i, s->nr - i, order,
				      s->period, 1);
	}
}

/* The same as far as it is drawn. */
static void same_tree(const struct callers_bounds *bounds, const struct callgraph *a, uint32_t x,
		      const struct callgraph *b, uint32_t y)
{
	const struct callgraph_node *p = &a->node[x], *q = &b->node[y];
	uint32_t i = p->child, k = q->child;

	assert_int_equal(p->total, q->total);
	assert_int_equal(p->samples, q->samples);
	assert_int_equal(p->self, q->self);
	for (; i != CALLGRAPH_NONE && k != CALLGRAPH_NONE;
	     i = a->node[i].sibling, k = b->node[k].sibling) {
		assert_ptr_equal(a->node[i].sym, b->node[k].sym);
		assert_int_equal(a->node[i].addr, b->node[k].addr);
		assert_int_equal(a->node[i].total, b->node[k].total);
		assert_int_equal(a->node[i].samples, b->node[k].samples);
		if (callers_wanted(bounds, p, &a->node[i]))
			same_tree(bounds, a, i, b, k);
	}
	assert_int_equal(i, CALLGRAPH_NONE);
	assert_int_equal(k, CALLGRAPH_NONE);
}

static void check_rows(struct callers *c, const struct hist *h, struct model *m,
		       const struct callers_bounds *bounds)
{
	struct callgraph tree = {0};

	assert_int_equal(h->nr, m->nr);
	for (size_t i = 0; i < h->nr; i++) {
		const struct hist_entry *e = &h->entry[i];
		const struct hist_cell *cells = hist_cells(h, e);
		const struct frame place = {.sym = (void *)(uintptr_t)cells[1].a,
					    .addr = cells[1].b};
		const struct row *row = model_row(m, cells[0].a, &place);
		uint32_t root;

		assert_int_equal(e->self, row->self);
		assert_int_equal(e->children, row->children);
		assert_int_equal(e->samples, row->samples);
		assert_int_equal(hist_more(h, e, HIST_LATENCY), 3 * row->self);
		assert_int_equal(hist_more(h, e, HIST_LATENCY_CHILDREN), 3 * row->children);
		assert_int_equal(callers_tree(c, e, bounds, &tree, &root), 0);
		if (root == CALLGRAPH_NONE)
			assert_int_equal(m->graph.node[row->root].samples, 0);
		else
			same_tree(bounds, &tree, root, &m->graph, row->root);
	}
	callgraph_release(&tree);
}

static void check(enum callgraph_order order, double percent, bool fractal, uint32_t seed)
{
	struct callers_bounds bounds = {.percent = percent, .fractal = fractal};
	struct callers *part[2];
	struct filter none = {0};
	struct model m = {0};
	struct hist h;

	for (int i = 0; i < 2; i++)
		assert_int_equal(callers_new(keys, 2, order, CALLGRAPH_BY_FUNCTION, &part[i]), 0);
	for (int i = 0; i < 300; i++) {
		struct sample s = make_sample(&seed);
		struct walk_sample ws = {.s = {.cpu = s.cpu, .period = s.period}};
		struct key_source src = {.ws = &ws, .frame = &s.own};

		bounds.all += s.period;
		model_add(&m, &s, order);
		assert_int_equal(callers_add(part[i % 2], &src, s.chain, s.nr, 1, 3 * s.period), 0);
	}
	assert_int_equal(callers_merge(part[0], part[1]), 0);
	callers_free(part[1]);
	assert_int_equal(hist_init(&h, keys, 2), 0);
	h.has_more = true;
	assert_int_equal(callers_rows(part[0], NULL, &none, &h), 0);
	assert_int_equal(callgraph_sort(&m.graph), 0);
	/* What was kept of the first time serves the second. */
	check_rows(part[0], &h, &m, &bounds);
	check_rows(part[0], &h, &m, &bounds);
	hist_release(&h);
	callers_free(part[0]);
	callgraph_release(&m.graph);
}

static void test_rows_and_trees(void **state)
{
	for (uint32_t seed = 1; seed < 6; seed++)
		for (int order = CALLGRAPH_CALLER; order <= CALLGRAPH_CALLEE; order++) {
			check(order, 0, false, seed);
			check(order, 1, false, seed);
			check(order, 20, true, seed);
		}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_rows_and_trees),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
