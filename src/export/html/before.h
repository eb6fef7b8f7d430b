/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The earlier recording of an HTML page that compares two: its samples, summed by stack.
 *
 * Its stacks go into the tree of the page. Functions of two recordings are different there, and the
 * page joins those with the same name. One thread.
 */
#ifndef RINGTAIL_EXPORT_HTML_BEFORE_H
#define RINGTAIL_EXPORT_HTML_BEFORE_H

#include "export/html/tree.h"

/* A recording to compare with. The trace, which is prepared, must live as long as the tree. */
struct html_before {
	struct trace *trace;
	struct export_opts export;
};

/*
 * Adds the stacks of @b to @tree, and writes the part "before" to @out: sums by event of @events,
 * in which they are found by name, and node. Returns 0, out->rc, or a negative errno with @err
 * filled.
 */
int html_before_write(const struct html_before *b, const struct pd_evlist *events,
		      struct html_tree *tree, struct out *out, struct error *err);

#endif
