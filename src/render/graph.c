// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "render/table.h"
#include "render/text.h"

#define MARGIN	  12
#define STEP	  11   /* columns of a level: "|          " */
#define MAX_DEPTH 1030 /* levels drawn; --max-stack limits chains to 1024 or fewer */

struct graph {
	FILE *out;
	const struct callgraph *g;
	const struct table_opts *opts;
	uint64_t total; /* of the event */
	unsigned int width;
	size_t margin;
	bool pipe[MAX_DEPTH]; /* by level: a vertical line continues below */
	struct buf line;
	struct text_paint paint; /* the share in @line */
};

/* Appends in which line of the function, or how far behind its start, if frames differ by that. */
static int put_place(struct buf *out, enum callgraph_key by, const struct callgraph_node *n)
{
	if (n->at_line)
		return buf_printf(out, " ") ?: text_escape(out, (const char *)(uintptr_t)n->addr);
	if (by == CALLGRAPH_BY_ADDRESS && !symbol_is_inlined(n->sym))
		return buf_printf(out, " +%" PRIu64, n->addr - n->sym->start);
	return 0;
}

/* Addresses of the kernel and of anonymous memory are absolute; others need their file's name. */
int graph_name(struct buf *out, enum callgraph_key by, const struct callgraph_node *n)
{
	int rc;

	if (n->sym)
		return text_escape(out, n->sym->name)
			       ?: put_place(out, by, n)
			       ?: buf_printf(out, "%s",
					     symbol_is_inlined(n->sym) ? INLINED_MARK : "");
	if (n->dso && n->dso->kind != DSO_KERNEL && n->dso->kind != DSO_KSYMBOL &&
	    n->dso->kind != DSO_ANON) {
		rc = text_escape(out, n->dso->short_name);
		return rc ?: buf_printf(out, "+0x%" PRIx64, n->addr);
	}
	return buf_printf(out, "0x%" PRIx64, n->addr);
}

static void put_line(struct graph *gr)
{
	size_t n;

	if (gr->width)
		text_truncate(&gr->line, 0, gr->width);
	for (n = gr->line.len; n && gr->line.data[n - 1] == ' ';)
		n--;
	gr->line.len = n;
	text_put_painted(gr->out, &gr->line, &gr->paint, 1);
	putc('\n', gr->out);
	gr->line.len = 0;
	gr->paint = (struct text_paint){.color = ""};
}

/* Returns what stands before a value in the parentheses of a frame; *@begun: it is not the first.
 */
static const char *separator(bool *begun)
{
	const char *ret = *begun ? " " : " (";

	*begun = true;
	return ret;
}

int graph_branches(struct buf *out, const struct callgraph_branches *b)
{
	bool begun = false;
	int rc = 0;

	if (!b)
		return 0;
	if (b->predicted < b->known)
		rc = buf_printf(out, "%spredicted:%.1f%%", separator(&begun),
				100.0 * (double)b->predicted / (double)b->known);
	if (!rc && b->aborted)
		rc = buf_printf(out, "%sabort:%.1f%%", separator(&begun),
				100.0 * (double)b->aborted / (double)b->to);
	if (!rc && b->from && b->cycles >= b->from)
		rc = buf_printf(out, "%scycles:%" PRIu64, separator(&begun), b->cycles / b->from);
	if (!rc && b->iterations)
		rc = buf_printf(out, "%siter:%" PRIu64 " avg_cycles:%" PRIu64, separator(&begun),
				(b->iterations + b->from - 1) / b->from,
				b->iteration_cycles / b->iterations);
	if (!rc && b->calls && !b->to && !b->from)
		rc = buf_printf(out, "%scalltrace", separator(&begun));
	return rc || !begun ? rc : buf_append(out, ")", 1);
}

/* Ends the line that shows @n. */
static int end_frame(struct graph *gr, const struct callgraph_node *n)
{
	uint32_t node = (uint32_t)(n - gr->g->node);
	int rc = graph_branches(&gr->line, callgraph_branches(gr->g, node));

	if (!rc && n->guessed && gr->opts->mark_guesses)
		rc = buf_printf(&gr->line, " [guessed]");
	if (!rc)
		put_line(gr);
	return rc;
}

static int put_margin(struct graph *gr)
{
	return buf_printf(&gr->line, "%*s", (int)(MARGIN + gr->margin), "");
}

/* Returns the weight that is 100 % below @node: the event's, or that of the node's children. */
static uint64_t whole(const struct graph *gr, uint32_t node)
{
	const struct callgraph_node *n = &gr->g->node[node];

	return gr->opts->graph_style == GRAPH_FRACTAL ? n->total - n->self : gr->total;
}

/* Returns @c if it is drawn. Children are sorted: after one that is too small all are. */
static uint32_t if_drawn(const struct graph *gr, uint32_t c)
{
	const struct callers_bounds bounds = graph_bounds(gr->total, gr->opts);
	const struct callgraph_node *node = gr->g->node;

	if (c == CALLGRAPH_NONE || callers_wanted(&bounds, &node[node[c].parent], &node[c]))
		return c;
	return CALLGRAPH_NONE;
}

static uint32_t first_child(const struct graph *gr, uint32_t node)
{
	return if_drawn(gr, gr->g->node[node].child);
}

static uint32_t next_child(const struct graph *gr, uint32_t node)
{
	return if_drawn(gr, gr->g->node[node].sibling);
}

/* Returns whether no path ends or forks at @node, so that its only child continues the line. */
static bool goes_on(const struct graph *gr, uint32_t node)
{
	const struct callgraph_node *n = &gr->g->node[node];

	return n->child != CALLGRAPH_NONE && !n->self &&
	       gr->g->node[n->child].sibling == CALLGRAPH_NONE;
}

/* Draws the line from a branch to the node above it. */
static int put_link(struct graph *gr, size_t depth)
{
	int rc = put_margin(gr);

	for (size_t i = 0; !rc && i < depth; i++)
		rc = buf_printf(&gr->line, gr->pipe[i] ? "|          " : "           ");
	if (!rc)
		put_line(gr);
	return rc;
}

static int put_share(struct graph *gr, double share)
{
	size_t from = gr->line.len;
	int rc = buf_printf(&gr->line, "%.2f%%", share);

	if (gr->opts->colors && gr->opts->graph_style != GRAPH_FOLDED)
		gr->paint = (struct text_paint){from, gr->line.len, text_share_color(share)};
	return rc;
}

/* Writes the value of a branch or chain; percentages are of @all. */
static int put_value(struct graph *gr, uint64_t period, uint64_t samples, uint64_t all)
{
	switch (gr->opts->graph_value) {
	case GRAPH_PERIOD: return buf_printf(&gr->line, "%" PRIu64, period);
	case GRAPH_SAMPLES: return buf_printf(&gr->line, "%" PRIu64, samples);
	case GRAPH_PERCENT: break;
	}
	return put_share(gr, all ? 100.0 * (double)period / (double)all : 0);
}

static int put_branch_value(struct graph *gr, const struct callgraph_node *n)
{
	return buf_printf(&gr->line, "--")
		       ?: put_value(gr, n->total, n->samples, whole(gr, n->parent))
		       ?: buf_printf(&gr->line, "--");
}

/* Draws one frame of an unforked path; the first shows the share. */
static int put_frame(struct graph *gr, const struct callgraph_node *n, size_t depth, bool first)
{
	int rc = put_margin(gr);

	for (size_t i = 0; !rc && i < depth; i++) {
		rc = buf_printf(&gr->line, gr->pipe[i] ? "|" : " ");
		if (!rc && first && i + 1 == depth)
			rc = put_branch_value(gr, n);
		else if (!rc)
			rc = buf_printf(&gr->line, "%*s", STEP - 1, "");
	}
	if (!rc)
		rc = graph_name(&gr->line, gr->g->by, n);
	return rc ?: end_frame(gr, n);
}

/* Returns the number of samples that end at @node. */
static uint64_t samples_at(const struct callgraph *g, uint32_t node)
{
	uint64_t n = g->node[node].samples;

	for (uint32_t c = g->node[node].child; c != CALLGRAPH_NONE; c = g->node[c].sibling)
		n -= g->node[c].samples;
	return n;
}

/* As perf: with percentages of the branch above, the last branch is the rest that is not drawn. */
static int put_rest(struct graph *gr, const struct callgraph_node *n, size_t depth, uint64_t period,
		    uint64_t samples)
{
	uint64_t all = n->total - n->self;
	int rc;

	if (!period || period == all || (gr->opts->graph_value == GRAPH_SAMPLES && !samples))
		return 0;
	gr->pipe[depth - 1] = false;
	rc = put_margin(gr);
	for (size_t i = 0; !rc && i < depth; i++)
		rc = buf_printf(&gr->line, gr->pipe[i] ? "|" : " ")
			     ?: i + 1 < depth ? buf_printf(&gr->line, "%*s", STEP - 1, "")
					      : 0;
	rc = rc ?: buf_printf(&gr->line, "--");
	rc = rc ?: put_value(gr, period, samples, all);
	rc = rc ?: buf_printf(&gr->line, "--[...]");
	if (!rc)
		put_line(gr);
	return rc;
}

/* Draws the branches below @node. Recursion is as deep as chains fork, at most MAX_DEPTH. */
static int put_branches(struct graph *gr, uint32_t node, size_t depth, bool *printed)
{
	bool fractal = gr->opts->graph_style == GRAPH_FRACTAL;
	unsigned int limit = gr->opts->graph_limit, nr = 0;
	const struct callgraph_node *n = &gr->g->node[node];
	uint64_t rest = n->total - n->self, samples = n->samples - samples_at(gr->g, node);

	if (depth + 1 >= MAX_DEPTH)
		return 0;
	for (uint32_t c = first_child(gr, node), next; c != CALLGRAPH_NONE; c = next) {
		uint32_t last = c;
		int rc;

		*printed = true;
		rest -= gr->g->node[c].total;
		samples -= gr->g->node[c].samples;
		next = next_child(gr, c);
		gr->pipe[depth - 1] = true;
		rc = put_link(gr, depth);
		/* As perf: the line goes on to branches that the limit leaves out. */
		gr->pipe[depth - 1] = next != CALLGRAPH_NONE || (fractal && rest);
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
		if (limit && ++nr == limit)
			break;
	}
	return fractal ? put_rest(gr, n, depth, rest, samples) : 0;
}

/* A single path shows no share, because it is the row's. Returns its last node in @ret. */
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
				rc = graph_name(&gr->line, gr->g->by, &gr->g->node[c]);
			if (!rc)
				rc = end_frame(gr, &gr->g->node[c]);
		}
		*ret = c;
		c = gr->g->node[c].child;
	}
	return rc;
}

/* Writes "COUNT a;b;c" for the path from @root to @node. Only such lines begin with a digit. */
static int put_chain(struct graph *gr, uint32_t root, uint32_t node)
{
	const struct callgraph_node *n = &gr->g->node[node];
	uint32_t path[MAX_DEPTH];
	size_t depth = 0;
	int rc = put_value(gr, n->self, samples_at(gr->g, node), gr->total);

	for (uint32_t i = node; i != root && depth < MAX_DEPTH; i = gr->g->node[i].parent)
		path[depth++] = i;
	for (char before = ' '; !rc && depth--; before = ';') {
		rc = buf_append(&gr->line, &before, 1);
		if (!rc)
			rc = graph_name(&gr->line, gr->g->by, &gr->g->node[path[depth]]);
	}
	if (!rc)
		put_line(gr);
	return rc;
}

/* Writes the number of the chains from @root to @node and beyond, and a line for each frame. */
static int put_flat_chain(struct graph *gr, uint32_t root, uint32_t node)
{
	const struct callgraph_node *n = &gr->g->node[node];
	uint32_t path[MAX_DEPTH];
	size_t depth = 0;
	int rc = buf_printf(&gr->line, "           ")
			 ?: put_value(gr, n->total, n->samples, gr->total);

	if (!rc)
		put_line(gr);
	for (uint32_t i = node; i != root && depth < MAX_DEPTH; i = gr->g->node[i].parent)
		path[depth++] = i;
	while (!rc && depth--) {
		rc = buf_printf(&gr->line, "                ")
			     ?: graph_name(&gr->line, gr->g->by, &gr->g->node[path[depth]]);
		if (!rc)
			rc = end_frame(gr, &gr->g->node[path[depth]]);
	}
	putc('\n', gr->out);
	return rc;
}

/* Nodes at which chains of a row end. */
struct ends {
	struct end {
		uint64_t self;
		uint32_t node, order; /* order: among ends of equal weight */
	} * end;
	size_t nr, cap;
};

/* Lists the ends with enough weight. Walks down and up without recursion. */
static int find_ends(const struct graph *gr, uint32_t root, struct ends *ret)
{
	double least = (double)gr->total * gr->opts->graph_percent / 100.0;
	uint32_t at = root;

	for (;;) {
		const struct callgraph_node *n = &gr->g->node[at];

		if (at != root && samples_at(gr->g, at) && (double)n->self >= least) {
			if (array_grow(&ret->end, &ret->cap, ret->nr + 1, sizeof(*ret->end)) < 0)
				return -ENOMEM;
			ret->end[ret->nr] = (struct end){n->self, at, ret->nr};
			ret->nr++;
		}
		if (n->child != CALLGRAPH_NONE) {
			at = n->child;
			continue;
		}
		while (at != root && gr->g->node[at].sibling == CALLGRAPH_NONE)
			at = gr->g->node[at].parent;
		if (at == root)
			return 0;
		at = gr->g->node[at].sibling;
	}
}

static int compare_ends(const void *pa, const void *pb)
{
	const struct end *a = pa, *b = pb;

	if (a->self != b->self)
		return a->self > b->self ? -1 : 1;
	return a->order < b->order ? -1 : 1;
}

/* Writes the chains of a row, flat or folded, the heaviest first. */
static int put_chains(struct graph *gr, uint32_t root)
{
	struct ends ends = {0};
	size_t limit = gr->opts->graph_limit;
	int rc = find_ends(gr, root, &ends);

	if (ends.nr)
		qsort(ends.end, ends.nr, sizeof(*ends.end), compare_ends);
	for (size_t i = 0; !rc && i < ends.nr && (!limit || i < limit); i++)
		rc = gr->opts->graph_style == GRAPH_FLAT
			     ? put_flat_chain(gr, root, ends.end[i].node)
			     : put_chain(gr, root, ends.end[i].node);
	free(ends.end);
	return rc;
}

struct callers_bounds graph_bounds(uint64_t total, const struct table_opts *opts)
{
	return (struct callers_bounds){
		.percent = opts->graph_percent,
		.fractal = opts->graph_style == GRAPH_FRACTAL,
		.all = total,
	};
}

int graph_render(FILE *out, const struct graph_row *row, bool skip_first,
		 const struct table_opts *opts)
{
	struct graph gr = {
		.out = out,
		.g = row->g,
		.opts = opts,
		.total = row->total,
		.width = opts->width,
		.paint.color = "",
	};
	const struct callers_bounds bounds = graph_bounds(row->total, opts);
	uint32_t node = row->root, c;
	bool printed = false;
	int rc = 0;

	if (node == CALLGRAPH_NONE)
		return 0;
	if (opts->graph_style == GRAPH_FOLDED || opts->graph_style == GRAPH_FLAT) {
		rc = put_chains(&gr, node);
		buf_release(&gr.line);
		return rc;
	}
	/* No branch weighs more than its row: most rows of a large report end here. */
	if (!bounds.fractal && row->weight < (uint64_t)((double)bounds.all * bounds.percent / 100))
		return 0;
	c = first_child(&gr, node);
	if (c != CALLGRAPH_NONE && next_child(&gr, c) == CALLGRAPH_NONE &&
	    gr.g->node[c].total == row->weight)
		rc = put_trunk(&gr, c, skip_first, &node, &printed);
	if (!rc)
		rc = put_branches(&gr, node, 1, &printed);
	if (!rc && printed)
		putc('\n', out);
	buf_release(&gr.line);
	return rc;
}
