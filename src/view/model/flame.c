// SPDX-License-Identifier: Apache-2.0
#include "view/model/flame.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Adds the samples of a row that have no chain as a node of its function alone. */
static int add_rest(struct flame *f, const struct rows *r, const struct hist_entry *e,
		    uint64_t counted)
{
	struct callgraph_node key = {.cpumode = PERF_RECORD_MISC_USER};
	const struct hist_cell *cells = hist_cells(r->hist, e);
	uint32_t n;
	int rc;

	if (e->self <= counted)
		return 0;
	for (size_t i = 0; i < r->hist->nr_keys && !key.sym; i++)
		if (!strcmp(r->hist->keys[i]->name, "sym"))
			key.sym = sort_key_symbol(r->hist->keys[i], cells[i], &key.cpumode,
						  &key.addr);
	rc = callgraph_child(&f->graph, f->root, &key, &n);
	if (rc < 0)
		return rc;
	f->graph.node[n].self += e->self - counted;
	callgraph_credit(&f->graph, n, e->self - counted, counted ? 0 : e->samples);
	return 0;
}

/* With --children rows overlap: their trees are of the same samples. */
static int add_rows(struct flame *f, const struct rows *r)
{
	const struct callgraph *from = &r->hist->graph;
	int rc = 0;

	for (size_t i = 0; !rc && i < r->nr_shown; i++) {
		const struct hist_entry *e = &r->hist->entry[r->shown[i]];
		bool chains = e->root != CALLGRAPH_NONE && !r->report->opts->children;

		if (chains)
			rc = callgraph_merge(&f->graph, f->root, from, e->root);
		if (!rc)
			rc = add_rest(f, r, e, chains ? from->node[e->root].total : 0);
	}
	return rc;
}

int flame_build(struct flame *f, const struct rows *r)
{
	int rc;

	flame_release(f);
	f->graph.by = r->hist->graph.by;
	rc = callgraph_root(&f->graph, &f->root);
	if (!rc)
		rc = add_rows(f, r);
	if (!rc)
		rc = callgraph_sort(&f->graph);
	f->zoom = f->at = f->root;
	return rc;
}

void flame_release(struct flame *f)
{
	callgraph_release(&f->graph);
	free(f->box);
	*f = (struct flame){0};
}

static int add_box(struct flame *f, uint32_t node, unsigned int x, unsigned int width,
		   unsigned int depth)
{
	if (array_grow(&f->box, &f->cap, f->nr + 1, sizeof(*f->box)))
		return -ENOMEM;
	f->box[f->nr++] = (struct flame_box){node, x, width, depth};
	return 0;
}

/* Adds the boxes of the children of box @i, whose weight begins at @start within @all. */
static int add_children(struct flame *f, size_t i, double start, double all, double *starts)
{
	const struct callgraph_node *node = f->graph.node;
	const struct flame_box own = f->box[i];
	int rc = 0;

	for (uint32_t c = node[own.node].child; !rc && c != CALLGRAPH_NONE; c = node[c].sibling) {
		double end = start + (double)node[c].total;
		unsigned int x = (unsigned int)(start * f->width / all);
		unsigned int to = (unsigned int)(end * f->width / all);

		/* Children are in the order of their weight: those behind are smaller still. */
		if ((double)node[c].total * f->width < all * 0.5)
			break;
		if (to > x) {
			starts[x + (size_t)(own.depth + 1) % 2 * f->width] = start;
			rc = add_box(f, c, x, to - x, own.depth + 1);
		}
		start = end;
	}
	return rc;
}

static unsigned int depth_of(const struct flame *f, uint32_t n)
{
	unsigned int depth = 0;

	for (; n != f->root; n = f->graph.node[n].parent)
		depth++;
	return depth;
}

/* The nodes above the one that is zoomed are as wide as it. */
static int add_above(struct flame *f)
{
	unsigned int depth = depth_of(f, f->zoom);
	int rc = 0;

	for (unsigned int i = 0; !rc && i <= depth; i++)
		rc = add_box(f, CALLGRAPH_NONE, 0, f->width, i);
	for (uint32_t n = f->zoom; !rc; n = f->graph.node[n].parent) {
		f->box[depth].node = n;
		if (!depth--)
			break;
	}
	return rc;
}

int flame_layout(struct flame *f, unsigned int width)
{
	double all = (double)f->graph.node[f->zoom].total;
	double *starts = calloc(2 * (size_t)width + 2, sizeof(*starts));
	int rc = starts ? 0 : -ENOMEM;

	f->nr = 0;
	f->width = width;
	if (!rc)
		rc = add_above(f);
	/* Where a box begins is remembered for its depth and the next one. */
	for (size_t i = f->nr ? f->nr - 1 : 0; !rc && all > 0 && i < f->nr; i++)
		rc = add_children(f, i, starts[f->box[i].x + (size_t)f->box[i].depth % 2 * width],
				  all, starts);
	free(starts);
	return rc;
}

const struct flame_box *flame_box_of(const struct flame *f, uint32_t n)
{
	for (size_t i = 0; i < f->nr; i++)
		if (f->box[i].node == n)
			return &f->box[i];
	return NULL;
}

void flame_go(struct flame *f, enum flame_move how)
{
	const struct flame_box *b = flame_box_of(f, f->at), *end = f->box + f->nr;
	const struct flame_box *to = NULL;

	if (!b) {
		f->at = f->zoom;
		return;
	}
	switch (how) {
	case FLAME_OUT:
		if (f->at != f->root)
			f->at = f->graph.node[f->at].parent;
		return;
	case FLAME_IN:
		/* The first child that has a box is the widest. */
		for (to = b + 1; to < end && f->graph.node[to->node].parent != f->at;)
			to++;
		break;
	case FLAME_LEFT: to = b > f->box ? b - 1 : end; break;
	case FLAME_RIGHT: to = b + 1; break;
	}
	if (to < end && (how == FLAME_IN || to->depth == b->depth))
		f->at = to->node;
}

static bool matches(const struct flame *f, uint32_t n, const struct view_match *match)
{
	const struct symbol *sym = f->graph.node[n].sym;

	return sym && match_has(match, sym->name);
}

bool flame_find(struct flame *f, const struct view_match *match, bool back)
{
	const struct flame_box *b = flame_box_of(f, f->at);
	size_t at = b ? (size_t)(b - f->box) : 0;

	for (size_t i = 1; i <= f->nr; i++) {
		size_t k = (back ? at + f->nr - i : at + i) % f->nr;

		if (matches(f, f->box[k].node, match)) {
			f->at = f->box[k].node;
			return true;
		}
	}
	return false;
}

uint64_t flame_matched(const struct flame *f, const struct view_match *match)
{
	const struct callgraph_node *node = f->graph.node;
	uint32_t n = f->root;
	uint64_t sum = 0;

	for (;;) {
		bool found = matches(f, n, match);

		sum += found ? node[n].total : 0;
		if (!found && node[n].child != CALLGRAPH_NONE) {
			n = node[n].child;
			continue;
		}
		while (n != f->root && node[n].sibling == CALLGRAPH_NONE)
			n = node[n].parent;
		if (n == f->root)
			return sum;
		n = node[n].sibling;
	}
}

int flame_zoom(struct flame *f, uint32_t n)
{
	f->zoom = f->at = n;
	return flame_layout(f, f->width);
}
