// SPDX-License-Identifier: Apache-2.0
#include "report/table/callgraph.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/hash.h"

#define MAX_NODES    (1u << 31)
#define FEW_CHILDREN 4 /* that are compared one after the other */

void callgraph_release(struct callgraph *g)
{
	free(g->node);
	free(g->latency);
	free(g->branches);
	hash_table_release(&g->table);
	*g = (struct callgraph){0};
}

#define SMALL_FOREST 4096 /* nodes */

void callgraph_clear(struct callgraph *g)
{
	enum callgraph_key by = g->by;

	if (g->cap > SMALL_FOREST) {
		callgraph_release(g);
		g->by = by;
		return;
	}
	g->nr = 0;
	hash_table_clear(&g->table);
}

static uint64_t mix(uint64_t h)
{
	h ^= h >> 32;
	h *= 0xd6e8feb86659fd93ull;
	h ^= h >> 32;
	return h;
}

static const char *line_of(const struct callgraph_node *n)
{
	return (const char *)(uintptr_t)n->addr;
}

static uint64_t node_hash(const struct callgraph *g, uint32_t parent,
			  const struct callgraph_node *n)
{
	uint64_t h = mix(g->key ^ (((uint64_t)parent << 9) + ((uint64_t)n->own << 8) + n->cpumode));

	if (n->at_line)
		return mix(h ^ (uintptr_t)n->sym ^
			   hash_bytes(g->key, line_of(n), strlen(line_of(n))));
	if (n->at_place)
		return mix(mix(h ^ (uintptr_t)n->sym) ^ n->addr);
	if (n->sym && g->by == CALLGRAPH_BY_FUNCTION)
		return mix(h ^ (uintptr_t)n->sym);
	if (n->sym)
		return mix(mix(h ^ (uintptr_t)n->sym) ^ n->addr);
	return mix(mix(h ^ (uintptr_t)n->dso) ^ n->addr);
}

static bool same_frame(const struct callgraph_node *a, const struct callgraph_node *b)
{
	if (a->sym != b->sym || a->dso != b->dso || a->cpumode != b->cpumode || a->own != b->own ||
	    a->at_line != b->at_line || a->at_place != b->at_place)
		return false;
	return a->addr == b->addr || (a->at_line && !strcmp(line_of(a), line_of(b)));
}

struct child_key {
	uint32_t parent;
	const struct callgraph_node *frame;
};

static bool is_child(const void *nodes, uint32_t number, const void *key)
{
	const struct callgraph_node *n = (const struct callgraph_node *)nodes + number;
	const struct child_key *child = key;

	return n->parent == child->parent && same_frame(n, child->frame);
}

static int push(struct callgraph *g, const struct callgraph_node *n, uint32_t *ret)
{
	if (g->nr >= MAX_NODES)
		return -E2BIG;
	if (array_grow(&g->node, &g->cap, g->nr + 1, sizeof(*g->node)) < 0)
		return -ENOMEM;
	g->node[g->nr] = *n;
	*ret = g->nr++;
	return 0;
}

int callgraph_root(struct callgraph *g, uint32_t *ret)
{
	static const struct callgraph_node empty = {
		.parent = CALLGRAPH_NONE, .child = CALLGRAPH_NONE, .sibling = CALLGRAPH_NONE};

	return push(g, &empty, ret);
}

/* Finds a child among few, without the table: most nodes have one child or none. */
static uint32_t find_among_few(const struct callgraph *g, uint32_t parent,
			       const struct callgraph_node *key)
{
	uint32_t at = g->node[parent].child;

	while (at != CALLGRAPH_NONE && !same_frame(&g->node[at], key))
		at = g->node[at].sibling;
	return at;
}

/* Adds all children of @parent to the table, and makes room for one more. */
static int index_children(struct callgraph *g, uint32_t parent)
{
	int rc = hash_table_reserve(&g->table, FEW_CHILDREN + 1);

	for (uint32_t at = g->node[parent].child; !rc && at != CALLGRAPH_NONE;
	     at = g->node[at].sibling)
		hash_table_add(&g->table, node_hash(g, parent, &g->node[at]), at);
	return rc;
}

static int add_child(struct callgraph *g, uint32_t parent, const struct callgraph_node *key,
		     uint32_t *ret)
{
	struct callgraph_node made = *key;
	int rc;

	made.self = made.total = made.samples = 0;
	made.parent = parent;
	made.children = 0;
	made.child = CALLGRAPH_NONE;
	made.sibling = g->node[parent].child;
	rc = push(g, &made, ret);
	if (!rc)
		g->node[parent].child = *ret;
	return rc;
}

/* As callgraph_child(), where @parent has many children. */
static int child_of_many(struct callgraph *g, uint32_t parent, const struct callgraph_node *key,
			 uint32_t *ret)
{
	const struct child_key child = {parent, key};
	uint64_t hash = node_hash(g, parent, key);
	int rc;

	*ret = hash_table_find(&g->table, hash, is_child, g->node, &child);
	if (*ret != HASH_TABLE_NONE) {
		g->node[*ret].guessed |= key->guessed;
		return 0;
	}
	rc = hash_table_reserve(&g->table, 1) ?: add_child(g, parent, key, ret);
	if (!rc)
		hash_table_add(&g->table, hash, *ret);
	return rc;
}

int callgraph_child(struct callgraph *g, uint32_t parent, const struct callgraph_node *key,
		    uint32_t *ret)
{
	int rc;

	if (g->node[parent].children > FEW_CHILDREN)
		return child_of_many(g, parent, key, ret);
	*ret = find_among_few(g, parent, key);
	if (*ret != CALLGRAPH_NONE) {
		g->node[*ret].guessed |= key->guessed;
		return 0;
	}
	if (g->node[parent].children == FEW_CHILDREN) {
		if (!g->key)
			g->key = hash_key();
		rc = index_children(g, parent);
		if (!rc)
			g->node[parent].children++;
		return rc ?: child_of_many(g, parent, key, ret);
	}
	rc = add_child(g, parent, key, ret);
	if (!rc)
		g->node[parent].children++;
	return rc;
}

void callgraph_credit(struct callgraph *g, uint32_t at, uint64_t period, uint64_t samples)
{
	g->node[at].self += period;
	for (; at != CALLGRAPH_NONE; at = g->node[at].parent) {
		g->node[at].total += period;
		g->node[at].samples += samples;
	}
}

static int child_of_frame(struct callgraph *g, uint32_t parent, const struct frame *f, bool own,
			  uint32_t *ret)
{
	/* The sample itself is at the innermost line; the functions there are frames of the chain.
	 */
	const char *line = f->lines ? f->lines->frame[own ? 0 : f->line].srcline : NULL;
	struct callgraph_node key = {
		.dso = f->dso,
		.sym = f->sym,
		.addr = f->sym && g->by != CALLGRAPH_BY_ADDRESS ? f->sym->start : f->addr,
		.cpumode = f->cpumode,
		.own = own,
		.guessed = f->guessed,
	};

	if (g->by == CALLGRAPH_BY_LINE && f->sym && line) {
		key.at_line = true;
		key.addr = (uintptr_t)line;
	}
	if (g->by == CALLGRAPH_BY_PLACE) {
		key.at_place = true;
		key.addr = f->place;
	}
	return callgraph_child(g, parent, &key, ret);
}

/* Makes room for the latencies of all nodes. */
static int grow_latency(struct callgraph *g)
{
	size_t had = g->cap_latency;

	if (had >= g->nr)
		return 0;
	if (array_grow(&g->latency, &g->cap_latency, g->nr, sizeof(*g->latency)) < 0)
		return -ENOMEM;
	memset(g->latency + had, 0, (g->cap_latency - had) * sizeof(*g->latency));
	return 0;
}

/* The same for branches. */
static int grow_branches(struct callgraph *g)
{
	size_t had = g->cap_branches;

	if (had >= g->nr)
		return 0;
	if (array_grow(&g->branches, &g->cap_branches, g->nr, sizeof(*g->branches)) < 0)
		return -ENOMEM;
	memset(g->branches + had, 0, (g->cap_branches - had) * sizeof(*g->branches));
	return 0;
}

const struct callgraph_branches *callgraph_branches(const struct callgraph *g, uint32_t node)
{
	return node < g->cap_branches ? &g->branches[node] : NULL;
}

static void count_side(struct callgraph_branches *b, const struct frame *f, uint64_t samples)
{
	const struct branch_step *step = f->step;

	switch (f->side) {
	case FRAME_OF_CHAIN: b->calls += samples; break;
	case FRAME_BESIDE: break;
	case FRAME_TO:
		b->to += samples;
		b->known += step->known * samples;
		b->predicted += step->predicted * samples;
		b->aborted += step->aborted * samples;
		break;
	case FRAME_FROM:
		b->from += samples;
		b->cycles += step->cycles * samples;
		b->iterations += step->iterations * samples;
		b->iteration_cycles += step->iteration_cycles * samples;
		break;
	}
}

/* Counts the branches of a path that begins with one; @at is its last node. */
static void credit_branches(struct callgraph *g, uint32_t at, const struct frame *frame, size_t nr,
			    enum callgraph_order order, uint64_t samples)
{
	for (size_t i = 0; i < nr; i++, at = g->node[at].parent)
		count_side(&g->branches[at], &frame[order == CALLGRAPH_CALLER ? i : nr - 1 - i],
			   samples);
}

static bool has_branches(const struct frame *frame, size_t nr)
{
	return nr && frame[0].side != FRAME_OF_CHAIN;
}

int callgraph_credit_latency(struct callgraph *g, uint32_t at, uint64_t latency)
{
	if (grow_latency(g) < 0)
		return -ENOMEM;
	for (; at != CALLGRAPH_NONE; at = g->node[at].parent)
		g->latency[at] += latency;
	return 0;
}

uint64_t callgraph_latency(const struct callgraph *g, uint32_t node)
{
	return node < g->cap_latency ? g->latency[node] : 0;
}

static int add(struct callgraph *g, uint32_t root, const struct frame *own,
	       const struct frame *frame, size_t nr, enum callgraph_order order, uint64_t period,
	       uint64_t samples, uint32_t *ret_at)
{
	uint32_t at = root;
	int rc = 0;

	if (own && order == CALLGRAPH_CALLEE)
		rc = child_of_frame(g, at, own, true, &at);
	for (size_t i = 0; !rc && i < nr; i++)
		rc = child_of_frame(g, at, &frame[order == CALLGRAPH_CALLER ? nr - 1 - i : i],
				    false, &at);
	if (!rc && own && order == CALLGRAPH_CALLER)
		rc = child_of_frame(g, at, own, true, &at);
	if (!rc && !own && has_branches(frame, nr))
		rc = grow_branches(g);
	if (rc < 0)
		return rc;
	callgraph_credit(g, at, period, samples);
	if (!own && has_branches(frame, nr))
		credit_branches(g, at, frame, nr, order, samples);
	*ret_at = at;
	return 0;
}

int callgraph_add(struct callgraph *g, uint32_t root, const struct frame *frame, size_t nr,
		  enum callgraph_order order, uint64_t period, uint64_t samples)
{
	uint32_t at;

	return add(g, root, NULL, frame, nr, order, period, samples, &at);
}

int callgraph_add_own(struct callgraph *g, uint32_t root, const struct frame *own,
		      const struct frame *frame, size_t nr, enum callgraph_order order,
		      uint64_t period, uint64_t samples, uint32_t *ret_at)
{
	return add(g, root, own, frame, nr, order, period, samples, ret_at);
}

static void add_branches(struct callgraph_branches *to, const struct callgraph_branches *from)
{
	to->to += from->to;
	to->known += from->known;
	to->predicted += from->predicted;
	to->aborted += from->aborted;
	to->from += from->from;
	to->cycles += from->cycles;
	to->iterations += from->iterations;
	to->iteration_cycles += from->iteration_cycles;
	to->calls += from->calls;
}

/* Adds the sums of node @src of @from to node @dst. */
static int add_sums(struct callgraph *g, uint32_t dst, const struct callgraph *from, uint32_t src)
{
	g->node[dst].self += from->node[src].self;
	g->node[dst].total += from->node[src].total;
	g->node[dst].samples += from->node[src].samples;
	if (from->latency) {
		if (grow_latency(g) < 0)
			return -ENOMEM;
		g->latency[dst] += callgraph_latency(from, src);
	}
	if (!callgraph_branches(from, src))
		return 0;
	if (grow_branches(g) < 0)
		return -ENOMEM;
	add_branches(&g->branches[dst], callgraph_branches(from, src));
	return 0;
}

int callgraph_merge(struct callgraph *g, uint32_t root, const struct callgraph *from,
		    uint32_t from_root)
{
	uint32_t src = from_root, dst = root;
	int rc = add_sums(g, dst, from, src);

	/* Depth first without recursion: @dst is always the node that corresponds to @src. */
	while (!rc) {
		uint32_t next = from->node[src].child;

		if (next == CALLGRAPH_NONE) {
			while (src != from_root && from->node[src].sibling == CALLGRAPH_NONE) {
				src = from->node[src].parent;
				dst = g->node[dst].parent;
			}
			if (src == from_root)
				return 0;
			next = from->node[src].sibling;
			dst = g->node[dst].parent;
		}
		src = next;
		rc = callgraph_child(g, dst, &from->node[src], &dst);
		if (!rc)
			rc = add_sums(g, dst, from, src);
	}
	return rc;
}

static int compare_names(const struct callgraph_node *a, const struct callgraph_node *b)
{
	if (a->sym && b->sym)
		return strcmp(a->sym->name, b->sym->name);
	return (a->sym == NULL) - (b->sym == NULL);
}

static int compare(const void *pa, const void *pb, void *arg)
{
	const struct callgraph *g = arg;
	const struct callgraph_node *a = &g->node[*(const uint32_t *)pa];
	const struct callgraph_node *b = &g->node[*(const uint32_t *)pb];
	int c;

	if (a->total != b->total)
		return a->total > b->total ? -1 : 1;
	c = compare_names(a, b);
	if (c)
		return c;
	if (a->at_line || b->at_line)
		c = a->at_line && b->at_line ? strcmp(line_of(a), line_of(b))
					     : a->at_line - b->at_line;
	if (c)
		return c;
	if (!a->at_line && a->addr != b->addr)
		return a->addr < b->addr ? -1 : 1;
	if (a->dso != b->dso && a->dso && b->dso)
		return a->dso->index < b->dso->index ? -1 : 1;
	return (a->dso != NULL) - (b->dso != NULL);
}

int callgraph_sort(struct callgraph *g)
{
	uint32_t *list = NULL;
	size_t cap = 0;

	for (size_t i = 0; i < g->nr; i++) {
		size_t n = 0;

		if (g->node[i].children < 2)
			continue;
		for (uint32_t c = g->node[i].child; c != CALLGRAPH_NONE; c = g->node[c].sibling) {
			if (array_grow(&list, &cap, n + 1, sizeof(*list)) < 0) {
				free(list);
				return -ENOMEM;
			}
			list[n++] = c;
		}
		qsort_r(list, n, sizeof(*list), compare, g);
		g->node[i].child = list[0];
		for (size_t k = 0; k < n; k++)
			g->node[list[k]].sibling = k + 1 < n ? list[k + 1] : CALLGRAPH_NONE;
	}
	free(list);
	return 0;
}
