/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Callers: the rows of a report with --children, and the call tree of each.
 *
 * Samples go into one tree of call paths for each combination of keys that a sample's frames share
 * (command, CPU, ...). A path is the chain, and a node of its own for the sample itself. Rows are
 * made of the nodes when all samples are in: a node counts for the row of its frame unless a node
 * above it has the same row. The tree of a row is put together when it is drawn, and only as far as
 * it is drawn, so neither time nor memory is spent on each frame of each chain once per caller.
 *
 * One thread uses an object; workers fill one each and callers_merge() adds them up.
 */
#ifndef RINGTAIL_REPORT_TABLE_CALLERS_H
#define RINGTAIL_REPORT_TABLE_CALLERS_H

#include "report/trace/filter.h"
#include "report/table/hist.h"

struct callers;

/* @keys must outlive it. Returns 0 with *@ret for callers_free(), or -ENOMEM. */
int callers_new(const struct sort_key *const *keys, size_t nr_keys, enum callgraph_order order,
		struct callers **ret);
void callers_free(struct callers *c); /* accepts NULL */

/* Adds @samples like that of @src, with its chain, innermost frame first. 0, -ENOMEM, -E2BIG. */
int callers_add(struct callers *c, struct key_source *src, const struct frame *chain, size_t nr,
		uint64_t samples);

/* Adds all of @from, which has the same keys and order. 0, -ENOMEM, -E2BIG. */
int callers_merge(struct callers *c, const struct callers *from);

/*
 * Fills @h with the rows whose frames @f lets through; their cells stay those of @c, which must
 * outlive @h. Once, when all samples are in. 0, -ENOMEM, -E2BIG.
 */
int callers_rows(struct callers *c, const struct trace *t, const struct filter *f, struct hist *h);

/* Which branches of a tree will be drawn: the others may end where they begin. */
struct callers_bounds {
	double percent; /* the least share */
	bool fractal;	/* of what goes on below the branch above, not of @all */
	uint64_t all;
};

/* Whether a branch of @n, below @parent, is. */
bool callers_wanted(const struct callers_bounds *b, const struct callgraph_node *parent,
		    const struct callgraph_node *n);

/*
 * Makes the tree of a row of callers_rows() in @ret, which is cleared. *@ret_root is
 * CALLGRAPH_NONE if no sample of it has a chain. 0, -ENOMEM, -E2BIG.
 */
int callers_tree(struct callers *c, const struct hist_entry *e, const struct callers_bounds *b,
		 struct callgraph *ret, uint32_t *ret_root);

#endif
