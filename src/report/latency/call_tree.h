/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a function called: calls of one function under the same parent are one node. So is a
 * function with the calls that it makes of itself; its time counts once.
 *
 * Node 0 is the root, a single call. Memory: at most CALL_TREE_NODES nodes, CALL_TREE_DEPTH deep;
 * further calls are only counted. All zero: empty. One thread.
 */
#ifndef RINGTAIL_REPORT_LATENCY_CALL_TREE_H
#define RINGTAIL_REPORT_LATENCY_CALL_TREE_H

#include <stddef.h>
#include <stdint.h>

#define CALL_TREE_NODES 4096
#define CALL_TREE_DEPTH 128
#define CALL_TREE_NONE	UINT32_MAX

struct call_node {
	uint32_t function;		/* the caller's number for it */
	uint32_t depth;			/* 0: the root */
	uint32_t child, next;		/* first child, next sibling; 0: none */
	uint32_t last;			/* child */
	uint64_t calls, total, longest; /* ns */
	uint64_t inner;			/* ns in its children */
	uint64_t unsure;		/* calls whose end was not seen */
};

struct call_tree {
	struct call_node *nodes;
	size_t nr, cap;
	uint64_t left_out; /* calls */
};

/*
 * Enters @function, called by the node @parent; in an empty tree it becomes the root. *@ret is the
 * node, or CALL_TREE_NONE if it is left out. Returns 0 or -ENOMEM.
 */
int call_tree_enter(struct call_tree *t, uint32_t parent, uint32_t function, uint32_t *ret);

/*
 * A call of @node took @ns; @parent is the node of its caller, of the root CALL_TREE_NONE.
 */
void call_tree_leave(struct call_tree *t, uint32_t parent, uint32_t node, uint64_t ns);

/* Returns the time that a node spent outside of its children. */
uint64_t call_node_self(const struct call_node *node);

/*
 * Writes the children of @node, the longest first, to @ret, for free(). Returns their number, or
 * -ENOMEM.
 */
int64_t call_tree_children(const struct call_tree *t, uint32_t node, uint32_t **ret);

void call_tree_release(struct call_tree *t); /* accepts zeroes */

#endif
