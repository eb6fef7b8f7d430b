/* SPDX-License-Identifier: Apache-2.0 */
/* Inner state of callers, which callers.c (rows) and callers_tree.c (their trees) share. */
#ifndef RINGTAIL_REPORT_TABLE_CALLERS_PRIV_H
#define RINGTAIL_REPORT_TABLE_CALLERS_PRIV_H

#include "report/table/callers.h"

#define ROW_NONE UINT32_MAX

struct callers_weight {
	uint64_t period, samples;
};

struct callers {
	enum callgraph_order order;
	const struct sort_key *const *keys;
	size_t nr_keys;
	const struct sort_key *shared_keys[SORT_KEYS_MAX]; /* equal in all frames of a sample */
	struct hist paths; /* by shared keys; the tree of a row is its paths */
	/* Values that differ within a function, with the address before them; no row: not wanted */
	const struct sort_key *place_keys[SORT_KEYS_MAX];
	struct hist places; /* the row of a node at_place is its address */

	/* Set by callers_rows(). */
	uint32_t *row;	 /* by node: the row whose tree includes it; ROW_NONE */
	uint32_t *node;	 /* the nodes of row i: from first[i] up to first[i + 1] */
	uint32_t *first; /* nr_rows + 1 */
	size_t nr_rows;

	/* Set by callers_tree(). */
	struct callers_weight *own; /* by node: samples of the row itself; zero between calls */
	struct callers_sets *sets;  /* trees made so far; NULL: none */
};

/*
 * Sets what the graphs of a row show of @n, a node at_place: its function, address or line, as the
 * tree's frames differ.
 */
void callers_show_place(const struct callers *c, enum callgraph_key by, struct callgraph_node *n);

/* Frees the trees that callers_tree() keeps for other rows. */
void callers_forget_trees(struct callers *c);

#endif
