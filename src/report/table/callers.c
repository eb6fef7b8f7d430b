// SPDX-License-Identifier: Apache-2.0
#include "report/table/callers_priv.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"

#define PATH_MAX_NODES (FRAMES_MAX + 2) /* the root, a chain, and the sample's own node */

/* Returns whether a row's value differs within a function. */
static bool some_key(const struct sort_key *const *keys, size_t nr_keys, bool of_line)
{
	for (size_t i = 0; i < nr_keys; i++)
		if (of_line ? keys[i]->of_line : keys[i]->of_place)
			return true;
	return false;
}

static bool is_place_key(const struct sort_key *key)
{
	return key->of_place || key->of_line;
}

/* The address of a place, and a pointer to the text of its line. */
static int address_cell(const struct key_source *src, struct hist_cell *ret)
{
	const struct frame *f = src->frame;
	const char *line = f->lines ? f->lines->frame[0].srcline : NULL;

	*ret = (struct hist_cell){.a = f->addr, .b = (uintptr_t)line};
	return 0;
}

static const struct sort_key address_key = {.name = "place", .cell = address_cell};

/* Divides the keys into those of samples and, if nodes are places, those of places. */
static int init_keys(struct callers *c)
{
	bool places = some_key(c->keys, c->nr_keys, false);
	size_t shared = 0, nr = 0;

	if (places)
		c->place_keys[nr++] = &address_key;
	for (size_t i = 0; i < c->nr_keys; i++) {
		if (!c->keys[i]->of_frame)
			c->shared_keys[shared++] = c->keys[i];
		else if (places && is_place_key(c->keys[i]))
			c->place_keys[nr++] = c->keys[i];
	}
	if (hist_init(&c->paths, c->shared_keys, shared) < 0)
		return -ENOMEM;
	return places ? hist_init(&c->places, c->place_keys, nr) : 0;
}

int callers_new(const struct sort_key *const *keys, size_t nr_keys, enum callgraph_order order,
		enum callgraph_key by, struct callers **ret)
{
	struct callers *c = calloc(1, sizeof(*c));

	if (!c)
		return -ENOMEM;
	c->order = order;
	c->keys = keys;
	c->nr_keys = nr_keys;
	if (init_keys(c) < 0) {
		callers_free(c);
		return -ENOMEM;
	}
	c->paths.graph.by = c->places.nr_keys		    ? CALLGRAPH_BY_PLACE
			    : some_key(keys, nr_keys, true) ? CALLGRAPH_BY_LINE
							    : by;
	*ret = c;
	return 0;
}

void callers_free(struct callers *c)
{
	if (!c)
		return;
	hist_release(&c->paths);
	hist_release(&c->places);
	callers_forget_trees(c);
	free(c->row);
	free(c->node);
	free(c->first);
	free(c->own);
	free(c);
}

/* A line, as a list of one. */
union one_line {
	struct inline_chain chain;
	uint8_t bytes[sizeof(struct inline_chain) + sizeof(struct inline_frame)];
};

/* Sets @frame->place: finds or makes the row of its values. @own: the sample's own frame. */
static int find_place(struct callers *c, const struct key_source *src, struct frame *frame,
		      bool own)
{
	struct key_source here = *src;
	struct frame one = *frame;
	struct inline_frame line = {0};
	union one_line list = {.chain.nr = 1};

	if (frame->lines)
		line = frame->lines->frame[own ? 0 : frame->line];
	if (frame->sym && !line.srcline)
		line.srcline = frame->sym->name; /* as a row of lines has */
	memcpy(list.bytes + sizeof(struct inline_chain), &line, sizeof(line));
	one.lines = frame->sym ? &list.chain : NULL;
	here.frame = &one;
	return hist_row_of(&c->places, &here, &frame->place);
}

static int find_places(struct callers *c, const struct key_source *src, struct frame *own,
		       struct frame *chain, size_t nr)
{
	int rc = find_place(c, src, own, true);

	for (size_t i = 0; !rc && i < nr; i++)
		rc = find_place(c, src, &chain[i], false);
	return rc;
}

int callers_add(struct callers *c, struct key_source *src, struct frame *chain, size_t nr,
		uint64_t samples, uint64_t latency)
{
	struct frame own = *src->frame;
	uint32_t row, root, at;
	int rc = hist_row_of(&c->paths, src, &row);

	if (!rc)
		rc = hist_tree(&c->paths, row, &root);
	if (!rc && c->places.nr_keys)
		rc = find_places(c, src, &own, chain, nr);
	if (rc < 0)
		return rc;
	rc = callgraph_add_own(&c->paths.graph, root, &own, chain, nr, c->order, src->ws->s.period,
			       samples, &at);
	return !rc && latency ? callgraph_credit_latency(&c->paths.graph, at, latency) : rc;
}

/* Gives the nodes of @from the numbers that @c has for their places. */
static int renumber_places(struct callers *c, struct callers *from)
{
	struct callgraph *g = &from->paths.graph;
	uint32_t *number = calloc(from->places.nr + 1, sizeof(*number));
	int rc = number ? 0 : -ENOMEM;

	for (size_t i = 0; !rc && i < from->places.nr; i++)
		rc = hist_row_like(&c->places, &from->places, &from->places.entry[i], &number[i]);
	for (size_t i = 0; !rc && i < g->nr; i++)
		if (g->node[i].at_place)
			g->node[i].addr = number[g->node[i].addr];
	free(number);
	return rc;
}

int callers_merge(struct callers *c, struct callers *from)
{
	int rc = c->places.nr_keys ? renumber_places(c, from) : 0;

	return rc ?: hist_merge(&c->paths, &from->paths);
}

static const struct hist_cell *place_cells(const struct callers *c, const struct callgraph_node *n)
{
	return hist_cells(&c->places, &c->places.entry[n->addr]);
}

void callers_show_place(const struct callers *c, enum callgraph_key by, struct callgraph_node *n)
{
	const struct hist_cell place = place_cells(c, n)[0];

	n->at_place = false;
	n->addr = place.a;
	if (n->sym && by == CALLGRAPH_BY_FUNCTION)
		n->addr = n->sym->start;
	if (n->sym && by == CALLGRAPH_BY_LINE) {
		n->at_line = (const char *)(uintptr_t)place.b != n->sym->name;
		n->addr = n->at_line ? place.b : n->sym->start;
	}
}

/* A walk over all paths, each node once, with counts of the nodes above it. */
struct row_walk {
	struct callers *c;
	const struct trace *t;
	const struct filter *filter;
	struct hist *h;
	const struct hist_cell *shared; /* of the current tree of paths */
	uint32_t *above;		/* by row: its nodes above the current one */
	size_t cap_above;
	uint32_t *nodes; /* by row: the nodes that it lists */
	size_t cap_nodes;
	uint32_t depth;
	uint32_t height[PATH_MAX_NODES + 1]; /* by depth: frames of chains below */
};

/* Gives @frame the line of @n; the name of the function where no line is known. */
static int set_line(const struct row_walk *w, const struct callgraph_node *n, union one_line *line,
		    struct frame *frame)
{
	struct inline_frame place = {0};

	if (w->c->paths.graph.by != CALLGRAPH_BY_LINE || !n->sym)
		return 0;
	place.srcline = n->sym->name;
	if (n->at_line) {
		const char *text = (const char *)(uintptr_t)n->addr, *colon = strrchr(text, ':');
		size_t len = colon ? (size_t)(colon - text) : strlen(text);

		place.srcline = text;
		place.srcfile = strpool_intern_len(w->h->names.pool, text, len);
		if (!place.srcfile)
			return -ENOMEM;
	}
	line->chain.nr = 1;
	memcpy(line->bytes + sizeof(struct inline_chain), &place, sizeof(place));
	frame->lines = &line->chain;
	return 0;
}

static int find_row(struct row_walk *w, const struct callgraph_node *n, uint32_t *ret)
{
	const struct callers *c = w->c;
	const struct hist_cell *place = n->at_place ? place_cells(c, n) : NULL;
	uint64_t addr = n->sym ? n->sym->start : place ? place->a : n->addr;
	struct frame frame = {
		.ip = addr, .addr = addr, .dso = n->dso, .sym = n->sym, .cpumode = n->cpumode};
	union one_line line;
	struct key_source src = {.trace = w->t, .frame = &frame, .names = &w->h->names};
	struct hist_cell cells[SORT_KEYS_MAX];
	size_t nr = w->h->nr, shared = 0;
	int rc = set_line(w, n, &line, &frame);

	*ret = ROW_NONE;
	if (!filter_frame(w->filter, &frame))
		return rc;
	for (size_t i = 0; !rc && i < c->nr_keys; i++)
		if (place && c->keys[i]->of_frame && is_place_key(c->keys[i]))
			cells[i] = *++place;
		else if (c->keys[i]->of_frame)
			rc = sort_key_cell(c->keys[i], &src, &cells[i]);
		else
			cells[i] = w->shared[shared++];
	if (!rc)
		rc = hist_row(w->h, cells, ret);
	if (rc < 0 || w->h->nr == nr)
		return rc;
	if (array_grow(&w->above, &w->cap_above, nr + 1, sizeof(*w->above)) < 0 ||
	    array_grow(&w->nodes, &w->cap_nodes, nr + 1, sizeof(*w->nodes)) < 0)
		return -ENOMEM;
	w->above[nr] = w->nodes[nr] = 0;
	w->h->entry[nr].root = nr; /* finds its tree after rows were sorted */
	return 0;
}

static int enter(struct row_walk *w, uint32_t node)
{
	const struct callgraph_node *n = &w->c->paths.graph.node[node];
	uint64_t latency = callgraph_latency(&w->c->paths.graph, node);
	struct hist_entry *e;
	uint32_t row;
	int rc = find_row(w, n, &row);

	w->c->row[node] = row;
	w->height[++w->depth] = 0;
	if (rc < 0 || row == ROW_NONE)
		return rc;
	e = &w->h->entry[row];
	if (!w->above[row]++) {
		e->children += n->total;
		hist_add_more(w->h, row, HIST_LATENCY_CHILDREN, latency);
	}
	if (n->own) {
		e->self += n->total;
		e->samples += n->samples;
		hist_add_mode(w->h, row, n->cpumode, n->total);
		hist_add_more(w->h, row, HIST_LATENCY, latency);
	}
	return 0;
}

/* Returns the most frames of the chain that were inside the frame of @n. */
static uint32_t frames_inside(const struct row_walk *w, const struct callgraph_node *n)
{
	if (n->own)
		return 0;
	return w->c->order == CALLGRAPH_CALLER ? w->height[w->depth] : w->depth - 2;
}

static void leave(struct row_walk *w, uint32_t node)
{
	const struct callgraph_node *n = &w->c->paths.graph.node[node];
	uint32_t row = w->c->row[node], height = w->height[w->depth] + !n->own;
	uint32_t inside = frames_inside(w, n);
	bool counts = row != ROW_NONE && !--w->above[row];

	if (counts && inside > w->h->entry[row].depth)
		w->h->entry[row].depth = inside;
	if (counts || (row != ROW_NONE && n->own))
		w->nodes[row]++;
	else
		w->c->row[node] = ROW_NONE;
	w->depth--;
	if (height > w->height[w->depth])
		w->height[w->depth] = height;
}

static int walk_paths(struct row_walk *w, uint32_t root)
{
	const struct callgraph *g = &w->c->paths.graph;
	uint32_t at = root;

	w->depth = 0;
	w->height[0] = 0;
	for (;;) {
		uint32_t next = g->node[at].child;
		int rc;

		while (next == CALLGRAPH_NONE && at != root) {
			leave(w, at);
			next = g->node[at].sibling;
			at = g->node[at].parent;
		}
		if (next == CALLGRAPH_NONE)
			return 0;
		at = next;
		rc = enter(w, at);
		if (rc < 0)
			return rc;
	}
}

/* Lists the nodes by row. */
static int list_nodes(struct callers *c, const uint32_t *nodes)
{
	size_t nr = c->paths.graph.nr;
	uint32_t *at;

	c->first = calloc(c->nr_rows + 1, sizeof(*c->first));
	at = calloc(c->nr_rows + 1, sizeof(*at));
	if (!c->first || !at) {
		free(at);
		return -ENOMEM;
	}
	for (size_t i = 0; i < c->nr_rows; i++)
		at[i + 1] = c->first[i + 1] = c->first[i] + nodes[i];
	c->node = calloc(c->first[c->nr_rows] + 1, sizeof(*c->node));
	for (size_t i = 0; c->node && i < nr; i++)
		if (c->row[i] != ROW_NONE)
			c->node[at[c->row[i]]++] = i;
	free(at);
	return c->node ? 0 : -ENOMEM;
}

int callers_rows(struct callers *c, const struct trace *t, const struct filter *f, struct hist *h)
{
	struct row_walk w = {.c = c, .t = t, .filter = f, .h = h};
	size_t nr = c->paths.graph.nr;
	int rc = 0;

	c->row = malloc((nr + 1) * sizeof(*c->row));
	c->own = calloc(nr + 1, sizeof(*c->own));
	if (!c->row || !c->own)
		return -ENOMEM;
	memset(c->row, 0xff, (nr + 1) * sizeof(*c->row));
	for (size_t i = 0; !rc && i < c->paths.nr; i++) {
		w.shared = hist_cells(&c->paths, &c->paths.entry[i]);
		rc = walk_paths(&w, c->paths.entry[i].root);
	}
	c->nr_rows = h->nr;
	if (!rc)
		rc = list_nodes(c, w.nodes);
	free(w.above);
	free(w.nodes);
	return rc;
}
