/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Call trees of an HTML page: functions, the stacks that they form, and the source lines of
 * samples.
 *
 * A node is a function below the node of its caller; its number is larger than the caller's. A
 * stack is a node that samples are at, or none: their numbers are fewer and closer than those of
 * nodes. The tables grow by distinct functions, stacks and lines. One thread.
 */
#ifndef RINGTAIL_EXPORT_HTML_TREE_H
#define RINGTAIL_EXPORT_HTML_TREE_H

#include "export/stream/export.h"
#include "export/stream/functions.h"

/* What is noted of a function when it is first seen. */
struct html_function {
	char level; /* k kernel, u user, j code of a JIT, g guest, h hypervisor */
	bool inlined;
	uint32_t file; /* string; INTERN_NONE: unknown */
};

/* html_tree_empty: empty. */
struct html_tree {
	struct export_functions functions;
	struct intern nodes, stacks, places, dsos;
	struct intern_strings files;
	struct html_function *known; /* by function */
	size_t nr_known, cap_known;
	struct buf text;
};

extern const struct html_tree html_tree_empty;

/*
 * Sets *@ret_stack to the number of the sample's stack, and *@ret_place to the line that it is in;
 * to INTERN_NONE, if that is not known. Returns 0 or -ENOMEM.
 */
int html_tree_put(struct html_tree *t, const struct export_sample *s, uint32_t *ret_stack,
		  uint32_t *ret_place);
/* Returns the number of the function of @frame, or INTERN_NONE if memory runs out. */
uint32_t html_tree_function(struct html_tree *t, const struct frame *frame);
/* Writes the parts "functions", "nodes", "stacks" and "places". Returns 0, out->rc or -ENOMEM. */
int html_tree_write(struct html_tree *t, struct out *out);
/* Frees the tables. */
void html_tree_release(struct html_tree *t);

#endif
