// SPDX-License-Identifier: Apache-2.0
#include "report/table/hist.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/hash.h"

#define MAX_ROWS (1u << 27)

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
	free(h->more);
	free(h->group.member);
	free(h->group.row);
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

	/* While rows are added, their numbers are their places. */
	return same_cells(&h->cells[(size_t)number * h->nr_keys], cells, h->nr_keys);
}

/* Makes room for the sums of one more row. */
static int grow_more(struct hist *h)
{
	size_t nr = h->nr * HIST_MORE_NR;

	if (!h->has_more)
		return 0;
	if (array_grow(&h->more, &h->cap_more, nr + HIST_MORE_NR, sizeof(*h->more)) < 0)
		return -ENOMEM;
	memset(h->more + nr, 0, HIST_MORE_NR * sizeof(*h->more));
	return 0;
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
		    0 ||
	    grow_more(h) < 0)
		return -ENOMEM;
	h->entry[h->nr] = (struct hist_entry){
		.root = CALLGRAPH_NONE,
		.number = h->nr,
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
		int rc = sort_key_cell(h->keys[i], src, &cells[i]);

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

/* As hist_row(), for cells of another histogram. */
static int row_as(struct hist *h, const struct hist_cell *cells, uint32_t *ret)
{
	struct hist_cell mine[SORT_KEYS_MAX];

	for (size_t i = 0; i < h->nr_keys; i++) {
		mine[i] = cells[i];
		if (!h->keys[i]->is_string)
			continue;
		mine[i].a = (uintptr_t)strpool_intern(h->names.pool,
						      (const char *)(uintptr_t)cells[i].a);
		if (!mine[i].a)
			return -ENOMEM;
	}
	return hist_row(h, mine, ret);
}

void hist_add_row(struct hist *h, uint32_t row, const struct hist *from, const struct hist_entry *e)
{
	h->entry[row].self += e->self;
	h->entry[row].children += e->children;
	h->entry[row].samples += e->samples;
	for (int i = 0; h->has_more && i < HIST_MORE_NR; i++)
		h->more[(size_t)row * HIST_MORE_NR + (size_t)i] +=
			hist_more(from, e, (enum hist_more)i);
	if (e->depth > h->entry[row].depth)
		h->entry[row].depth = e->depth;
}

static int merge_entry(struct hist *h, const struct hist *from, const struct hist_entry *e)
{
	uint32_t row, root;
	int rc = row_as(h, hist_cells(from, e), &row);

	if (rc < 0)
		return rc;
	hist_add_row(h, row, from, e);
	if (e->root == CALLGRAPH_NONE)
		return 0;
	rc = hist_tree(h, row, &root);
	return rc < 0 ? rc : callgraph_merge(&h->graph, root, &from->graph, e->root);
}

int hist_row_like(struct hist *h, const struct hist *from, const struct hist_entry *e,
		  uint32_t *ret)
{
	return row_as(h, hist_cells(from, e), ret);
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
	h->latency += from->latency;
	h->alone += from->alone;
	return 0;
}

/* Makes the places of the members in all rows of @h. */
static int grow_group(struct hist *h, size_t had)
{
	struct hist_group *g = &h->group;

	if (array_grow(&g->row, &g->cap, h->nr * g->nr + 1, sizeof(*g->row)) < 0)
		return -ENOMEM;
	for (size_t i = had * g->nr; i < h->nr * g->nr; i++)
		g->row[i] = HIST_NONE;
	return 0;
}

int hist_link(struct hist *h, struct hist *const *member, size_t nr)
{
	struct hist_group *g = &h->group;
	int rc;

	g->member = calloc(nr, sizeof(*g->member));
	if (!g->member)
		return -ENOMEM;
	g->nr = nr;
	g->member[0] = h;
	rc = grow_group(h, 0);
	for (size_t m = 1; !rc && m < nr; m++) {
		g->member[m] = member[m];
		member[m]->is_member = true;
		for (size_t i = 0; !rc && i < member[m]->nr; i++) {
			size_t had = h->nr;
			uint32_t row;

			rc = row_as(h, hist_cells(member[m], &member[m]->entry[i]), &row);
			if (!rc && h->nr != had)
				rc = grow_group(h, had);
			if (!rc)
				g->row[(size_t)row * nr + m] = (uint32_t)i;
		}
	}
	return rc;
}

void hist_add_mode(struct hist *h, uint32_t row, uint8_t cpumode, uint64_t period)
{
	static const enum hist_more by_mode[] = {
		[PERF_RECORD_MISC_KERNEL] = HIST_SYS,
		[PERF_RECORD_MISC_USER] = HIST_US,
		[PERF_RECORD_MISC_GUEST_KERNEL] = HIST_GUEST_SYS,
		[PERF_RECORD_MISC_GUEST_USER] = HIST_GUEST_US,
	};

	switch (cpumode) {
	case PERF_RECORD_MISC_KERNEL:
	case PERF_RECORD_MISC_USER:
	case PERF_RECORD_MISC_GUEST_KERNEL:
	case PERF_RECORD_MISC_GUEST_USER:
		if (h->has_more)
			h->more[(size_t)row * HIST_MORE_NR + by_mode[cpumode]] += period;
		break;
	default: break;
	}
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

int hist_sort_by(struct hist *h, int (*by)(const void *, const void *, void *), void *arg)
{
	hash_table_release(&h->table); /* the numbers of rows are about to change */
	if (h->nr)
		qsort_r(h->entry, h->nr, sizeof(*h->entry), by, arg);
	return callgraph_sort(&h->graph);
}

int hist_sort(struct hist *h, const struct trace *t, bool by_children)
{
	struct sort_context c = {.h = h, .t = t, .by_children = by_children};

	return hist_sort_by(h, compare, &c);
}

const struct hist_entry *hist_member_entry(const struct hist *h, const struct hist_entry *e,
					   size_t m)
{
	uint32_t row;

	if (!m)
		return e;
	row = h->group.row[(size_t)e->number * h->group.nr + m];
	return row == HIST_NONE ? NULL : &h->group.member[m]->entry[row];
}
