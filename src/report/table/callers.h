/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Callers: the rows of a report with --children, and the call tree of each row.
 *
 * callers_add() puts samples into trees of call paths: one tree for each combination of the keys
 * that all frames of a sample share (command, CPU, ...). A path is the chain, and a node for the
 * sample itself. callers_rows() then makes the rows: a node counts for the row of its frame, unless
 * a node above it has the same row. callers_tree() makes the tree of one row, and only the branches
 * that will be drawn. So no frame of a chain costs time or memory once for each of its callers.
 *
 * Where a key has different values within a function (its address, say), nodes are places: rows of
 * the values that frames have for such keys.
 *
 * One thread uses an object. Workers fill one each, and callers_merge() adds them up.
 */
#ifndef RINGTAIL_REPORT_TABLE_CALLERS_H
#define RINGTAIL_REPORT_TABLE_CALLERS_H

#include "report/trace/filter.h"
#include "report/table/hist.h"

struct callers;

/* @keys must outlive *@ret. Returns 0 with *@ret for callers_free(), or -ENOMEM. */
int callers_new(const struct sort_key *const *keys, size_t nr_keys, enum callgraph_order order,
		enum callgraph_key by, struct callers **ret);
/* Frees @c; accepts NULL. */
void callers_free(struct callers *c);

/*
 * Adds @samples equal samples: @src with its @chain, innermost frame first, and their @latency if
 * that is counted, else 0. It sets the places of the frames. Returns 0, -ENOMEM or -E2BIG.
 */
int callers_add(struct callers *c, struct key_source *src, struct frame *chain, size_t nr,
		uint64_t samples, uint64_t latency);

/*
 * Adds @from, which must have the same keys and order, and can only be freed then. Returns 0,
 * -ENOMEM or -E2BIG.
 */
int callers_merge(struct callers *c, struct callers *from);

/*
 * Fills @h with the rows that @f accepts. Call it once, after all samples are in. The cells of @h
 * belong to @c, which must outlive it. Returns 0, -ENOMEM or -E2BIG.
 */
int callers_rows(struct callers *c, const struct trace *t, const struct filter *f, struct hist *h);

/* Limits for the branches of a tree; smaller branches are not drawn and need no children. */
struct callers_bounds {
	double percent; /* the least share of a branch */
	bool fractal;	/* the share is of the branch above, without its self, not of @all */
	uint64_t all;	/* weight of the event */
};

/* Returns whether the branch @n below @parent is within the bounds. */
bool callers_wanted(const struct callers_bounds *b, const struct callgraph_node *parent,
		    const struct callgraph_node *n);

/*
 * Makes the tree of @e, a row of callers_rows(), in @ret, which is cleared first. *@ret_root is
 * CALLGRAPH_NONE if no sample of the row has a chain. Returns 0, -ENOMEM or -E2BIG.
 */
int callers_tree(struct callers *c, const struct hist_entry *e, const struct callers_bounds *b,
		 struct callgraph *ret, uint32_t *ret_root);

#endif
