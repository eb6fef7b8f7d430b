// SPDX-License-Identifier: Apache-2.0
#include "view/model/code.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "render/text.h"
#include "symbol/lines/inlines.h"

#define SOURCE_MAX 50000 /* instructions of a function that is shown with source lines */
#define TAB_WIDTH  8

/* Returns whether the code of a function without samples can be found. */
static bool is_placed(const struct code_wanted *w)
{
	return w->dso && (w->base || (w->dso->kind != DSO_MODULE && w->dso->kind != DSO_JIT));
}

static int count(struct view_code *c, struct trace *t, const struct filter *f, struct error *err)
{
	const struct symbol *sym = c->of.sym;
	struct filter one = *f;
	int rc;

	/* By name, so that only samples of such functions are kept. */
	one.symbols = sym->name;
	one.symbol_part = one.comms = one.dsos = NULL;
	rc = annotate_run(t, &one, &c->annotate, err);
	if (rc < 0)
		return rc;
	for (size_t i = 0; i < c->annotate->nr && !c->function; i++)
		if (c->annotate->function[i].sym == sym)
			c->function = &c->annotate->function[i];
	if (c->function) {
		c->of.dso = c->function->dso;
		c->of.base = c->function->base;
	}
	if (!c->function && !is_placed(&c->of))
		return error_set(err, -ENOENT, "%s: no sample is in its own code", sym->name);
	return 0;
}

static int load_code(struct view_code *c, struct error *err)
{
	int rc = function_code_load(&c->from, c->of.dso, c->of.sym, c->of.base, &c->bytes, err);

	return rc ?: listing_init(&c->listing, &c->bytes, DISASM_ATT, err);
}

static int weigh(struct view_code *c)
{
	struct annotate_weight *all = calloc(c->annotate->nr_events + 1, sizeof(*all));
	size_t cursor = 0;

	c->weight = calloc(c->listing.nr + 1, sizeof(*c->weight));
	if (!all || !c->weight) {
		free(all);
		return -ENOMEM;
	}
	for (size_t i = 0; c->function && i < c->listing.nr; i++) {
		uint64_t at = c->bytes.start + c->listing.offset[i];
		uint64_t end = i + 1 < c->listing.nr ? c->bytes.start + c->listing.offset[i + 1]
						     : c->bytes.start + c->bytes.bytes.len;

		annotate_sum(c->annotate, c->function, at, end, &cursor, all);
		c->weight[i] = all[c->event];
	}
	free(all);
	return 0;
}

static int add_line(struct view_code *c, uint32_t insn, uint32_t line, const char *file)
{
	if (array_grow(&c->line, &c->cap, c->nr + 1, sizeof(*c->line)))
		return -ENOMEM;
	c->line[c->nr++] = (struct code_line){insn, line, file};
	return 0;
}

/* A line of source goes before its first instruction, and again where another one was between. */
static int add_lines(struct view_code *c)
{
	struct line_frame place = {0};
	const char *file = NULL;
	uint32_t line = 0;
	int rc = 0;

	for (size_t i = 0; !rc && i < c->listing.nr; i++) {
		bool known = c->source && c->listing.nr <= SOURCE_MAX &&
			     source_place(c->source, c->bytes.start + c->listing.offset[i], &place);

		if (known && place.file && place.line &&
		    (place.line != line || !file || strcmp(place.file, file) != 0)) {
			file = place.file;
			line = place.line;
			rc = add_line(c, (uint32_t)i, line, file);
		}
		if (!rc)
			rc = add_line(c, (uint32_t)i, 0, NULL);
	}
	return rc;
}

/* Reads the names of the dso's functions here, not while a screen is drawn. */
static void load_names(struct view_code *c)
{
	struct annotate_target target;
	size_t line;

	for (size_t i = 0; i < c->nr; i++) {
		enum code_way way = code_follow(c, i, &line, &target);

		if (way == CODE_FUNCTION || way == CODE_UNKNOWN)
			return;
	}
}

int code_load(struct trace *t, const struct filter *f, const struct code_wanted *w, size_t event,
	      struct view_code **ret, struct error *err)
{
	static const struct source_opts opts = {.demangle = true};
	const struct map *image = state_image(t->state);
	struct view_code *c = calloc(1, sizeof(*c));
	int rc;

	if (!c)
		return error_sys(err, -ENOMEM, "%s", w->sym->name);
	c->event = event;
	c->of = *w;
	c->resolver = t->resolver;
	c->from = (struct code_source){t->resolver, image ? image->dso : NULL};
	rc = count(c, t, f, err);
	if (!rc)
		rc = load_code(c, err);
	if (!rc && (source_new(t->resolver, &opts, &c->source) ||
		    source_begin(c->source, c->of.dso) || weigh(c) || add_lines(c)))
		rc = error_sys(err, -ENOMEM, "%s", w->sym->name);
	if (rc < 0) {
		code_free(c);
		return rc;
	}
	load_names(c);
	*ret = c;
	return 0;
}

void code_free(struct view_code *c)
{
	if (!c)
		return;
	source_free(c->source);
	listing_release(&c->listing);
	function_code_release(&c->bytes);
	annotate_free(c->annotate);
	free(c->weight);
	free(c->line);
	free(c);
}

struct annotate_weight code_total(const struct view_code *c)
{
	return c->function ? c->function->total[c->event] : (struct annotate_weight){0};
}

double code_percent(const struct view_code *c, uint32_t insn)
{
	uint64_t all = code_total(c).period;

	return all ? 100.0 * (double)c->weight[insn].period / (double)all : 0;
}

static int add_source(struct view_code *c, const struct code_line *l, struct buf *out)
{
	const char *slash = strrchr(l->file, '/');
	size_t len = 0, column = 0;
	const char *text = source_text(c->source, l->file, l->line, &len);
	int rc = text_escape(out, slash ? slash + 1 : l->file);

	if (!rc)
		rc = buf_printf(out, ":%" PRIu32 "  ", l->line);
	for (size_t i = 0; !rc && text && i < len; i++) {
		size_t n = text[i] == '\t' ? TAB_WIDTH - column % TAB_WIDTH : 1;

		column += n;
		if (text[i] == '\t') {
			rc = buf_printf(out, "%*s", (int)n, "");
			continue;
		}
		/* Up to the next tab at once: a character may have several bytes. */
		n = strcspn(text + i, "\t");
		n = n < len - i ? n : len - i;
		rc = text_escape_len(out, text + i, n);
		column += n - 1;
		i += n - 1;
	}
	return rc;
}

/* Margins are drawn for rows that ascend: a jump back begins anew. */
static void draw_margin(struct view_code *c, size_t row, char ret[LISTING_MARGIN])
{
	if (row < c->arrow_row)
		c->arrow = 0;
	c->arrow_row = row;
	listing_margin(&c->listing, row, &c->arrow, ret);
}

static bool is_inside(const struct view_code *c, uint64_t addr)
{
	return addr - (c->bytes.start + c->bytes.to_file) < c->bytes.bytes.len;
}

static int add_target(const struct view_code *c, const struct disasm_insn *insn, struct buf *out)
{
	struct annotate_target target;
	int rc;

	if (!insn->has_target || is_inside(c, insn->target) ||
	    !annotate_target_find(&c->from, c->resolver, c->of.dso, &c->bytes, insn->target,
				  &target))
		return 0;
	rc = buf_append(out, " <", 2) ?: text_escape(out, target.sym->name);
	if (!rc && target.addr != target.sym->start)
		rc = buf_printf(out, "+0x%" PRIx64, target.addr - target.sym->start);
	return rc ?: buf_append(out, ">", 1);
}

int code_text(struct view_code *c, size_t i, struct buf *out)
{
	const struct code_line *l = &c->line[i];
	char margin[LISTING_MARGIN];
	struct disasm_insn insn;
	int rc;

	if (l->line)
		return add_source(c, l, out);
	listing_insn(&c->listing, l->insn, &insn);
	draw_margin(c, l->insn, margin);
	rc = buf_printf(out, "%8" PRIx64 ": %s ", insn.addr, margin) ?: text_escape(out, insn.text);
	return rc ?: add_target(c, &insn, out);
}

static uint64_t heat(const struct view_code *c, size_t i)
{
	return c->line[i].line ? 0 : c->weight[c->line[i].insn].period;
}

size_t code_next_hot(const struct view_code *c, size_t from)
{
	size_t best = SIZE_MAX;

	for (size_t i = 0; i < c->nr; i++) {
		uint64_t h = heat(c, i);

		if (!h || i == from)
			continue;
		if (from != SIZE_MAX && (h > heat(c, from) || (h == heat(c, from) && i < from)))
			continue;
		if (best == SIZE_MAX || h > heat(c, best))
			best = i;
	}
	if (best == SIZE_MAX && from != SIZE_MAX)
		return code_next_hot(c, SIZE_MAX);
	return best == SIZE_MAX ? 0 : best;
}

size_t code_find(struct view_code *c, size_t from, const struct view_match *match, bool back)
{
	struct buf text = {0};
	size_t ret = from;

	for (size_t k = 1; k < c->nr; k++) {
		size_t i = (back ? from + c->nr - k : from + k) % c->nr;

		text.len = 0;
		if (code_text(c, i, &text) || buf_append(&text, "", 1))
			break;
		if (match_has(match, (const char *)text.data)) {
			ret = i;
			break;
		}
	}
	buf_release(&text);
	return ret;
}

/* Returns the line of the instruction at @addr, as in the file; SIZE_MAX: none begins there. */
static size_t line_of(const struct view_code *c, uint64_t addr)
{
	uint64_t at = addr - (c->bytes.start + c->bytes.to_file);

	for (size_t i = 0; i < c->nr; i++)
		if (!c->line[i].line && c->listing.offset[c->line[i].insn] == at)
			return i;
	return SIZE_MAX;
}

enum code_way code_follow(struct view_code *c, size_t i, size_t *ret_line,
			  struct annotate_target *ret)
{
	struct disasm_insn insn;

	if (c->line[i].line)
		return CODE_NOWHERE;
	listing_insn(&c->listing, c->line[i].insn, &insn);
	if (insn.kind != DISASM_JUMP && insn.kind != DISASM_CALL)
		return CODE_NOWHERE;
	if (!insn.has_target)
		return CODE_AT_RUN;
	if (is_inside(c, insn.target)) {
		*ret_line = line_of(c, insn.target);
		return *ret_line == SIZE_MAX ? CODE_UNKNOWN : CODE_IN_HERE;
	}
	return annotate_target_find(&c->from, c->resolver, c->of.dso, &c->bytes, insn.target, ret)
		       ? CODE_FUNCTION
		       : CODE_UNKNOWN;
}

static uint32_t largest_child(const struct callgraph *g, uint32_t n)
{
	uint32_t best = g->node[n].child;

	for (uint32_t k = best; k != CALLGRAPH_NONE; k = g->node[k].sibling)
		if (g->node[k].total > g->node[best].total)
			best = k;
	return best;
}

uint32_t code_owner(const struct callgraph *g, uint32_t n, enum report_graph order)
{
	uint32_t k = n;

	while (k != CALLGRAPH_NONE && g->node[k].sym && symbol_is_inlined(g->node[k].sym))
		k = order == REPORT_GRAPH_CALLEE ? largest_child(g, k) : g->node[k].parent;
	return k != CALLGRAPH_NONE && g->node[k].sym ? k : n;
}
