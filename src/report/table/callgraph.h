/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Call trees: how often each path of frames was sampled.
 *
 * A forest in one array: each histogram entry has a root, and below it a node for every distinct
 * path. Frames are told apart by symbol (or, without one, by dso and address). A node's total is
 * its own weight and that of all below it, so total(parent) = self(parent) + sum of
 * total(children).
 *
 * One thread uses a forest.
 */
#ifndef RINGTAIL_REPORT_TABLE_CALLGRAPH_H
#define RINGTAIL_REPORT_TABLE_CALLGRAPH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "report/trace/frame.h"

#define CALLGRAPH_NONE UINT32_MAX

struct callgraph_node {
	uint64_t self, total;		 /* in the event's periods */
	uint64_t samples;		 /* that went through here */
	uint32_t parent, child, sibling; /* indices; CALLGRAPH_NONE */
	uint8_t cpumode;
	bool own;     /* a sample itself, no frame of its chain: callgraph_add_own() */
	bool guessed; /* some of its samples: struct unwind_frame */
	const struct dso *dso;
	const struct symbol *sym;
	uint64_t addr; /* of an unresolved frame, else the symbol's start */
};

struct callgraph {
	struct callgraph_node *node;
	size_t nr, cap;
	uint32_t *table; /* open addressing over {parent, frame}: index + 1; 0 is empty */
	size_t table_size;
	uint64_t key; /* of hashes */
};

void callgraph_release(struct callgraph *g);

/* Forgets all trees. Little memory is kept for the next ones. */
void callgraph_clear(struct callgraph *g);

/* Makes an empty tree. Returns 0 with its root's index, -ENOMEM, or -E2BIG past 2^31 nodes. */
int callgraph_root(struct callgraph *g, uint32_t *ret);

enum callgraph_order {
	CALLGRAPH_CALLER, /* outermost caller at the root */
	CALLGRAPH_CALLEE, /* the sampled function at the root */
};

/*
 * Adds a path below @root: the @nr frames at @frame, innermost first.
 * Returns 0, -ENOMEM or -E2BIG; on failure sums are as before (empty nodes may remain).
 */
int callgraph_add(struct callgraph *g, uint32_t root, const struct frame *frame, size_t nr,
		  enum callgraph_order order, uint64_t period);

/*
 * As callgraph_add(), for @samples that are alike, and the sample itself as a node that is none of
 * a chain: below the whole path, or with CALLGRAPH_CALLEE above it.
 */
int callgraph_add_own(struct callgraph *g, uint32_t root, const struct frame *own,
		      const struct frame *frame, size_t nr, enum callgraph_order order,
		      uint64_t period, uint64_t samples);

/* The child of @parent for the frame of @key, made empty if absent. 0, -ENOMEM or -E2BIG. */
int callgraph_child(struct callgraph *g, uint32_t parent, const struct callgraph_node *key,
		    uint32_t *ret);

/* A path that ends at @at: adds to the totals from there up to the root. */
void callgraph_credit(struct callgraph *g, uint32_t at, uint64_t period, uint64_t samples);

/* Adds the tree @from_root of @from to the tree @root of @g. Returns as callgraph_add(). */
int callgraph_merge(struct callgraph *g, uint32_t root, const struct callgraph *from,
		    uint32_t from_root);

/*
 * Links the children of every node in order of falling totals (then of name and address, so that
 * equal ones keep one order). Returns 0 or -ENOMEM.
 */
int callgraph_sort(struct callgraph *g);

#endif
