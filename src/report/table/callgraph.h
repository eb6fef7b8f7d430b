/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Call trees: the number and weight of samples by path of frames.
 *
 * One array holds a forest: a root for each histogram entry, and below it a node for every distinct
 * path. Two frames are equal if their symbols are, or, without symbols, dso and address. A node's
 * total is its own weight plus the totals of its children.
 *
 * One thread uses a forest. It owns its arrays; dsos and symbols are borrowed.
 */
#ifndef RINGTAIL_REPORT_TABLE_CALLGRAPH_H
#define RINGTAIL_REPORT_TABLE_CALLGRAPH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/hash_table.h"
#include "report/trace/frame.h"

#define CALLGRAPH_NONE UINT32_MAX

struct callgraph_node {
	uint64_t self, total;		 /* in the event's periods */
	uint64_t samples;		 /* whose path includes this node */
	uint32_t parent, child, sibling; /* indices; CALLGRAPH_NONE */
	uint8_t cpumode;
	uint8_t children;  /* their number, as far as it is small */
	bool own : 1;	   /* the sample itself, no frame of its chain: callgraph_add_own() */
	bool guessed : 1;  /* for some of its samples, as in struct unwind_frame */
	bool at_line : 1;  /* addr is a pointer to the text of a source line, "file:line" */
	bool at_place : 1; /* addr is frame.place */
	const struct dso *dso;
	const struct symbol *sym;
	uint64_t addr; /* of an unresolved frame, else the symbol's start, or as frames differ */
};

/* The ends of branches at a node: frame.side and frame.step of its paths. */
struct callgraph_branches {
	uint64_t to, known, predicted, aborted; /* branches that went here */
	uint64_t from, cycles;			/* that came from here */
	uint64_t iterations, iteration_cycles;	/* of loops that end here, left out */
	uint64_t calls;				/* frames of call chains behind branches */
};

/* What tells the frames of a path apart. */
enum callgraph_key {
	CALLGRAPH_BY_FUNCTION,
	CALLGRAPH_BY_ADDRESS,
	CALLGRAPH_BY_LINE,  /* the function, too; frames without line differ only by it */
	CALLGRAPH_BY_PLACE, /* frame.place, a number that the caller gave */
};

struct callgraph {
	struct callgraph_node *node;
	size_t nr, cap;
	struct hash_table table; /* of {parent, frame}, but for roots and parents of few */
	uint64_t key;		 /* of hashes */
	enum callgraph_key by;	 /* set it before the first path; callgraph_clear() keeps it */
	uint64_t *latency; /* by node, as its total; NULL: callgraph_credit_latency() not used */
	size_t cap_latency;
	/* By node; NULL: no path of callgraph_add() had branches. */
	struct callgraph_branches *branches;
	size_t cap_branches;
};

/* Frees the arrays; accepts zeroes. */
void callgraph_release(struct callgraph *g);

/* Removes all trees. Keeps a little memory for the next ones. */
void callgraph_clear(struct callgraph *g);

/*
 * Makes an empty tree. Returns 0 with the index of its root, -ENOMEM, or -E2BIG beyond 2^31 nodes.
 */
int callgraph_root(struct callgraph *g, uint32_t *ret);

enum callgraph_order {
	CALLGRAPH_CALLER, /* outermost caller at the root */
	CALLGRAPH_CALLEE, /* the sampled function at the root */
};

/*
 * Adds a path of @nr frames below @root for @samples equal samples, of @period together; @frame
 * begins with the innermost. Returns 0, -ENOMEM or -E2BIG. On failure no sum has changed; empty
 * nodes may remain.
 */
int callgraph_add(struct callgraph *g, uint32_t root, const struct frame *frame, size_t nr,
		  enum callgraph_order order, uint64_t period, uint64_t samples);

/*
 * As callgraph_add(), but adds the sample itself as a node marked own: below the whole path, or
 * above it with CALLGRAPH_CALLEE. *@ret_at is the last node of the path.
 */
int callgraph_add_own(struct callgraph *g, uint32_t root, const struct frame *own,
		      const struct frame *frame, size_t nr, enum callgraph_order order,
		      uint64_t period, uint64_t samples, uint32_t *ret_at);

/* Adds to the latency of @at and of all nodes above it. Returns 0 or -ENOMEM. */
int callgraph_credit_latency(struct callgraph *g, uint32_t at, uint64_t latency);

/* Returns the latency of a node; 0 if none was credited. */
uint64_t callgraph_latency(const struct callgraph *g, uint32_t node);

/* Returns the branches at a node; NULL if no path had any. */
const struct callgraph_branches *callgraph_branches(const struct callgraph *g, uint32_t node);

/*
 * Finds or makes the child of @parent for the frame of @key. Returns 0 with its index, -ENOMEM or
 * -E2BIG.
 */
int callgraph_child(struct callgraph *g, uint32_t parent, const struct callgraph_node *key,
		    uint32_t *ret);

/* Counts a path that ends at @at: adds to the totals of @at and of all nodes above it. */
void callgraph_credit(struct callgraph *g, uint32_t at, uint64_t period, uint64_t samples);

/* Adds tree @from_root of @from to tree @root of @g. Returns as callgraph_add() does. */
int callgraph_merge(struct callgraph *g, uint32_t root, const struct callgraph *from,
		    uint32_t from_root);

/*
 * Orders the children of every node by falling total, then by name and address, so that the order
 * does not depend on how the tree was made. Returns 0 or -ENOMEM.
 */
int callgraph_sort(struct callgraph *g);

#endif
