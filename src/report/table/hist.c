// SPDX-License-Identifier: Apache-2.0
#include "report/table/hist.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/hash.h"

#define MAX_ROWS (1u << 28) /* times SORT_KEYS_MAX still fits hist_entry.cells */

int hist_init(struct hist *h, const struct sort_key *const *keys, size_t nr_keys)
{
	*h = (struct hist){
		.keys = keys,
		.nr_keys = nr_keys,
		.names.pool = strpool_new(),
		.key = hash_key(),
	};
	return h->names.pool ? 0 : -ENOMEM;
}

void hist_release(struct hist *h)
{
	strpool_free(h->names.pool);
	free(h->entry);
	free(h->cells);
	hash_table_release(&h->table);
	callgraph_release(&h->graph);
	*h = (struct hist){0};
}

/* Faster than hash_word(), and with a secret seed good enough. */
static uint64_t hash_cells(const struct hist *hist, const struct hist_cell *cells)
{
	uint64_t h = hist->key;
	size_t n = hist->nr_keys;

	for (size_t i = 0; i < n; i++) {
		h = (h ^ cells[i].a) * 0x9e3779b97f4a7c15ull;
		h ^= h >> 32;
		h = (h ^ cells[i].b) * 0xd6e8feb86659fd93ull;
		h ^= h >> 29;
	}
	return h;
}

static bool same_cells(const struct hist_cell *a, const struct hist_cell *b, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (a[i].a != b[i].a || a[i].b != b[i].b)
			return false;
	return true;
}

static bool is_row(const void *hist, uint32_t number, const void *cells)
{
	const struct hist *h = hist;

	return same_cells(hist_cells(h, &h->entry[number]), cells, h->nr_keys);
}

int hist_row(struct hist *h, const struct hist_cell *cells, uint32_t *ret)
{
	uint64_t hash;

	if (h->nr && same_cells(hist_cells(h, &h->entry[h->last]), cells, h->nr_keys)) {
		*ret = h->last;
		return 0;
	}
	hash = hash_cells(h, cells);
	*ret = hash_table_find(&h->table, hash, is_row, h, cells);
	if (*ret != HASH_TABLE_NONE) {
		h->last = *ret;
		return 0;
	}
	if (h->nr >= MAX_ROWS)
		return -E2BIG;
	/* One cell more than there are: keys may be none, an address there must be. */
	if (hash_table_reserve(&h->table, 1) < 0 ||
	    array_grow(&h->entry, &h->cap, h->nr + 1, sizeof(*h->entry)) < 0 ||
	    array_grow(&h->cells, &h->cap_cells, (h->nr + 1) * h->nr_keys + 1, sizeof(*h->cells)) <
		    0)
		return -ENOMEM;
	h->entry[h->nr] = (struct hist_entry){
		.root = CALLGRAPH_NONE,
		.cells = h->nr * h->nr_keys,
	};
	memcpy(&h->cells[h->nr * h->nr_keys], cells, h->nr_keys * sizeof(*cells));
	*ret = h->last = h->nr++;
	hash_table_add(&h->table, hash, *ret);
	return 0;
}

int hist_row_of(struct hist *h, struct key_source *src, uint32_t *ret)
{
	struct hist_cell cells[SORT_KEYS_MAX];

	src->names = &h->names;
	for (size_t i = 0; i < h->nr_keys; i++) {
		int rc = h->keys[i]->cell(src, &cells[i]);

		if (rc < 0)
			return rc;
	}
	return hist_row(h, cells, ret);
}

int hist_tree(struct hist *h, uint32_t row, uint32_t *ret)
{
	int rc = 0;

	if (h->entry[row].root == CALLGRAPH_NONE)
		rc = callgraph_root(&h->graph, &h->entry[row].root);
	*ret = h->entry[row].root;
	return rc;
}

static int merge_entry(struct hist *h, const struct hist *from, const struct hist_entry *e)
{
	const struct hist_cell *cells = hist_cells(from, e);
	struct hist_cell mine[SORT_KEYS_MAX];
	uint32_t row, root;
	int rc;

	for (size_t i = 0; i < h->nr_keys; i++) {
		mine[i] = cells[i];
		if (!h->keys[i]->is_string)
			continue;
		mine[i].a = (uintptr_t)strpool_intern(h->names.pool,
						      (const char *)(uintptr_t)cells[i].a);
		if (!mine[i].a)
			return -ENOMEM;
	}
	rc = hist_row(h, mine, &row);
	if (rc < 0)
		return rc;
	h->entry[row].self += e->self;
	h->entry[row].children += e->children;
	h->entry[row].samples += e->samples;
	if (e->depth > h->entry[row].depth)
		h->entry[row].depth = e->depth;
	if (e->root == CALLGRAPH_NONE)
		return 0;
	rc = hist_tree(h, row, &root);
	return rc < 0 ? rc : callgraph_merge(&h->graph, root, &from->graph, e->root);
}

int hist_merge(struct hist *h, const struct hist *from)
{
	for (size_t i = 0; i < from->nr; i++) {
		int rc = merge_entry(h, from, &from->entry[i]);

		if (rc < 0)
			return rc;
	}
	h->period += from->period;
	h->samples += from->samples;
	return 0;
}

struct sort_context {
	const struct hist *h;
	const struct trace *t;
	bool by_children;
};

static int compare(const void *pa, const void *pb, void *arg)
{
	const struct hist_entry *a = pa, *b = pb;
	const struct sort_context *c = arg;
	const struct hist_cell *x = hist_cells(c->h, a), *y = hist_cells(c->h, b);

	if (c->by_children && a->children != b->children)
		return a->children > b->children ? -1 : 1;
	if (!c->by_children && a->self != b->self)
		return a->self > b->self ? -1 : 1;
	if (c->by_children && a->depth != b->depth)
		return a->depth > b->depth ? -1 : 1;
	for (size_t i = 0; i < c->h->nr_keys; i++) {
		int rc = c->h->keys[i]->compare(c->t, x[i], y[i]);

		if (rc)
			return rc;
	}
	return 0;
}

int hist_sort(struct hist *h, const struct trace *t, bool by_children)
{
	struct sort_context c = {.h = h, .t = t, .by_children = by_children};

	hash_table_release(&h->table); /* the numbers of rows are about to change */
	if (h->nr)
		qsort_r(h->entry, h->nr, sizeof(*h->entry), compare, &c);
	return callgraph_sort(&h->graph);
}
