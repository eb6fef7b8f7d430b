// SPDX-License-Identifier: Apache-2.0
#include "report/diff/stacks.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "symbol/lines/inlines.h"

#define MAX_NODES (1u << 31)
#define ROOT	  0

/* A name below its callers. */
struct stack_node {
	const char *name; /* interned; NULL for ROOT */
	uint32_t parent;
	uint32_t first, nr; /* of its children in @order; by arrange() */
};

struct stacks {
	size_t nr_files, nr_added;
	struct strpool *pool;
	struct stack_node *node;
	uint64_t *samples; /* nr_files for each node: of stacks that end there */
	size_t nr, cap, cap_samples;
	struct hash_table table; /* of nodes, by parent and name */
	uint32_t *order;	 /* all nodes but ROOT, by parent, then by name */
};

void stacks_report_opts(const struct trace *t, struct report_opts *ret)
{
	ret->nr_keys = 0;
	ret->keys[ret->nr_keys++] = sort_key_find("comm", 4);
	if (!report_has_callchains(t))
		ret->keys[ret->nr_keys++] = sort_key_find("sym", 3);
	ret->graph = REPORT_GRAPH_CALLER;
}

void stacks_free(struct stacks *s)
{
	if (!s)
		return;
	strpool_free(s->pool);
	free(s->node);
	free(s->samples);
	free(s->order);
	hash_table_release(&s->table);
	free(s);
}

static bool is_node(const void *nodes, uint32_t number, const void *key)
{
	const struct stack_node *n = (const struct stack_node *)nodes + number, *k = key;

	return n->parent == k->parent && n->name == k->name;
}

/* Makes a node; returns 0, -ENOMEM or -E2BIG. */
static int push(struct stacks *s, const struct stack_node *n, uint64_t hash, uint32_t *ret)
{
	size_t files = s->nr_files;

	if (s->nr >= MAX_NODES)
		return -E2BIG;
	if (hash_table_reserve(&s->table, 1) < 0 ||
	    array_grow(&s->node, &s->cap, s->nr + 1, sizeof(*s->node)) < 0 ||
	    array_grow(&s->samples, &s->cap_samples, (s->nr + 1) * files, sizeof(*s->samples)) < 0)
		return -ENOMEM;
	*ret = (uint32_t)s->nr++;
	s->node[*ret] = *n;
	memset(&s->samples[*ret * files], 0, files * sizeof(*s->samples));
	hash_table_add(&s->table, hash, *ret);
	return 0;
}

/* Finds or makes the node below @parent for a name of @len bytes. */
static int child_of(struct stacks *s, uint32_t parent, const char *name, size_t len, uint32_t *ret)
{
	struct stack_node key = {
		.name = strpool_intern_len(s->pool, name, len),
		.parent = parent,
	};
	uint64_t hash = hash_word(hash_word(hash_key(), parent), (uintptr_t)key.name);

	if (!key.name)
		return -ENOMEM;
	*ret = hash_table_find(&s->table, hash, is_node, s->node, &key);
	return *ret == HASH_TABLE_NONE ? push(s, &key, hash, ret) : 0;
}

int stacks_new(size_t nr_files, struct stacks **ret)
{
	static const struct stack_node root = {.parent = ROOT};
	struct stacks *s = calloc(1, sizeof(*s));
	uint32_t number;

	if (!s)
		return -ENOMEM;
	s->nr_files = nr_files;
	s->pool = strpool_new();
	if (!s->pool || push(s, &root, 0, &number) < 0) {
		stacks_free(s);
		return -ENOMEM;
	}
	*ret = s;
	return 0;
}

static int frame_child(struct stacks *s, uint32_t parent, const struct callgraph_node *n,
		       uint32_t *ret)
{
	const char *file = n->dso ? n->dso->short_name : "unknown";
	struct buf name = {0};
	int rc;

	if (n->sym && !symbol_is_inlined(n->sym))
		return child_of(s, parent, n->sym->name, strlen(n->sym->name), ret);
	if (n->sym)
		rc = buf_printf(&name, "%s" INLINED_MARK, n->sym->name);
	else /* Names of what is no file, such as [vdso], have brackets. */
		rc = buf_printf(&name, *file == '[' ? "%s" : "[%s]", file);
	if (!rc)
		rc = child_of(s, parent, (const char *)name.data, name.len, ret);
	buf_release(&name);
	return rc;
}

static uint64_t *samples_of(struct stacks *s, uint32_t node)
{
	return &s->samples[node * s->nr_files + s->nr_added];
}

/* Returns the number of samples whose chain ends at @node. */
static uint64_t ends_at(const struct callgraph *g, uint32_t node)
{
	uint64_t n = g->node[node].samples;

	for (uint32_t c = g->node[node].child; c != CALLGRAPH_NONE; c = g->node[c].sibling)
		n -= g->node[c].samples;
	return n;
}

/* Adds the call tree @root below @mine. Walks down and up without recursion. */
static int add_tree(struct stacks *s, const struct callgraph *g, uint32_t root, uint32_t mine)
{
	uint32_t at = root;

	for (;;) {
		uint32_t next = g->node[at].child;
		int rc;

		*samples_of(s, mine) += ends_at(g, at);
		while (next == CALLGRAPH_NONE && at != root) {
			next = g->node[at].sibling;
			at = g->node[at].parent;
			mine = s->node[mine].parent;
		}
		if (next == CALLGRAPH_NONE)
			return 0;
		at = next;
		rc = frame_child(s, mine, &g->node[at], &mine);
		if (rc < 0)
			return rc;
	}
}

/* The letter of the level and its brackets, which are no part of the name: "[.] ". */
#define LEVEL_LEN 4

/* Finds or makes the node of a row's cells: the command, and the function if it is a key. */
static int row_node(struct stacks *s, const struct report *r, const struct hist *h,
		    const struct hist_entry *e, uint32_t event, uint32_t *ret)
{
	struct buf text = {0};
	int rc = 0;

	*ret = event;
	for (size_t k = 0; !rc && k < h->nr_keys; k++) {
		size_t skip = k ? LEVEL_LEN : 0;

		text.len = 0;
		rc = sort_key_common_text(h->keys[k], r->trace, hist_cells(h, e)[k], &text);
		if (!rc && text.len > skip)
			rc = child_of(s, *ret, (const char *)text.data + skip, text.len - skip,
				      ret);
	}
	buf_release(&text);
	return rc;
}

static int add_row(struct stacks *s, const struct report *r, const struct hist *h,
		   const struct hist_entry *e, uint32_t event)
{
	uint32_t mine;
	int rc = row_node(s, r, h, e, event, &mine);

	if (rc < 0)
		return rc;
	*samples_of(s, mine) += e->samples;
	if (e->root == CALLGRAPH_NONE)
		return 0;
	*samples_of(s, mine) -= h->graph.node[e->root].samples;
	return add_tree(s, &h->graph, e->root, mine);
}

int stacks_add(struct stacks *s, const struct report *r)
{
	int rc = 0;

	for (size_t i = 0; !rc && i < r->tables.nr; i++) {
		const struct hist *h = &r->tables.hists[i];
		const char *name = pd_evlist_at(r->trace->evlist, i)->name;
		uint32_t event;

		if (!h->samples)
			continue;
		rc = child_of(s, ROOT, name, strlen(name), &event);
		for (size_t j = 0; !rc && j < h->nr; j++)
			rc = add_row(s, r, h, &h->entry[j], event);
	}
	s->nr_added++;
	return rc;
}

size_t stacks_events(const struct stacks *s)
{
	size_t n = 0;

	for (size_t i = 1; i < s->nr; i++)
		n += s->node[i].parent == ROOT;
	return n;
}

static int compare_nodes(const void *pa, const void *pb, void *arg)
{
	const struct stacks *s = arg;
	const struct stack_node *a = &s->node[*(const uint32_t *)pa];
	const struct stack_node *b = &s->node[*(const uint32_t *)pb];

	if (a->parent != b->parent)
		return a->parent < b->parent ? -1 : 1;
	return strcmp(a->name, b->name);
}

/* Lists the children of each node in the order of their names. */
static int arrange(struct stacks *s)
{
	size_t nr = s->nr - 1;

	s->order = calloc(nr + 1, sizeof(*s->order));
	if (!s->order)
		return -ENOMEM;
	for (size_t i = 0; i < nr; i++)
		s->order[i] = (uint32_t)i + 1;
	qsort_r(s->order, nr, sizeof(*s->order), compare_nodes, s);
	for (size_t i = nr; i--;) {
		struct stack_node *parent = &s->node[s->node[s->order[i]].parent];

		parent->first = (uint32_t)i;
		parent->nr++;
	}
	return 0;
}

/* The names from the event down to a node. */
struct stack_path {
	const char **name;
	size_t nr, cap;
};

static bool has_samples(const struct stacks *s, uint32_t node)
{
	for (size_t f = 0; f < s->nr_files; f++)
		if (s->samples[node * s->nr_files + f])
			return true;
	return false;
}

/* Goes from @at to the next node: its first child, else the next one beside it or above. */
static uint32_t next_node(struct stacks *s, uint32_t at, struct stack_path *path)
{
	while (!s->node[at].nr) {
		if (at == ROOT)
			return ROOT;
		at = s->node[at].parent;
		path->nr--;
	}
	s->node[at].nr--;
	return s->order[s->node[at].first++];
}

int stacks_walk(struct stacks *s, stacks_fn fn, void *arg)
{
	struct stack_path path = {0};
	int rc = arrange(s);

	for (uint32_t at = ROOT; !rc && (at = next_node(s, at, &path)) != ROOT;) {
		rc = array_grow(&path.name, &path.cap, path.nr + 1, sizeof(*path.name));
		if (rc < 0)
			break;
		path.name[path.nr++] = s->node[at].name;
		if (has_samples(s, at))
			rc = fn(path.name, path.nr, &s->samples[at * s->nr_files], arg);
	}
	free(path.name);
	return rc;
}
