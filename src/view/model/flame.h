/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Flame: the call trees of all shown rows as one, in boxes of whole cells.
 *
 * A box is as wide as its share of the samples; callers are above callees, or below where the trees
 * begin at the sampled function. One thread uses it. It owns its tree; symbols are borrowed.
 */
#ifndef RINGTAIL_VIEW_MODEL_FLAME_H
#define RINGTAIL_VIEW_MODEL_FLAME_H

#include "view/model/rows.h"

struct flame_box {
	uint32_t node;
	unsigned int x, width; /* cells; the width is at least 1 */
	unsigned int depth;    /* below the root of the tree */
};

/* All zero: empty. */
struct flame {
	struct callgraph graph;
	uint32_t root, zoom;   /* @zoom fills the width, as do those above it */
	uint32_t at;	       /* the node that the user is at, below or above @zoom */
	struct flame_box *box; /* by depth, then from left to right */
	size_t nr, cap;
	unsigned int width; /* that they were made for */
};

enum flame_move { FLAME_OUT, FLAME_IN, FLAME_LEFT, FLAME_RIGHT };

/* Makes the tree of the shown rows of @r, with nothing zoomed. Returns 0, -ENOMEM or -E2BIG. */
int flame_build(struct flame *f, const struct rows *r);
void flame_release(struct flame *f); /* accepts zeroes */

/* Makes the boxes for @width cells. Returns 0 or -ENOMEM. */
int flame_layout(struct flame *f, unsigned int width);

/* Returns the box of node @n, NULL if it is too small to have one. */
const struct flame_box *flame_box_of(const struct flame *f, uint32_t n);
/* Moves to a box beside, above or below. FLAME_IN goes to the widest. */
void flame_go(struct flame *f, enum flame_move how);
/* Moves to the next box that @match finds, or the one before, around the end. Returns if any. */
bool flame_find(struct flame *f, const struct view_match *match, bool back);
/* Returns the weight of all boxes that @match finds, those below another one counted once. */
uint64_t flame_matched(const struct flame *f, const struct view_match *match);
/* Fills the width with node @n, and makes the boxes again. Returns 0 or -ENOMEM. */
int flame_zoom(struct flame *f, uint32_t n);

#endif
