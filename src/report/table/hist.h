/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Histogram: rows of equal cells with their weights, and a call tree for each row if wanted.
 *
 * One thread uses a histogram; workers fill one each and hist_merge() adds them up, in any order to
 * the same result.
 */
#ifndef RINGTAIL_REPORT_TABLE_HIST_H
#define RINGTAIL_REPORT_TABLE_HIST_H

#include "report/table/callgraph.h"
#include "report/table/keys.h"

struct hist_entry {
	uint64_t self;	   /* periods of samples in the row itself */
	uint64_t children; /* self and the periods of callees; equal to self without --children */
	uint64_t samples;  /* counted in self */
	uint32_t root;	   /* of its call tree in hist.graph; CALLGRAPH_NONE */
	uint32_t cells;	   /* index of its first cell in hist.cells */
	uint32_t depth;	   /* most frames below it in a chain; rows of equal weight sort by it */
};

struct hist {
	const struct sort_key *const *keys; /* borrowed */
	size_t nr_keys;
	struct hist_names names;
	uint32_t last; /* index of the row that was found last */
	struct hist_entry *entry;
	size_t nr, cap;
	struct hist_cell *cells; /* nr_keys for each entry */
	size_t cap_cells;
	struct hash_table table; /* of entries, by their cells */
	uint64_t key;		 /* of hashes */
	struct callgraph graph;
	uint64_t period, samples; /* of all samples, also of those that filters do not show */
};

/*
 * Returns 0 or -ENOMEM. The caller calls hist_release() also after failure. @keys must outlive @h.
 */
int hist_init(struct hist *h, const struct sort_key *const *keys, size_t nr_keys);
/* Frees what @h holds. */
void hist_release(struct hist *h);

/*
 * Finds or makes the row of @cells; their strings must be from h->names. Returns 0 with its index,
 * -ENOMEM or -E2BIG.
 */
int hist_row(struct hist *h, const struct hist_cell *cells, uint32_t *ret);

/* Computes the cells of @src, whose names must be set, and finds or makes the row, as hist_row().
 */
int hist_row_of(struct hist *h, struct key_source *src, uint32_t *ret);

/* Finds or makes the row's call tree. Returns as callgraph_root() does. */
int hist_tree(struct hist *h, uint32_t row, uint32_t *ret);

/* Adds all of @from, which must have the same keys. Returns 0, -ENOMEM or -E2BIG. */
int hist_merge(struct hist *h, const struct hist *from);

/*
 * Orders rows by falling weight (children's if @by_children), then by their cells; orders the call
 * trees, too. No row may be added afterwards. Returns 0 or -ENOMEM.
 */
int hist_sort(struct hist *h, const struct trace *t, bool by_children);

/* Returns the first of the entry's cells. */
static inline const struct hist_cell *hist_cells(const struct hist *h, const struct hist_entry *e)
{
	return &h->cells[e->cells];
}

#endif
