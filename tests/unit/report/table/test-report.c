// SPDX-License-Identifier: Apache-2.0
/* Histograms, call trees, call chains, filters, field lists and escaping. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "data-image.h"
#include "render/text.h"
#include "report/table/report.h"
#include "report/script/script.h"

/* A generator of its own, so that failures repeat. */
static uint32_t rnd(uint32_t *seed)
{
	*seed = *seed * 1664525u + 1013904223u;
	return *seed >> 8;
}

/* --- call trees --- */

/* Sums hold at every node: total = self + totals of the children. */
static void check_tree(const struct callgraph *g)
{
	for (size_t i = 0; i < g->nr; i++) {
		uint64_t total = g->node[i].self;

		for (uint32_t c = g->node[i].child; c != CALLGRAPH_NONE; c = g->node[c].sibling) {
			assert_int_equal(g->node[c].parent, i);
			total += g->node[c].total;
		}
		assert_int_equal(total, g->node[i].total);
	}
}

/* A chain over eight symbols, like recursion in a small program. */
static size_t make_chain(uint32_t *seed, const struct symbol *syms, struct frame *ret)
{
	size_t n = 1 + rnd(seed) % 6;

	for (size_t i = 0; i < n; i++) {
		const struct symbol *sym = &syms[rnd(seed) % 8];

		ret[i] = (struct frame){
			.sym = rnd(seed) % 4 ? sym : NULL,
			.addr = sym->start,
			.cpumode = PERF_RECORD_MISC_USER,
		};
	}
	return n;
}

static const struct symbol symbols[8] = {
	{0x10, 0x20, "a"}, {0x20, 0x30, "b"}, {0x30, 0x40, "c"}, {0x40, 0x50, "d"},
	{0x50, 0x60, "e"}, {0x60, 0x70, "f"}, {0x70, 0x80, "g"}, {0x80, 0x90, "h"},
};

static void test_tree_sums(void **state)
{
	static const enum callgraph_order orders[] = {CALLGRAPH_CALLER, CALLGRAPH_CALLEE};

	for (size_t o = 0; o < 2; o++) {
		struct callgraph g = {0};
		struct frame chain[8];
		uint32_t root, seed = 7;
		uint64_t sum = 0;

		assert_int_equal(callgraph_root(&g, &root), 0);
		for (int i = 0; i < 300; i++) {
			uint64_t period = rnd(&seed) % 100;
			size_t n = make_chain(&seed, symbols, chain);

			assert_int_equal(callgraph_add(&g, root, chain, n, orders[o], period, 1),
					 0);
			sum += period;
			assert_int_equal(g.node[root].total, sum);
			assert_int_equal(g.node[root].samples, i + 1);
			check_tree(&g);
		}
		assert_int_equal(callgraph_sort(&g), 0);
		check_tree(&g);
		for (size_t i = 0; i < g.nr; i++)
			if (g.node[i].sibling != CALLGRAPH_NONE)
				assert_true(g.node[i].total >= g.node[g.node[i].sibling].total);
		callgraph_release(&g);
	}
}

/* The same path is the same nodes, and the order of a chain decides what the root's child is. */
static void test_tree_paths(void **state)
{
	struct frame chain[] = {{.sym = &symbols[0]}, {.sym = &symbols[1]}, {.sym = &symbols[2]}};
	struct callgraph g = {0};
	uint32_t root, first;

	assert_int_equal(callgraph_root(&g, &root), 0);
	assert_int_equal(callgraph_add(&g, root, chain, 3, CALLGRAPH_CALLER, 5, 1), 0);
	assert_int_equal(callgraph_add(&g, root, chain, 3, CALLGRAPH_CALLER, 5, 1), 0);
	assert_int_equal(g.nr, 4);
	first = g.node[root].child;
	assert_ptr_equal(g.node[first].sym, &symbols[2]);
	assert_int_equal(g.node[first].total, 10);
	assert_int_equal(g.node[first].self, 0);
	callgraph_release(&g);
}

/* --- histograms --- */

static int number_cell(const struct key_source *src, struct hist_cell *ret)
{
	*ret = (struct hist_cell){.a = src->ws->s.tid};
	return 0;
}

static int string_cell(const struct key_source *src, struct hist_cell *ret)
{
	ret->a = (uintptr_t)strpool_intern(src->names->pool, src->comm);
	ret->b = 0;
	return ret->a ? 0 : -ENOMEM;
}

static int compare_numbers(const struct trace *t, struct hist_cell a, struct hist_cell b)
{
	return a.a < b.a ? -1 : a.a > b.a;
}

static int compare_strings(const struct trace *t, struct hist_cell a, struct hist_cell b)
{
	return strcmp((const char *)(uintptr_t)a.a, (const char *)(uintptr_t)b.a);
}

static const struct sort_key number_key = {
	.name = "number", .header = "Number", .cell = number_cell, .compare = compare_numbers};
static const struct sort_key string_key = {.name = "string",
					   .header = "String",
					   .is_string = true,
					   .cell = string_cell,
					   .compare = compare_strings};
static const struct sort_key *const test_keys[] = {&number_key, &string_key};

static void add_sample(struct hist *h, uint32_t *seed)
{
	static const char *const names[] = {"one", "two", "three", "four", "five"};
	struct walk_sample ws = {.s = {.tid = rnd(seed) % 7, .period = rnd(seed) % 50}};
	struct key_source src = {.ws = &ws, .comm = names[rnd(seed) % 5]};
	struct frame chain[8];
	uint32_t row, root;
	size_t n = make_chain(seed, symbols, chain);

	assert_int_equal(hist_row_of(h, &src, &row), 0);
	h->entry[row].self += ws.s.period;
	h->entry[row].children += ws.s.period;
	h->entry[row].samples++;
	h->period += ws.s.period;
	h->samples++;
	assert_int_equal(hist_tree(h, row, &root), 0);
	assert_int_equal(callgraph_add(&h->graph, root, chain, n, CALLGRAPH_CALLER, ws.s.period, 1),
			 0);
}

static void check_hist(const struct hist *h)
{
	uint64_t period = 0, samples = 0;

	for (size_t i = 0; i < h->nr; i++) {
		period += h->entry[i].self;
		samples += h->entry[i].samples;
		assert_int_equal(h->graph.node[h->entry[i].root].total, h->entry[i].self);
	}
	assert_int_equal(period, h->period);
	assert_int_equal(samples, h->samples);
	check_tree(&h->graph);
}

static void same_subtree(const struct callgraph *a, uint32_t x, const struct callgraph *b,
			 uint32_t y)
{
	assert_int_equal(a->node[x].total, b->node[y].total);
	assert_int_equal(a->node[x].self, b->node[y].self);
	assert_int_equal(a->node[x].samples, b->node[y].samples);
	assert_ptr_equal(a->node[x].sym, b->node[y].sym);
	assert_int_equal(a->node[x].addr, b->node[y].addr);
	x = a->node[x].child;
	y = b->node[y].child;
	for (; x != CALLGRAPH_NONE && y != CALLGRAPH_NONE;
	     x = a->node[x].sibling, y = b->node[y].sibling)
		same_subtree(a, x, b, y);
	assert_int_equal(x, y); /* both at the end */
}

static void same_hist(const struct hist *a, const struct hist *b)
{
	assert_int_equal(a->nr, b->nr);
	for (size_t i = 0; i < a->nr; i++) {
		const struct hist_cell *x = hist_cells(a, &a->entry[i]);
		const struct hist_cell *y = hist_cells(b, &b->entry[i]);

		assert_int_equal(a->entry[i].self, b->entry[i].self);
		assert_int_equal(a->entry[i].samples, b->entry[i].samples);
		assert_int_equal(x[0].a, y[0].a);
		assert_string_equal((const char *)(uintptr_t)x[1].a,
				    (const char *)(uintptr_t)y[1].a);
		same_subtree(&a->graph, a->entry[i].root, &b->graph, b->entry[i].root);
	}
}

/* What workers counted in parts and added up is what one would have counted alone. */
/* Frames of one function at two addresses in three lines; a second object merges to the same. */
static void test_graph_keys(void **state)
{
	static const size_t children[] = {
		[CALLGRAPH_BY_FUNCTION] = 1, [CALLGRAPH_BY_ADDRESS] = 2, [CALLGRAPH_BY_LINE] = 3};
	static const char *lines[] = {"a.c:1", "a.c:2", NULL};
	static char copies[12][8]; /* equal texts at different places */
	static const struct symbol sym = {.name = "f", .start = 0x100, .end = 0x200};

	for (int by = 0; by < 3; by++) {
		struct callgraph g[2] = {{.by = by}, {.by = by}};
		uint32_t root[2];
		size_t nr = 0;

		for (size_t i = 0; i < 2; i++)
			assert_int_equal(callgraph_root(&g[i], &root[i]), 0);
		for (uint64_t i = 0; i < 12; i++) {
			struct inline_chain *chain =
				calloc(1, sizeof(*chain) + sizeof(chain->frame[0]));
			struct frame f = {.sym = &sym, .addr = 0x110 + i % 2, .lines = chain};

			chain->nr = 1;
			if (lines[i % 3])
				chain->frame[0].srcline = strcpy(copies[i], lines[i % 3]);
			assert_int_equal(callgraph_add(&g[i / 6], root[i / 6], &f, 1,
						       CALLGRAPH_CALLER, 1, 1),
					 0);
			free(chain);
		}
		assert_int_equal(callgraph_merge(&g[0], root[0], &g[1], root[1]), 0);
		assert_int_equal(callgraph_sort(&g[0]), 0);
		for (uint32_t c = g[0].node[root[0]].child; c != CALLGRAPH_NONE;
		     c = g[0].node[c].sibling)
			nr++;
		assert_int_equal(nr, children[by]);
		assert_int_equal(g[0].node[root[0]].total, 12);
		callgraph_release(&g[0]);
		callgraph_release(&g[1]);
	}
}

static void test_merge(void **state)
{
	struct hist whole, part[3], sum;
	uint32_t seed = 99, again = 99;

	assert_int_equal(hist_init(&whole, test_keys, 2), 0);
	assert_int_equal(hist_init(&sum, test_keys, 2), 0);
	for (int i = 0; i < 3; i++)
		assert_int_equal(hist_init(&part[i], test_keys, 2), 0);
	for (int i = 0; i < 600; i++) {
		add_sample(&whole, &seed);
		add_sample(&part[i % 3], &again);
		if (i % 50 == 0)
			check_hist(&whole);
	}
	for (int i = 2; i >= 0; i--) {
		assert_int_equal(hist_merge(&sum, &part[i]), 0);
		check_hist(&sum);
		hist_release(&part[i]); /* the sum must not point into it */
	}
	assert_int_equal(hist_sort(&whole, NULL, false), 0);
	assert_int_equal(hist_sort(&sum, NULL, false), 0);
	same_hist(&whole, &sum);
	for (size_t i = 1; i < whole.nr; i++)
		assert_true(whole.entry[i - 1].self >= whole.entry[i].self);
	hist_release(&whole);
	hist_release(&sum);
}

/* --- call chains --- */

struct chain_fixture {
	struct trace trace;
	struct frames frames;
	struct pd_evsel evsel;
	struct data_record rec;
	struct walk_sample ws;
};

static void chain_setup(struct chain_fixture *f)
{
	struct resolver_opts opts = {0};

	memset(f, 0, sizeof(*f));
	f->trace.state = state_new();
	assert_non_null(f->trace.state);
	assert_int_equal(state_finish(f->trace.state), 0);
	assert_int_equal(resolver_new(&opts, &f->trace.resolver, NULL), 0);
	assert_int_equal(frames_init(&f->frames, &f->trace), 0);
	f->ws = (struct walk_sample){.rec = &f->rec, .evsel = &f->evsel};
	f->ws.s.type = PERF_SAMPLE_IP | PERF_SAMPLE_CALLCHAIN;
	f->ws.s.ip = 0x1111;
	f->ws.s.cpumode = PERF_RECORD_MISC_KERNEL;
}

static void chain_teardown(struct chain_fixture *f)
{
	frames_release(&f->frames);
	resolver_free(f->trace.resolver);
	state_free(f->trace.state);
}

static void test_chain_modes(void **state)
{
	static const uint64_t chain[] = {PERF_CONTEXT_KERNEL, 0x1111, 0x2222, PERF_CONTEXT_USER,
					 0x3333};
	struct chain_fixture f;

	chain_setup(&f);
	f.ws.s.callchain = chain;
	f.ws.s.callchain_nr = 5;
	assert_int_equal(frames_of_sample(&f.frames, &f.ws, 127), 0);
	assert_int_equal(f.frames.nr, 3);
	assert_int_equal(f.frames.frame[1].ip, 0x2222);
	assert_int_equal(f.frames.frame[1].cpumode, PERF_RECORD_MISC_KERNEL);
	assert_int_equal(f.frames.frame[2].cpumode, PERF_RECORD_MISC_USER);
	assert_int_equal(frames_of_sample(&f.frames, &f.ws, 2), 0);
	assert_int_equal(f.frames.nr, 2);
	assert_int_equal(f.frames.frame[0].ip, 0x1111);
	f.frames.outermost = true;
	assert_int_equal(frames_of_sample(&f.frames, &f.ws, 2), 0);
	assert_int_equal(f.frames.nr, 2);
	assert_true(f.frames.leafless);
	assert_int_equal(f.frames.frame[0].ip, 0x2222);
	assert_int_equal(f.frames.frame[0].cpumode, PERF_RECORD_MISC_KERNEL);
	assert_int_equal(f.frames.frame[1].cpumode, PERF_RECORD_MISC_USER);
	assert_int_equal(frames_of_sample(&f.frames, &f.ws, 3), 0);
	assert_false(f.frames.leafless);
	assert_int_equal(frames_of_sample(&f.frames, &f.ws, 0), 0);
	assert_int_equal(f.frames.nr, 1);
	assert_false(f.frames.is_chain);
	chain_teardown(&f);
}

static void test_chain_odd(void **state)
{
	static const uint64_t corrupt[] = {PERF_CONTEXT_KERNEL, 0x1111, (uint64_t)-77, 0x2222};
	static const uint64_t empty[] = {PERF_CONTEXT_USER};
	struct chain_fixture f;

	chain_setup(&f);
	f.ws.s.callchain = corrupt;
	f.ws.s.callchain_nr = 4;
	assert_int_equal(frames_of_chain(&f.frames, &f.ws, 127), 0);
	assert_int_equal(f.frames.nr, 0);
	/* a sample still has its address */
	f.ws.s.callchain = empty;
	f.ws.s.callchain_nr = 1;
	assert_int_equal(frames_of_sample(&f.frames, &f.ws, 127), 0);
	assert_int_equal(f.frames.nr, 1);
	assert_int_equal(f.frames.frame[0].ip, 0x1111);
	assert_int_equal(f.frames.frame[0].cpumode, PERF_RECORD_MISC_KERNEL);
	chain_teardown(&f);
}

/* The kernel's map ends before code that runs at boot; a trampoline has a map of its own. */
static void test_behind_the_kernels_map(void **state)
{
	static const char kallsyms[] = "ffffffff81000000 T _text\n"
				       "ffffffff81005000 T start_kernel\n"
				       "ffffffffc0201000 t trampoline\t[__builtin__ftrace]\n";
	struct perf_event_header mmap = {.type = PERF_RECORD_MMAP, .misc = 1};
	struct perf_event_header ksymbol = {.type = PERF_RECORD_KSYMBOL};
	struct pd_record image = {.hdr = &mmap}, own = {.hdr = &ksymbol};
	struct moment at = {1, 1};
	char path[] = "/tmp/test-report-XXXXXX";
	int fd = mkstemp(path);
	struct resolver_opts opts = {.kallsyms = path};
	struct chain_fixture f = {0};
	struct frame frame;

	assert_true(fd >= 0);
	assert_int_equal(write(fd, kallsyms, sizeof(kallsyms) - 1), sizeof(kallsyms) - 1);
	close(fd);
	image.mmap = (struct pd_mmap){.pid = UINT32_MAX,
				      .addr = 0xffffffff81000000,
				      .len = 0x1000,
				      .filename = "[kernel.kallsyms]_text"};
	own.ksymbol = (struct pd_ksymbol){0xffffffffc0201000, 0x1000, 0, 0, "trampoline"};
	f.trace.state = state_new();
	assert_int_equal(state_apply(f.trace.state, &image, at), 0);
	assert_int_equal(state_apply(f.trace.state, &own, at), 0);
	assert_int_equal(state_finish(f.trace.state), 0);
	assert_int_equal(resolver_new(&opts, &f.trace.resolver, NULL), 0);
	assert_int_equal(dso_alias_new(f.trace.state, &f.trace.aliases), 0);
	assert_int_equal(frames_init(&f.frames, &f.trace), 0);
	frames_resolve(&f.frames, 0, PERF_RECORD_MISC_KERNEL, 0xffffffff81005010, at, &frame);
	assert_non_null(frame.sym);
	assert_string_equal(frame.sym->name, "start_kernel");
	assert_int_equal(frame.dso->kind, DSO_KERNEL);
	frames_resolve(&f.frames, 0, PERF_RECORD_MISC_KERNEL, 0xffffffffc0201010, at, &frame);
	assert_int_equal(frame.dso->kind, DSO_KSYMBOL);
	frames_resolve(&f.frames, 0, PERF_RECORD_MISC_KERNEL, 0xffffffffc0202010, at, &frame);
	assert_null(frame.sym);
	assert_null(frame.dso);
	frames_resolve(&f.frames, 0, PERF_RECORD_MISC_KERNEL, 0xffffffffa0000000, at, &frame);
	assert_null(frame.dso);
	dso_alias_free(f.trace.aliases);
	chain_teardown(&f);
	unlink(path);
}

static void map_code(struct state *s, uint64_t addr, const char *path, uint64_t time)
{
	struct perf_event_header hdr = {.type = PERF_RECORD_MMAP2, .misc = PERF_RECORD_MISC_USER};
	struct pd_record rec = {.hdr = &hdr};

	rec.mmap = (struct pd_mmap){
		.pid = 7, .tid = 7, .addr = addr, .len = 0x1000, .prot = 5, .filename = path};
	assert_int_equal(state_apply(s, &rec, (struct moment){time, time}), 0);
}

static void rename_task(struct state *s, bool exec, uint64_t time)
{
	struct perf_event_header hdr = {.type = PERF_RECORD_COMM};
	struct pd_record rec = {.hdr = &hdr};

	rec.comm = (struct pd_comm){.pid = 7, .tid = 7, .exec = exec, .comm = "x"};
	assert_int_equal(state_apply(s, &rec, (struct moment){time, time}), 0);
}

/* Below the kernel is the program that called exec(), until the new one is entered. */
static void test_chain_late_in_exec(void **state)
{
	static const uint64_t chain[] = {PERF_CONTEXT_KERNEL, 0x1111, PERF_CONTEXT_USER, 0x40010,
					 0x40020};
	struct chain_fixture f;

	chain_setup(&f);
	state_free(f.trace.state);
	f.trace.state = state_new();
	map_code(f.trace.state, 0x30000, "/bin/older", 1);
	rename_task(f.trace.state, true, 2);
	map_code(f.trace.state, 0x40000, "/bin/old", 3);
	map_code(f.trace.state, 0x40000, "/bin/later", 4);
	rename_task(f.trace.state, true, 5);
	map_code(f.trace.state, 0x50000, "/bin/new", 6);
	rename_task(f.trace.state, false, 7);
	assert_int_equal(state_finish(f.trace.state), 0);
	assert_int_equal(dso_alias_new(f.trace.state, &f.trace.aliases), 0);
	f.ws.s.pid = 7;
	f.ws.s.callchain = chain;
	f.ws.s.callchain_nr = 5;
	f.rec.at = (struct moment){8, 8};
	assert_int_equal(frames_of_chain(&f.frames, &f.ws, 127), 0);
	assert_int_equal(f.frames.nr, 3);
	assert_non_null(f.frames.frame[1].dso);
	assert_string_equal(f.frames.frame[1].dso->name, "/bin/later");
	assert_int_equal(f.frames.frame[1].addr, 0x10);
	assert_null(f.frames.frame[2].dso); /* no caller of it can be read */
	/* a sample of user space is in the new program, whatever is there */
	f.ws.s.cpumode = PERF_RECORD_MISC_USER;
	f.ws.s.callchain = chain + 2;
	f.ws.s.callchain_nr = 2;
	assert_int_equal(frames_of_chain(&f.frames, &f.ws, 127), 0);
	assert_null(f.frames.frame[0].dso);
	dso_alias_free(f.trace.aliases);
	chain_teardown(&f);
}

/* With a hardware call stack the user part is made of the branches. */
static void test_chain_lbr(void **state)
{
	static const uint64_t chain[] = {PERF_CONTEXT_KERNEL, 0x1111, PERF_CONTEXT_USER, 0x3333,
					 0x4444};
	static const struct pd_branch branches[] = {{0x50, 0x60, 0}, {0x70, 0x80, 0}};
	static const uint64_t expected[] = {0x1111, 0x3333, 0x50, 0x70};
	static const uint64_t user_chain[] = {PERF_CONTEXT_USER, 0x3337, 0x4444};
	struct chain_fixture f;

	chain_setup(&f);
	f.evsel.attr.branch_sample_type = PERF_SAMPLE_BRANCH_CALL_STACK;
	f.ws.s.callchain = chain;
	f.ws.s.callchain_nr = 5;
	f.ws.s.branches = branches;
	f.ws.s.branch_nr = 2;
	assert_int_equal(frames_of_chain(&f.frames, &f.ws, 127), 0);
	assert_int_equal(f.frames.nr, 4);
	for (size_t i = 0; i < 4; i++)
		assert_int_equal(f.frames.frame[i].ip, expected[i]);
	/* the kernel's walk ends with the marker */
	f.ws.s.callchain_nr = 3;
	assert_int_equal(frames_of_chain(&f.frames, &f.ws, 127), 0);
	assert_int_equal(f.frames.nr, 4);
	assert_int_equal(f.frames.frame[1].ip, 0x60);
	/* in user space, the sampled address is exact, and the walk may be some instructions off */
	f.ws.s.cpumode = PERF_RECORD_MISC_USER;
	f.ws.s.callchain = user_chain;
	assert_int_equal(frames_of_chain(&f.frames, &f.ws, 127), 0);
	assert_int_equal(f.frames.nr, 3);
	assert_int_equal(f.frames.frame[0].ip, 0x1111);
	assert_int_equal(f.frames.frame[1].ip, 0x50);
	chain_teardown(&f);
}

/* --- what users type --- */

/* C++ names have commas; an overload is named whole, or all of them without parameters. */
static void test_symbol_lists(void **state)
{
	static const struct symbol over = {.name = "ns::over(int, char const*)"};
	static const struct symbol calc = {.name = "double ns::calc<double, int>(double)"};
	const struct frame a = {.sym = &over}, b = {.sym = &calc};
	static const struct {
		const char *list;
		bool a, b;
	} table[] = {
		{"ns::over", true, false},
		{"ns::over(int, char const*)", true, false},
		{"main,ns::over(int, char const*),x", true, false},
		{"ns::over(int)", false, false},
		{"ns::over(int", false, false},
		{"ns::calc<double, int>", false, true},
		{"double ns::calc<double, int>(double),ns::over", true, true},
		{"over", false, false},
	};

	for (size_t i = 0; i < sizeof(table) / sizeof(*table); i++) {
		const struct filter f = {.symbols = table[i].list};

		assert_int_equal(filter_row(&f, NULL, &a), table[i].a);
		assert_int_equal(filter_row(&f, NULL, &b), table[i].b);
	}
}

static void test_sort_keys(void **state)
{
	const struct sort_key *keys[SORT_KEYS_MAX];
	struct error err = ERROR_INIT;

	assert_int_equal(sort_keys_parse("comm,symbol", keys, 0, &err), 2);
	assert_string_equal(keys[1]->name, "sym");
	assert_int_equal(sort_keys_parse("overhead,sym", keys, 0, &err), 1);
	assert_string_equal(keys[0]->name, "sym");
	assert_int_equal(sort_keys_parse("overhead", keys, 0, &err), -EINVAL);
	assert_int_equal(sort_keys_parse("comm,overhead", keys, 0, &err), -EINVAL);
	assert_non_null(strstr(err.text, "overhead is always the first column"));
	assert_int_equal(sort_keys_parse("comm,com", keys, 0, &err), -EINVAL);
	assert_non_null(strstr(err.text, "'com'"));
	assert_int_equal(sort_keys_parse("comm,,dso", keys, 0, &err), -EINVAL);
	assert_int_equal(sort_keys_parse("sym,symbol", keys, 0, &err), -EINVAL);
	assert_int_equal(sort_keys_parse("", keys, 0, &err), -EINVAL);
	assert_int_equal(sort_keys_parse("comm,dso", keys, 0, &err), 2);
	assert_int_equal(sort_keys_parse("+cpu,pid", keys, 2, &err), 4);
	assert_string_equal(keys[1]->name, "dso");
	assert_string_equal(keys[3]->name, "pid");
	assert_int_equal(sort_keys_parse("+dso", keys, 2, &err), -EINVAL);
	assert_int_equal(sort_keys_parse("cpu,+pid", keys, 2, &err), -EINVAL);
	assert_int_equal(sort_keys_parse("+", keys, 2, &err), -EINVAL);
	assert_int_equal(sort_keys_parse("weight,symbol_from", keys, 0, &err), 2);
	assert_string_equal(keys[0]->name, "local_weight");
	assert_true(keys[1]->of_branch);
}

/* Each key is found by its name and its alias; the message about a wrong one is not cut. */
static void test_all_keys(void **state)
{
	const struct sort_key *key, *keys[SORT_KEYS_MAX];
	struct error err = ERROR_INIT;

	assert_int_equal(sort_keys_parse("nonsense", keys, 0, &err), -EINVAL);
	assert_non_null(strstr(err.text, "comm, pid, "));
	assert_non_null(strstr(err.text, "in ringtail-report(1)"));
	for (size_t i = 0; (key = sort_key_at(i)); i++) {
		assert_ptr_equal(sort_key_find(key->name, strlen(key->name)), key);
		if (key->alias)
			assert_ptr_equal(sort_key_find(key->alias, strlen(key->alias)), key);
		assert_true(key->header && key->cell && key->text && key->compare);
	}
}

/* Keys and filters need their field in the samples of some event. */
static void test_needed_fields(void **state)
{
	struct pd_attr attr = {.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_TID};
	const struct sort_key *keys[SORT_KEYS_MAX];
	struct filter cpus = {0}, times = {.start = 1}, pids = {0};
	struct pd_evlist *list = pd_evlist_new();
	struct error err = ERROR_INIT;
	int n = sort_keys_parse("comm,pid,cpu", keys, 0, &err);

	assert_int_equal(filter_ranges_parse("1", &cpus.cpus), 0);
	assert_int_equal(filter_ranges_parse("1", &pids.pids), 0);
	assert_int_equal(filter_check(&cpus, list, &err), 0); /* no events: nothing is missing */
	assert_int_equal(pd_evlist_add(list, &attr, NULL, NULL, 0), 0);
	assert_int_equal(filter_check(&cpus, list, &err), -EINVAL);
	assert_int_equal(filter_check(&times, list, &err), -EINVAL);
	assert_int_equal(filter_check(&pids, list, &err), 0);
	assert_int_equal(sort_keys_check(keys, n, list, &err), -EINVAL);
	assert_int_equal(sort_keys_check(keys, n - 1, list, &err), 0);
	attr.sample_type |= PERF_SAMPLE_CPU | PERF_SAMPLE_TIME;
	assert_int_equal(pd_evlist_add(list, &attr, NULL, NULL, 0), 0);
	assert_int_equal(filter_check(&cpus, list, &err), 0);
	assert_int_equal(filter_check(&times, list, &err), 0);
	assert_int_equal(sort_keys_check(keys, n, list, &err), 0);
	assert_int_equal(sort_keys_parse("weight", keys, 0, &err), 1);
	assert_int_equal(sort_keys_check(keys, 1, list, &err), -EINVAL);
	attr.sample_type = PERF_SAMPLE_WEIGHT_STRUCT; /* or PERF_SAMPLE_WEIGHT */
	assert_int_equal(pd_evlist_add(list, &attr, NULL, NULL, 0), 0);
	assert_int_equal(sort_keys_check(keys, 1, list, &err), 0);
	pd_evlist_free(list);
	filter_release(&cpus);
	filter_release(&pids);
}

/* Parts of the recording's time: each moment is in one of the parts that make the whole. */
static void test_time_parts(void **state)
{
	static const char *const wrong[] = {"%",       "10%/0",	  "10%/11",  "101%", "-1%",
					    "20%-10%", "10%,",	  "10%/2x",  "10%/", "10%-20",
					    "0%",      "10%/2,5", "nan%-10%"};
	struct filter f = {0}, tenth = {0};

	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
		assert_int_equal(filter_time_parse(wrong[i], &f), -EINVAL);
	assert_int_equal(filter_time_parse("0%-10%,50%-100%", &f), 0);
	assert_int_equal(filter_place_parts(&f, 1000, 2000), 0);
	assert_int_equal(f.times.nr, 2);
	assert_int_equal(f.times.r[0].first, 1000);
	assert_int_equal(f.times.r[0].last, 1099);
	assert_int_equal(f.times.r[1].first, 1500);
	assert_int_equal(f.times.r[1].last, 2000);
	for (uint64_t time = 1000; time <= 2000; time++) {
		struct pd_sample s = {.time = time};
		int found = 0;

		assert_int_equal(filter_sample(&f, &s), time < 1100 || time >= 1500);
		for (int i = 1; i <= 10; i++) {
			char text[16];

			snprintf(text, sizeof(text), "10%%/%d", i);
			assert_int_equal(filter_time_parse(text, &tenth), 0);
			assert_int_equal(filter_place_parts(&tenth, 1000, 2000), 0);
			found += filter_sample(&tenth, &s);
		}
		assert_int_equal(found, 1);
	}
	assert_int_equal(filter_time_parse("50%", &f), 0);
	assert_int_equal(filter_place_parts(&f, 0, 100), 0); /* of the next recording */
	assert_int_equal(f.times.nr, 1);
	assert_int_equal(f.times.r[0].last, 49);
	assert_int_equal(filter_time_parse("1,2", &f), 0);
	assert_int_equal(f.nr_parts, 0);
	filter_release(&f);
	filter_release(&tenth);
}

/* Spans leave out their stop, but for the last one, as in perf. */
static void test_time_spans(void **state)
{
	struct filter f = {0};

	assert_false(filter_needs_time(&f));
	assert_true(filter_needs_time(&(struct filter){.times.nr = 1})); /* of --switch-on */
	assert_int_equal(filter_time_parse("1,2 2,3  4,5", &f), 0);
	assert_int_equal(filter_place_parts(&f, 0, 1), 0); /* it has no parts */
	assert_int_equal(f.start, 1000000000);
	assert_int_equal(f.stop, 5000000000);
	for (uint64_t tenth = 0; tenth < 60; tenth++) {
		struct pd_sample s = {.time = tenth * 100000000};

		assert_int_equal(filter_sample(&f, &s),
				 (tenth >= 10 && tenth < 30) || (tenth >= 40 && tenth <= 50));
	}
	assert_int_equal(filter_time_parse(",1 4,", &f), 0);
	assert_true(f.stop);
	assert_true(filter_sample(&f, &(struct pd_sample){.time = 999999999}));
	assert_false(filter_sample(&f, &(struct pd_sample){.time = 1000000000}));
	assert_true(filter_sample(&f, &(struct pd_sample){.time = UINT64_MAX}));
	assert_int_equal(filter_time_parse("1,2", &f), 0); /* the last option decides */
	assert_true(filter_sample(&f, &(struct pd_sample){.time = 2000000000}));
	filter_release(&f);
}

static void test_filter(void **state)
{
	struct filter f = {0};
	struct pd_sample s = {.pid = 4, .tid = 5, .cpu = 2, .time = 1500000000};

	assert_true(filter_sample(&f, &s));
	assert_int_equal(filter_ranges_parse("1,3-5", &f.pids), 0);
	assert_true(filter_sample(&f, &s));
	s.pid = 2;
	assert_false(filter_sample(&f, &s));
	s.pid = 1;
	assert_int_equal(filter_time_parse("1.5,", &f), 0);
	assert_int_equal(f.start, 1500000000);
	assert_true(filter_sample(&f, &s));
	assert_int_equal(filter_time_parse(",1.499999999", &f), 0);
	assert_false(filter_sample(&f, &s));
	assert_int_equal(filter_time_parse("2,1", &f), -EINVAL);
	assert_int_equal(filter_time_parse("2,3 1,2", &f), -EINVAL);
	assert_int_equal(filter_time_parse("1,3 2,4", &f), -EINVAL);
	assert_int_equal(filter_time_parse("1, 2,4", &f), -EINVAL);
	assert_int_equal(filter_time_parse(" ", &f), -EINVAL);
	assert_int_equal(filter_time_parse("1.0000000001", &f), -EINVAL);
	assert_int_equal(filter_time_parse("x", &f), -EINVAL);
	assert_int_equal(filter_ranges_parse("5-3", &f.tids), -EINVAL);
	assert_int_equal(filter_ranges_parse("1,", &f.tids), -EINVAL);
	filter_release(&f);
}

static void test_fields(void **state)
{
	struct script_fields f = {0};
	struct error err = ERROR_INIT;
	struct pd_evsel hw = {.attr = {.type = PERF_TYPE_HARDWARE, .sample_type = PERF_SAMPLE_TID}};

	assert_int_equal(script_fields_parse("comm,tid,ip", &f, &err), 0);
	assert_int_equal(f.of[SCRIPT_HW], SCRIPT_COMM | SCRIPT_TID | SCRIPT_IP);
	assert_int_equal(script_fields_of(&f, &hw), SCRIPT_COMM | SCRIPT_TID);
	assert_int_equal(script_fields_parse("+time,-comm", &f, &err), 0);
	assert_int_equal(f.of[SCRIPT_RAW], SCRIPT_TID | SCRIPT_IP | SCRIPT_TIME);
	assert_int_equal(script_fields_parse("sw:event", &f, &err), 0);
	assert_int_equal(f.of[SCRIPT_SW], SCRIPT_EVENT);
	assert_int_equal(f.of[SCRIPT_HW], SCRIPT_TID | SCRIPT_IP | SCRIPT_TIME);
	assert_int_equal(script_fields_parse("nonsense", &f, &err), -EINVAL);
	assert_int_equal(script_fields_parse("xx:comm", &f, &err), -EINVAL);
}

/* --- names from recordings --- */

static void check_escape(const char *in, size_t len, const char *out)
{
	struct buf b = {0};

	assert_int_equal(text_escape_len(&b, in, len), 0);
	assert_int_equal(b.len, strlen(out));
	assert_memory_equal(b.data ? (const char *)b.data : "", out, b.len);
	buf_release(&b);
}

static void test_escape(void **state)
{
	check_escape("plain", 5, "plain");
	check_escape("\xc3\xa9t\xc3\xa9", 5, "\xc3\xa9t\xc3\xa9");
	check_escape("\033[2J", 4, "\\x1b[2J");
	check_escape("a\nb\tc", 5, "a\\x0ab\\x09c");
	check_escape("\xc3", 1, "\\xc3");
	check_escape("\xc0\xaf", 2, "\\xc0\\xaf");	    /* overlong */
	check_escape("\xed\xa0\x80", 3, "\\xed\\xa0\\x80"); /* surrogate */
	check_escape("\xe2\x80\xae", 3, "\\xe2\\x80\\xae"); /* right-to-left override */
	check_escape("\xc2\x9b", 2, "\\xc2\\x9b");	    /* C1: CSI */
	check_escape("\x7f", 1, "\\x7f");
}

/* Each byte, at each place of texts of each length, is plain where escaping keeps it. */
static void test_plain(void **state)
{
	char text[40];

	assert_true(text_is_plain("", 0));
	for (size_t len = 1; len < sizeof(text); len++)
		for (size_t at = 0; at < len; at++)
			for (int c = 0; c < 256; c++) {
				memset(text, ' ', sizeof(text));
				text[at] = (char)c;
				assert_int_equal(text_is_plain(text, len), c >= ' ' && c < 0x7f);
			}
}

static bool has_finding(struct trace *t, const char *text)
{
	size_t n;
	const struct data_finding *findings = data_findings(t->df, &n);

	for (size_t i = 0; i < n; i++)
		if (findings[i].severity == DATA_DAMAGED && strstr(findings[i].text, text))
			return true;
	return false;
}

/* What finds no room is counted, noted and damage; what came before stays. */
static void test_state_bound(void **state)
{
	static const size_t bounds[] = {0, 1 << 20};
	char path[] = "/tmp/test-report-XXXXXX", name[] = "caaaa";
	struct image im = {0};
	int fd = mkstemp(path);

	(void)state;
	assert_true(fd >= 0);
	image_begin(&im, 1, IMAGE_STRIDE);
	for (unsigned int i = 0; i < 20000; i++) {
		for (unsigned int k = 1, x = i; k < sizeof(name) - 1; k++, x /= 26)
			name[k] = (char)('a' + x % 26);
		image_comm(&im, 1000 + i, name);
	}
	image_end(&im);
	assert_int_equal(write(fd, im.b.data, im.b.len), im.b.len);
	close(fd);
	for (size_t i = 0; i < 2; i++) {
		struct trace_opts opts = {.path = path, .state_bytes = bounds[i]};
		struct error err = ERROR_INIT;
		struct trace *t;

		assert_int_equal(trace_open(&opts, &t, &err), 0);
		assert_int_equal(trace_prepare(t, &err), 0);
		assert_int_equal(trace_damaged(t), i);
		assert_int_equal(has_finding(t, "records of maps, names and threads ignored"), i);
		assert_int_equal(state_refused(t->state) > 0, i);
		if (i)
			assert_true(state_memory(t->state) < 2 * bounds[i]);
		trace_close(t);
	}
	unlink(path);
	image_release(&im);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_tree_sums),
		cmocka_unit_test(test_tree_paths),
		cmocka_unit_test(test_graph_keys),
		cmocka_unit_test(test_merge),
		cmocka_unit_test(test_chain_modes),
		cmocka_unit_test(test_chain_odd),
		cmocka_unit_test(test_chain_late_in_exec),
		cmocka_unit_test(test_chain_lbr),
		cmocka_unit_test(test_needed_fields),
		cmocka_unit_test(test_symbol_lists),
		cmocka_unit_test(test_sort_keys),
		cmocka_unit_test(test_all_keys),
		cmocka_unit_test(test_time_parts),
		cmocka_unit_test(test_filter),
		cmocka_unit_test(test_time_spans),
		cmocka_unit_test(test_fields),
		cmocka_unit_test(test_escape),
		cmocka_unit_test(test_plain),
		cmocka_unit_test(test_behind_the_kernels_map),
		cmocka_unit_test(test_state_bound),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
