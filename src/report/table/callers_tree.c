// SPDX-License-Identifier: Apache-2.0
/*
 * The tree of a row, made of those parts of the paths that belong to it.
 *
 * Callers on one path share the callees below them. The tree of a set of nodes is therefore kept
 * under the name of the set, and used again for the same set. Without that, each of n frames in a
 * row would cost all the chains of the other n - 1.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/hash.h"
#include "base/hash_table.h"
#include "report/table/callers_priv.h"

#define NONE	     UINT32_MAX
#define BRANCHES_MAX (1u << 21) /* kept from row to row, at most */

/* --- sets of nodes -------------------------------------------------------------------------------
 */

/* Name of a set: two sums of the hashes of its nodes; the row, if its own samples are left out. */
struct set_name {
	uint64_t a, b;
	uint32_t row;
};

struct set {
	struct set_name name;
	uint64_t self;
	uint32_t first, nr; /* branches */
};

/* A child of the node that stands for a set. */
struct branch {
	uint32_t node; /* one of those with its frame */
	uint32_t set;  /* the set below it; NONE: not drawn */
	struct callers_weight w;
	bool guessed;
};

struct callers_sets {
	struct callers_bounds bounds; /* of the trees */
	uint64_t key;
	struct set *set;
	size_t nr, cap;
	struct branch *branch;
	size_t nr_branches, cap_branches;
	struct hash_table table; /* of sets, by name */
};

void callers_forget_trees(struct callers *c)
{
	struct callers_sets *s = c->sets;

	if (!s)
		return;
	free(s->set);
	free(s->branch);
	hash_table_release(&s->table);
	free(s);
	c->sets = NULL;
}

static bool same_bounds(const struct callers_bounds *a, const struct callers_bounds *b)
{
	return a->percent == b->percent && a->fractal == b->fractal && a->all == b->all;
}

/* Makes room for the sets of one more row. */
static int sets_prepare(struct callers *c, const struct callers_bounds *bounds)
{
	struct callers_sets *s = c->sets;

	if (s && (s->nr_branches > BRANCHES_MAX || !same_bounds(&s->bounds, bounds)))
		callers_forget_trees(c);
	if (c->sets)
		return 0;
	c->sets = calloc(1, sizeof(*c->sets));
	if (!c->sets)
		return -ENOMEM;
	c->sets->bounds = *bounds;
	c->sets->key = hash_key();
	return 0;
}

static uint64_t set_hash(const struct set_name *name)
{
	return name->a ^ name->row;
}

static bool is_set(const void *sets, uint32_t number, const void *key)
{
	const struct set_name *there = &((const struct set *)sets)[number].name, *name = key;

	return there->a == name->a && there->b == name->b && there->row == name->row;
}

static uint32_t set_find(const struct callers_sets *s, const struct set_name *name)
{
	return hash_table_find(&s->table, set_hash(name), is_set, s->set, name);
}

/* Keeps a new set with the @nr branches at @branch. */
static int set_add(struct callers_sets *s, const struct set_name *name, uint64_t self,
		   const struct branch *branch, size_t nr, uint32_t *ret)
{
	if (s->nr_branches + nr >= NONE)
		return -E2BIG;
	if (hash_table_reserve(&s->table, 1) < 0 ||
	    array_grow(&s->set, &s->cap, s->nr + 1, sizeof(*s->set)) < 0 ||
	    array_grow(&s->branch, &s->cap_branches, s->nr_branches + nr, sizeof(*s->branch)) < 0)
		return -ENOMEM;
	s->set[s->nr] = (struct set){*name, self, s->nr_branches, nr};
	if (nr)
		memcpy(&s->branch[s->nr_branches], branch, nr * sizeof(*branch));
	s->nr_branches += nr;
	*ret = s->nr++;
	hash_table_add(&s->table, set_hash(name), *ret);
	return 0;
}

/* --- parts ---------------------------------------------------------------------------------------
 */

/*
 * A part of a node of the tree: node @node of the paths with all below it, without samples of the
 * row itself; or, with @step, one chain of such a sample, from that step on.
 */
struct callers_part {
	uint32_t node, to;
	uint32_t step; /* index in build.step, or NONE */
	struct callers_weight w;
};

struct build {
	struct callers *c;
	const struct callers_bounds *bounds;
	struct callgraph *out;
	uint32_t row;
	struct callers_part *part; /* a stack */
	size_t nr, cap;
	uint32_t *step; /* nodes of chains, the outermost first, NONE behind each */
	size_t nr_steps, cap_steps;
	struct branch *branch; /* a stack */
	size_t nr_branches, cap_branches;
};

bool callers_wanted(const struct callers_bounds *b, const struct callgraph_node *parent,
		    const struct callgraph_node *n)
{
	double all = (double)(b->fractal ? parent->total - parent->self : b->all);

	return n->total >= (uint64_t)(all * b->percent / 100.0);
}

/* Finds or makes the child of @parent for the frame of @node, and adds @w to it. */
static int add_to_child(struct build *b, uint32_t parent, uint32_t node, struct callers_weight w,
			uint32_t *ret)
{
	struct callgraph_node n = b->c->paths.graph.node[node];
	int rc;

	/* Rows of lines tell frames of one function apart, which the tree need not. */
	if (n.at_place)
		callers_show_place(b->c, b->out->by, &n);
	if (n.at_line && b->out->by == CALLGRAPH_BY_FUNCTION) {
		n.at_line = false;
		n.addr = n.sym->start;
	}
	rc = callgraph_child(b->out, parent, &n, ret);
	if (rc < 0)
		return rc;
	b->out->node[*ret].total += w.period;
	b->out->node[*ret].samples += w.samples;
	return 0;
}

static int push_part(struct build *b, uint32_t parent, struct callers_part part)
{
	int rc = add_to_child(b, parent, part.node, part.w, &part.to);

	if (rc < 0)
		return rc;
	if (array_grow(&b->part, &b->cap, b->nr + 1, sizeof(*b->part)) < 0)
		return -ENOMEM;
	b->part[b->nr++] = part;
	return 0;
}

/* Adds @node below @parent, or the samples that end there. */
static int add_node(struct build *b, uint32_t node, uint32_t parent)
{
	const struct callgraph_node *n = &b->c->paths.graph.node[node];
	const struct callers_weight *own = &b->c->own[node];
	struct callers_weight w = {n->total - own->period, n->samples - own->samples};

	if (!w.samples)
		return 0;
	if (n->own) {
		b->out->node[parent].self += w.period;
		return 0;
	}
	return push_part(b, parent, (struct callers_part){.node = node, .step = NONE, .w = w});
}

static int add_children(struct build *b, uint32_t node, uint32_t parent)
{
	const struct callgraph *g = &b->c->paths.graph;
	int rc = 0;

	for (uint32_t i = g->node[node].child; !rc && i != CALLGRAPH_NONE; i = g->node[i].sibling)
		rc = add_node(b, i, parent);
	return rc;
}

/* Adds the children of @part below @to. */
static int follow(struct build *b, struct callers_part part, uint32_t to)
{
	if (part.step == NONE) {
		b->out->node[to].self += b->c->paths.graph.node[part.node].self;
		return add_children(b, part.node, to);
	}
	part.node = b->step[++part.step];
	if (part.node != NONE)
		return push_part(b, to, part);
	b->out->node[to].self += part.w.period;
	return 0;
}

/* --- the tree ------------------------------------------------------------------------------------
 */

static int compare_parts(const void *pa, const void *pb)
{
	const struct callers_part *a = pa, *b = pb;

	return a->to < b->to ? -1 : a->to > b->to;
}

static void sort_parts(struct callers_part *part, size_t nr)
{
	for (size_t i = 1; i < nr; i++)
		if (part[i - 1].to > part[i].to) {
			qsort(part, nr, sizeof(*part), compare_parts);
			return;
		}
}

/* Returns false if a part is a chain, because only nodes form a set. */
static bool name_set(const struct build *b, const struct callers_part *part, size_t nr,
		     struct set_name *ret)
{
	uint64_t key = b->c->sets->key;
	bool own = false;

	*ret = (struct set_name){.row = ROW_NONE};
	for (size_t i = 0; i < nr; i++) {
		uint64_t h = hash_word(key, part[i].node);

		if (part[i].step != NONE)
			return false;
		ret->a += h;
		ret->b += hash_word(key, h);
		own |= b->c->own[part[i].node].samples;
	}
	if (own)
		ret->row = b->row;
	return true;
}

/* Copies the tree that was made for @set below @to. Recursion is as deep as the tree. */
static int repeat(struct build *b, uint32_t to, uint32_t index)
{
	const struct callers_sets *s = b->c->sets;
	const struct set *set = &s->set[index];
	int rc = 0;

	b->out->node[to].self += set->self;
	for (uint32_t i = set->first; !rc && i < set->first + set->nr; i++) {
		const struct branch *br = &s->branch[i];
		uint32_t child;

		rc = add_to_child(b, to, br->node, br->w, &child);
		if (rc < 0)
			return rc;
		b->out->node[child].guessed |= br->guessed;
		if (br->set != NONE)
			rc = repeat(b, child, br->set);
	}
	return rc;
}

static int push_branch(struct build *b, uint32_t node, const struct callgraph_node *n, uint32_t set)
{
	if (array_grow(&b->branch, &b->cap_branches, b->nr_branches + 1, sizeof(*b->branch)) < 0)
		return -ENOMEM;
	b->branch[b->nr_branches++] = (struct branch){
		.node = node,
		.set = set,
		.w = {n->total, n->samples},
		.guessed = n->guessed,
	};
	return 0;
}

static int expand(struct build *b, uint32_t to, size_t from, size_t end, uint32_t *ret_set);

/*
 * Makes the trees below the children of @parent, whose parts lie on the stack from @start on, and
 * pushes a branch for each.
 */
static int expand_children(struct build *b, uint32_t parent, size_t start)
{
	size_t end = b->nr;
	int rc = 0;

	if (start == end)
		return 0; /* the stack may not be allocated */
	sort_parts(b->part + start, end - start);
	for (size_t i = start, next; !rc && i < end; i = next) {
		uint32_t to = b->part[i].to, set = NONE;

		for (next = i + 1; next < end && b->part[next].to == to;)
			next++;
		if (callers_wanted(b->bounds, &b->out->node[parent], &b->out->node[to]))
			rc = expand(b, to, i, next, &set);
		if (!rc)
			rc = push_branch(b, b->part[i].node, &b->out->node[to], set);
	}
	b->nr = start;
	return rc;
}

/* Makes the tree below @to from its parts, @from up to @end. */
static int expand(struct build *b, uint32_t to, size_t from, size_t end, uint32_t *ret_set)
{
	size_t start = b->nr, first = b->nr_branches;
	struct set_name name;
	bool named = name_set(b, b->part + from, end - from, &name);
	int rc = 0;

	*ret_set = named ? set_find(b->c->sets, &name) : NONE;
	if (*ret_set != NONE)
		return repeat(b, to, *ret_set);
	for (size_t i = from; !rc && i < end; i++)
		rc = follow(b, b->part[i], to);
	if (!rc)
		rc = expand_children(b, to, start);
	if (!rc && named)
		rc = set_add(b->c->sets, &name, b->out->node[to].self,
			     b->branch ? b->branch + first : NULL, b->nr_branches - first, ret_set);
	b->nr_branches = first;
	return rc;
}

static int push_step(struct build *b, uint32_t node)
{
	if (b->nr_steps >= NONE)
		return -E2BIG;
	if (array_grow(&b->step, &b->cap_steps, b->nr_steps + 1, sizeof(*b->step)) < 0)
		return -ENOMEM;
	b->step[b->nr_steps++] = node;
	return 0;
}

/* Adds the whole chain of samples of the row itself, from the outermost caller down. */
static int add_whole(struct build *b, uint32_t own, uint32_t root)
{
	const struct callgraph *g = &b->c->paths.graph;
	struct callers_part part = {.step = b->nr_steps,
				    .w = {g->node[own].total, g->node[own].samples}};
	int rc = 0;

	for (uint32_t at = own; g->node[at].parent != CALLGRAPH_NONE; at = g->node[at].parent) {
		b->c->own[at].period += part.w.period;
		b->c->own[at].samples += part.w.samples;
		if (!rc && at != own)
			rc = push_step(b, at);
	}
	for (size_t i = part.step, k = b->nr_steps; i + 1 < k; i++) {
		uint32_t at = b->step[i];

		b->step[i] = b->step[--k];
		b->step[k] = at;
	}
	if (!rc && b->nr_steps == part.step)
		return 0; /* it has no chain */
	rc = rc ?: push_step(b, NONE);
	part.node = rc ? NONE : b->step[part.step];
	return rc ?: push_part(b, root, part);
}

static int add_parts(struct build *b, uint32_t root)
{
	const struct callers *c = b->c;
	const struct callgraph *g = &c->paths.graph;
	int rc = 0;

	/* Begin with samples of the row itself: they do not count below callers. */
	for (uint32_t i = c->first[b->row]; !rc && i < c->first[b->row + 1]; i++) {
		if (!g->node[c->node[i]].own)
			continue;
		if (c->order == CALLGRAPH_CALLER)
			rc = add_whole(b, c->node[i], root);
		else
			rc = add_children(b, c->node[i], root);
	}
	for (uint32_t i = c->first[b->row]; !rc && i < c->first[b->row + 1]; i++)
		if (!g->node[c->node[i]].own)
			rc = add_node(b, c->node[i], root);
	for (size_t i = 0; !rc && i < b->nr; i++) {
		b->out->node[root].total += b->part[i].w.period;
		b->out->node[root].samples += b->part[i].w.samples;
	}
	return rc;
}

/* The opposite of add_whole(). */
static void forget_own(struct callers *c, uint32_t row)
{
	const struct callgraph *g = &c->paths.graph;

	for (uint32_t i = c->first[row]; i < c->first[row + 1]; i++)
		if (g->node[c->node[i]].own)
			for (uint32_t at = c->node[i]; at != CALLGRAPH_NONE && c->own[at].samples;
			     at = g->node[at].parent)
				c->own[at] = (struct callers_weight){0};
}

int callers_tree(struct callers *c, const struct hist_entry *e, const struct callers_bounds *bounds,
		 struct callgraph *ret, uint32_t *ret_root)
{
	struct build b = {.c = c, .bounds = bounds, .out = ret, .row = e->root};
	uint32_t root;
	int rc = sets_prepare(c, bounds);

	callgraph_clear(ret);
	if (e->root == CALLGRAPH_NONE) { /* a row of another event alone */
		*ret_root = CALLGRAPH_NONE;
		return rc;
	}
	rc = rc ?: callgraph_root(ret, &root);
	rc = rc ?: add_parts(&b, root);
	*ret_root = !rc && b.nr ? root : CALLGRAPH_NONE;
	rc = rc ?: expand_children(&b, root, 0);
	forget_own(c, b.row);
	free(b.part);
	free(b.step);
	free(b.branch);
	return rc ?: callgraph_sort(ret);
}
