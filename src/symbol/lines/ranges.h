/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Ranges: finds the innermost of nested address ranges.
 *
 * The caller adds ranges in any order. range_set_build() turns them into disjoint segments, so that
 * a look-up is one binary search. One thread builds; then any thread may look up. Internal to
 * symbol/lines and symbol/types.
 */
#ifndef RINGTAIL_SYMBOL_LINES_RANGES_H
#define RINGTAIL_SYMBOL_LINES_RANGES_H

#include <stddef.h>
#include <stdint.h>

#define RANGE_NONE UINT32_MAX

struct range {
	uint64_t start, end; /* end exclusive */
	uint32_t depth;	     /* among equal starts the deepest wins */
	uint32_t value;
};

struct range_segment {
	uint64_t start;
	uint32_t value; /* RANGE_NONE: no range */
};

/* All zero: empty. Released by range_set_release(). */
struct range_set {
	struct range *ranges; /* until range_set_build() */
	size_t nr_ranges, cap_ranges;
	struct range_segment *segments; /* sorted; each ends where the next starts */
	size_t nr, cap;
};

/* Adds a range; ignores an empty one. Returns 0, -ENOMEM, or -E2BIG beyond the limit. */
int range_set_add(struct range_set *s, const struct range *r);

/*
 * Makes the segments and frees the ranges. Of ranges that overlap without nesting, the one that
 * starts later is cut where the other ends. Returns 0 or -ENOMEM.
 */
int range_set_build(struct range_set *s);

/* Returns the value of the innermost range at @addr, or RANGE_NONE. */
uint32_t range_set_find(const struct range_set *s, uint64_t addr);

/* Frees the arrays; accepts zeroes. */
void range_set_release(struct range_set *s);

#endif
