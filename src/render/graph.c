// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "render/table.h"
#include "render/text.h"

#define MARGIN	  12
#define STEP	  11   /* columns of a level: "|          " */
#define MAX_DEPTH 1030 /* levels drawn; chains are cut at --max-stack, at most 1024 */

struct graph {
	FILE *out;
	const struct callgraph *g;
	uint64_t total; /* of the event: 100 % */
	uint64_t least; /* branches below this are not drawn */
	unsigned int width;
	size_t margin;
	bool pipe[MAX_DEPTH]; /* a line goes on below at this level */
	struct buf line;
};

/* Addresses of the kernel and of anonymous memory are absolute; others need their file's name. */
static int put_name(struct graph *gr, const struct callgraph_node *n)
{
	int rc;

	if (n->sym)
		return text_escape(&gr->line, n->sym->name);
	if (n->dso && n->dso->kind != DSO_KERNEL && n->dso->kind != DSO_KSYMBOL &&
	    n->dso->kind != DSO_ANON) {
		rc = text_escape(&gr->line, n->dso->short_name);
		return rc ?: buf_printf(&gr->line, "+0x%" PRIx64, n->addr);
	}
	return buf_printf(&gr->line, "0x%" PRIx64, n->addr);
}

static void put_line(struct graph *gr)
{
	size_t n;

	if (gr->width)
		text_cut(&gr->line, 0, gr->width);
	for (n = gr->line.len; n && gr->line.data[n - 1] == ' ';)
		n--;
	if (n)
		fwrite(gr->line.data, 1, n, gr->out);
	putc('\n', gr->out);
	gr->line.len = 0;
}

static int put_margin(struct graph *gr)
{
	return buf_printf(&gr->line, "%*s", (int)(MARGIN + gr->margin), "");
}

static uint32_t first_child(const struct graph *gr, uint32_t node)
{
	uint32_t c = gr->g->node[node].child;

	/* children are sorted: if the first is too small all are */
	return c != CALLGRAPH_NONE && gr->g->node[c].total >= gr->least ? c : CALLGRAPH_NONE;
}

static uint32_t next_child(const struct graph *gr, uint32_t node)
{
	uint32_t c = gr->g->node[node].sibling;

	return c != CALLGRAPH_NONE && gr->g->node[c].total >= gr->least ? c : CALLGRAPH_NONE;
}

/* Whether the path through @node goes on undivided; its only child then is the next of the run. */
static bool goes_on(const struct graph *gr, uint32_t node)
{
	const struct callgraph_node *n = &gr->g->node[node];

	return n->child != CALLGRAPH_NONE && !n->self &&
	       gr->g->node[n->child].sibling == CALLGRAPH_NONE;
}

/* The line that links a branch to what is above it. */
static int put_link(struct graph *gr, size_t depth)
{
	int rc = put_margin(gr);

	for (size_t i = 0; !rc && i < depth; i++)
		rc = buf_printf(&gr->line, gr->pipe[i] ? "|          " : "           ");
	if (!rc)
		put_line(gr);
	return rc;
}

/* One frame of a run; the first has the share. */
static int put_frame(struct graph *gr, const struct callgraph_node *n, size_t depth, bool first)
{
	int rc = put_margin(gr);

	for (size_t i = 0; !rc && i < depth; i++) {
		rc = buf_printf(&gr->line, gr->pipe[i] ? "|" : " ");
		if (!rc && first && i + 1 == depth)
			rc = buf_printf(&gr->line, "--%.2f%%--",
					gr->total ? 100.0 * (double)n->total / (double)gr->total
						  : 0);
		else if (!rc)
			rc = buf_printf(&gr->line, "%*s", STEP - 1, "");
	}
	if (!rc)
		rc = put_name(gr, n);
	if (!rc)
		put_line(gr);
	return rc;
}

/* The branches below @node. Recursion is as deep as chains fork, at most MAX_DEPTH. */
static int put_branches(struct graph *gr, uint32_t node, size_t depth, bool *printed)
{
	for (uint32_t c = first_child(gr, node), next; c != CALLGRAPH_NONE; c = next) {
		uint32_t last = c;
		int rc;

		if (depth + 1 >= MAX_DEPTH)
			return 0;
		*printed = true;
		next = next_child(gr, c);
		gr->pipe[depth - 1] = true;
		rc = put_link(gr, depth);
		gr->pipe[depth - 1] = next != CALLGRAPH_NONE;
		if (!rc)
			rc = put_frame(gr, &gr->g->node[c], depth, true);
		while (!rc && goes_on(gr, last)) {
			last = gr->g->node[last].child;
			rc = put_frame(gr, &gr->g->node[last], depth, false);
		}
		if (!rc)
			rc = put_branches(gr, last, depth + 1, printed);
		if (rc < 0)
			return rc;
	}
	return 0;
}

/* A single path needs no share of its own: it is the row's. Returns its last node in @ret. */
static int put_trunk(struct graph *gr, uint32_t c, bool skip_first, uint32_t *ret, bool *printed)
{
	bool more = true;
	int rc = 0;

	for (bool first = true; !rc && more; first = false) {
		more = goes_on(gr, c);
		if (!first || !skip_first) {
			if (!*printed) {
				rc = buf_printf(&gr->line, "%*s|", MARGIN, "");
				if (rc < 0)
					return rc;
				put_line(gr);
				rc = buf_printf(&gr->line, "%*s---", MARGIN, "");
				gr->margin = 3;
			} else {
				rc = put_margin(gr);
			}
			*printed = true;
			if (!rc)
				rc = put_name(gr, &gr->g->node[c]);
			if (!rc)
				put_line(gr);
		}
		*ret = c;
		c = gr->g->node[c].child;
	}
	return rc;
}

int graph_render(FILE *out, const struct hist *h, const struct hist_entry *e, uint64_t weight,
		 bool skip_first, const struct table_opts *opts)
{
	struct graph gr = {
		.out = out,
		.g = &h->graph,
		.total = h->period,
		.least = (uint64_t)((double)h->period * opts->graph_percent / 100.0),
		.width = opts->width,
	};
	uint32_t node = e->root, c;
	bool printed = false;
	int rc = 0;

	if (e->root == CALLGRAPH_NONE)
		return 0;
	c = first_child(&gr, node);
	if (c != CALLGRAPH_NONE && next_child(&gr, c) == CALLGRAPH_NONE &&
	    h->graph.node[c].total == weight)
		rc = put_trunk(&gr, c, skip_first, &node, &printed);
	if (!rc)
		rc = put_branches(&gr, node, 1, &printed);
	if (!rc && printed)
		putc('\n', out);
	buf_release(&gr.line);
	return rc;
}
