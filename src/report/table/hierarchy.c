// SPDX-License-Identifier: Apache-2.0
#include "report/table/hierarchy.h"

#include <errno.h>
#include <stdlib.h>

#include "base/buf.h"

static int level_init(struct hierarchy *y, size_t level, const struct hist *h)
{
	struct hist *first = &y->level[level * y->members];

	for (size_t m = 0; m < y->members; m++) {
		const struct hist *from = hist_member(h, m);

		if (hist_init(&first[m], h->keys, level + 1) < 0)
			return -ENOMEM;
		first[m].has_more = from->has_more;
		first[m].period = from->period;
		first[m].samples = from->samples;
		first[m].latency = from->latency;
	}
	if (y->members == 1)
		return 0;
	first->group.member = calloc(y->members, sizeof(*first->group.member));
	if (!first->group.member)
		return -ENOMEM;
	first->group.nr = y->members;
	for (size_t m = 0; m < y->members; m++)
		first->group.member[m] = &first[m];
	return 0;
}

/* Adds row @e of @h to a level. All members have the same rows there, in the same order. */
static int add_row(struct hierarchy *y, size_t level, const struct hist *h,
		   const struct hist_entry *e)
{
	struct hist *first = &y->level[level * y->members];
	uint32_t *path = &y->path[e->number * y->nr_levels + level];
	int rc = 0;

	for (size_t m = 0; !rc && m < y->members; m++) {
		const struct hist_entry *from = hist_member_entry(h, e, m);

		rc = hist_row(&first[m], hist_cells(h, e), path);
		if (!rc && from)
			hist_add_row(&first[m], *path, hist_member(h, m), from);
	}
	return rc;
}

static int fill_group(struct hierarchy *y, size_t level)
{
	struct hist *first = &y->level[level * y->members];
	size_t nr = first->group.nr;

	if (!nr)
		return 0;
	if (array_grow(&first->group.row, &first->group.cap, first->nr * nr + 1,
		       sizeof(*first->group.row)) < 0)
		return -ENOMEM;
	for (size_t i = 0; i < first->nr * nr; i++)
		first->group.row[i] = (uint32_t)(i / nr);
	return 0;
}

struct nest_sort {
	const struct hierarchy *y;
	const struct columns *columns;
	const struct trace *trace;
};

static int compare_nests(const void *pa, const void *pb, void *arg)
{
	const struct hist_entry *a = pa, *b = pb;
	const struct nest_sort *c = arg;

	for (size_t i = 0; i < c->y->nr_levels; i++) {
		const struct hist_entry *x = hierarchy_row(c->y, a, i);
		const struct hist_entry *y = hierarchy_row(c->y, b, i);

		if (x != y)
			return columns_compare(c->columns, hierarchy_level(c->y, i), c->trace, x,
					       y);
	}
	return 0;
}

int hierarchy_init(struct hierarchy *y, struct hist *h, const struct columns *c,
		   const struct trace *t)
{
	struct nest_sort sort = {.y = y, .columns = c, .trace = t};
	int rc = 0;

	*y = (struct hierarchy){.nr_levels = h->nr_keys, .members = hist_members(h)};
	y->level = calloc(y->nr_levels * y->members + 1, sizeof(*y->level));
	y->path = calloc(h->nr * y->nr_levels + 1, sizeof(*y->path));
	if (!y->level || !y->path)
		return -ENOMEM;
	for (size_t i = 0; !rc && i < y->nr_levels; i++) {
		rc = level_init(y, i, h);
		for (size_t k = 0; !rc && k < h->nr; k++)
			rc = add_row(y, i, h, &h->entry[k]);
		rc = rc ?: fill_group(y, i);
	}
	return rc ?: hist_sort_by(h, compare_nests, &sort);
}

void hierarchy_release(struct hierarchy *y)
{
	for (size_t i = 0; y->level && i < y->nr_levels * y->members; i++)
		hist_release(&y->level[i]);
	free(y->level);
	free(y->path);
	*y = (struct hierarchy){0};
}
