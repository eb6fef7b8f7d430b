/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Histogram: rows of cells with what was counted for each, and a call tree for each row if wanted.
 *
 * Own open addressing, since every sample comes by here. One thread uses a histogram; workers fill
 * one each and hist_merge() adds them up, in any order to the same result.
 */
#ifndef RINGTAIL_REPORT_TABLE_HIST_H
#define RINGTAIL_REPORT_TABLE_HIST_H

#include "report/table/callgraph.h"
#include "report/table/keys.h"

struct hist_entry {
	uint64_t self;	   /* periods of samples in the row itself */
	uint64_t children; /* and of those in what it called; equal to self unless asked for */
	uint64_t samples;  /* that counted for self */
	uint32_t root;	   /* of its call tree in hist.graph; CALLGRAPH_NONE */
	uint32_t cells;	   /* index of its first cell in hist.cells */
	uint32_t depth; /* the most frames that were below it in a chain: callers go before callees
			 */
};

struct hist {
	const struct sort_key *const *keys; /* borrowed */
	size_t nr_keys;
	struct hist_names names;
	uint32_t last; /* row found last */
	struct hist_entry *entry;
	size_t nr, cap;
	struct hist_cell *cells; /* nr_keys for each entry */
	size_t cap_cells;
	uint32_t *table; /* index + 1; 0: empty */
	size_t table_size;
	uint64_t key; /* of hashes */
	struct callgraph graph;
	uint64_t period, samples; /* of all samples seen, filtered ones included */
};

/* Returns 0 or -ENOMEM; hist_release() also after failure. */
int hist_init(struct hist *h, const struct sort_key *const *keys, size_t nr_keys);
void hist_release(struct hist *h);

/* The row of these cells (strings in them from h->names), made if absent. 0, -ENOMEM, -E2BIG. */
int hist_row(struct hist *h, const struct hist_cell *cells, uint32_t *ret);

/* Computes the cells of @src (src->names is set) and finds the row. As hist_row(). */
int hist_row_of(struct hist *h, struct key_source *src, uint32_t *ret);

/* The row's call tree, made if absent. As callgraph_root(). */
int hist_tree(struct hist *h, uint32_t row, uint32_t *ret);

/* Adds all of @from, which has the same keys. 0, -ENOMEM, -E2BIG. */
int hist_merge(struct hist *h, const struct hist *from);

/*
 * Orders rows by falling weight (children's if @by_children), then by their cells; the call trees
 * too. No row may be added after that. Returns 0 or -ENOMEM.
 */
int hist_sort(struct hist *h, const struct trace *t, bool by_children);

static inline const struct hist_cell *hist_cells(const struct hist *h, const struct hist_entry *e)
{
	return &h->cells[e->cells];
}

#endif
