// SPDX-License-Identifier: Apache-2.0
#include "report/latency/call_tree.h"

#include <errno.h>
#include <stdlib.h>

#include "base/buf.h"

static uint32_t find_child(const struct call_tree *t, uint32_t parent, uint32_t function)
{
	if (t->nodes[parent].function == function)
		return parent;
	for (uint32_t i = t->nodes[parent].child; i; i = t->nodes[i].next)
		if (t->nodes[i].function == function)
			return i;
	return CALL_TREE_NONE;
}

static int add(struct call_tree *t, uint32_t parent, uint32_t function, uint32_t *ret)
{
	uint32_t at = (uint32_t)t->nr;
	struct call_node *p;

	if (array_grow(&t->nodes, &t->cap, t->nr + 1, sizeof(*t->nodes)))
		return -ENOMEM;
	t->nodes[at] = (struct call_node){.function = function};
	t->nr++;
	*ret = at;
	if (!at)
		return 0;
	p = &t->nodes[parent];
	t->nodes[at].depth = p->depth + 1;
	/* Children are in the order of their first calls. */
	if (p->child)
		t->nodes[p->last].next = at;
	else
		p->child = at;
	p->last = at;
	return 0;
}

int call_tree_enter(struct call_tree *t, uint32_t parent, uint32_t function, uint32_t *ret)
{
	*ret = CALL_TREE_NONE;
	if (t->nr) {
		if (parent != CALL_TREE_NONE)
			*ret = find_child(t, parent, function);
		if (*ret != CALL_TREE_NONE)
			return 0;
		if (parent == CALL_TREE_NONE || t->nr == CALL_TREE_NODES ||
		    t->nodes[parent].depth == CALL_TREE_DEPTH) {
			t->left_out++;
			return 0;
		}
	}
	return add(t, parent, function, ret);
}

void call_tree_leave(struct call_tree *t, uint32_t parent, uint32_t node, uint64_t ns)
{
	struct call_node *n = &t->nodes[node];

	n->calls++;
	if (node == parent)
		return;
	n->total += ns;
	if (ns > n->longest)
		n->longest = ns;
	if (parent != CALL_TREE_NONE)
		t->nodes[parent].inner += ns;
}

uint64_t call_node_self(const struct call_node *node)
{
	return node->total > node->inner ? node->total - node->inner : 0;
}

struct child {
	uint64_t total;
	uint32_t node;
};

static int compare(const void *a, const void *b)
{
	const struct child *x = a, *y = b;

	if (x->total != y->total)
		return x->total > y->total ? -1 : 1;
	return x->node < y->node ? -1 : x->node > y->node;
}

int64_t call_tree_children(const struct call_tree *t, uint32_t node, uint32_t **ret)
{
	struct child *sorted = NULL;
	size_t nr = 0, cap = 0;

	*ret = NULL;
	for (uint32_t i = t->nodes[node].child; i; i = t->nodes[i].next) {
		if (array_grow(&sorted, &cap, nr + 1, sizeof(*sorted))) {
			free(sorted);
			return -ENOMEM;
		}
		sorted[nr++] = (struct child){.total = t->nodes[i].total, .node = i};
	}
	if (!nr)
		return 0;
	qsort(sorted, nr, sizeof(*sorted), compare);
	*ret = malloc(nr * sizeof(**ret));
	for (size_t i = 0; *ret && i < nr; i++)
		(*ret)[i] = sorted[i].node;
	free(sorted);
	return *ret ? (int64_t)nr : -ENOMEM;
}

void call_tree_release(struct call_tree *t)
{
	free(t->nodes);
	*t = (struct call_tree){0};
}
