// SPDX-License-Identifier: Apache-2.0
#include "symbol/lines/ranges.h"

#include <errno.h>
#include <stdlib.h>

#include "base/buf.h"

/* Real units have up to a million. A damaged file may repeat a long list for each function. */
#define RANGES_MAX ((size_t)4 << 20)

/* The ranges around the current one, the outermost first. */
struct open_ranges {
	struct range *range;
	size_t nr, cap;
};

int range_set_add(struct range_set *s, const struct range *r)
{
	if (r->start >= r->end)
		return 0;
	if (s->nr_ranges >= RANGES_MAX)
		return -E2BIG;
	if (array_grow(&s->ranges, &s->cap_ranges, s->nr_ranges + 1, sizeof(*s->ranges)) < 0)
		return -ENOMEM;
	s->ranges[s->nr_ranges++] = *r;
	return 0;
}

static int compare(const void *pa, const void *pb)
{
	const struct range *a = pa, *b = pb;

	if (a->start != b->start)
		return a->start < b->start ? -1 : 1;
	if (a->depth != b->depth)
		return a->depth < b->depth ? -1 : 1;
	return a->value < b->value ? -1 : a->value > b->value;
}

/* Begins a segment. */
static int emit(struct range_set *s, uint64_t start, uint32_t value)
{
	if (s->nr && s->segments[s->nr - 1].start == start) {
		s->segments[s->nr - 1].value = value;
		return 0;
	}
	if (array_grow(&s->segments, &s->cap, s->nr + 1, sizeof(*s->segments)) < 0)
		return -ENOMEM;
	s->segments[s->nr++] = (struct range_segment){start, value};
	return 0;
}

/* Ends the ranges that end at or before @addr. */
static int leave(struct range_set *s, struct open_ranges *open, uint64_t addr)
{
	int rc = 0;

	while (!rc && open->nr && open->range[open->nr - 1].end <= addr) {
		uint64_t end = open->range[--open->nr].end;

		rc = emit(s, end, open->nr ? open->range[open->nr - 1].value : RANGE_NONE);
	}
	return rc;
}

static int enter(struct range_set *s, struct open_ranges *open, const struct range *r)
{
	if (array_grow(&open->range, &open->cap, open->nr + 1, sizeof(*open->range)) < 0)
		return -ENOMEM;
	open->range[open->nr] = *r;
	if (open->nr && r->end > open->range[open->nr - 1].end)
		open->range[open->nr].end = open->range[open->nr - 1].end;
	open->nr++;
	return emit(s, r->start, r->value);
}

int range_set_build(struct range_set *s)
{
	struct open_ranges open = {0};
	int rc = 0;

	if (s->nr_ranges)
		qsort(s->ranges, s->nr_ranges, sizeof(*s->ranges), compare);
	for (size_t i = 0; !rc && i < s->nr_ranges; i++) {
		rc = leave(s, &open, s->ranges[i].start);
		if (!rc)
			rc = enter(s, &open, &s->ranges[i]);
	}
	if (!rc)
		rc = leave(s, &open, UINT64_MAX);
	free(open.range);
	free(s->ranges);
	s->ranges = NULL;
	s->nr_ranges = s->cap_ranges = 0;
	return rc;
}

uint32_t range_set_find(const struct range_set *s, uint64_t addr)
{
	size_t lo = 0, hi = s->nr;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (s->segments[mid].start <= addr)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo ? s->segments[lo - 1].value : RANGE_NONE;
}

void range_set_release(struct range_set *s)
{
	free(s->ranges);
	free(s->segments);
	*s = (struct range_set){0};
}
