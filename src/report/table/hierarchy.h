/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Hierarchy: the rows of a histogram nested, with a level for each of its keys.
 *
 * A row of level n has the sums of all rows with the same first n + 1 keys. One thread uses a
 * hierarchy. It owns its sums; the cells belong to the histogram, which must outlive it.
 */
#ifndef RINGTAIL_REPORT_TABLE_HIERARCHY_H
#define RINGTAIL_REPORT_TABLE_HIERARCHY_H

#include "report/table/columns.h"

struct hierarchy {
	struct hist *level; /* nr_levels times members; that of member 0 has the others as group */
	size_t nr_levels, members;
	uint32_t *path; /* number of a row * nr_levels + level: the row there */
};

/*
 * Makes the levels of @h, and orders its rows so that rows of one nest follow each other: nests by
 * @c, then rows in them. Returns 0, -ENOMEM or -E2BIG; the caller calls hierarchy_release() also
 * after failure.
 */
int hierarchy_init(struct hierarchy *y, struct hist *h, const struct columns *c,
		   const struct trace *t);

/* Frees what @y holds; accepts zeroes. */
void hierarchy_release(struct hierarchy *y);

/* Returns the histogram of a level. */
static inline const struct hist *hierarchy_level(const struct hierarchy *y, size_t level)
{
	return &y->level[level * y->members];
}

/* Returns the row of @level to which row @e of the histogram belongs. */
static inline const struct hist_entry *hierarchy_row(const struct hierarchy *y,
						     const struct hist_entry *e, size_t level)
{
	return &hierarchy_level(y, level)->entry[y->path[e->number * y->nr_levels + level]];
}

#endif
