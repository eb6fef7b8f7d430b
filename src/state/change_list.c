// SPDX-License-Identifier: Apache-2.0
#include "state/change_list.h"

#include <errno.h>
#include <stdlib.h>

#define ANCHOR_EVERY 32u /* changes */
#define CODE_MAX     15u /* bytes of a change: numbers of up to 10 and 5 */

/* --- bytes ---------------------------------------------------------------------------------------
 */

static void put_number(struct buf *b, uint64_t v)
{
	for (; v >= 0x80; v >>= 7)
		b->data[b->len++] = (uint8_t)(v | 0x80);
	b->data[b->len++] = (uint8_t)v;
}

/* Returns the place behind the number. */
static inline const uint8_t *get_number(const uint8_t *p, uint64_t *ret)
{
	uint64_t byte = *p++, v = byte & 0x7f;

	for (unsigned int shift = 7; byte >= 0x80; shift += 7) {
		byte = *p++;
		v |= (byte & 0x7f) << shift;
	}
	*ret = v;
	return p;
}

static inline const uint8_t *get_change(const uint8_t *p, struct change_entry *change)
{
	uint64_t since, value;

	p = get_number(get_number(p, &since), &value);
	change->time += since;
	change->value = (uint32_t)value;
	return p;
}

void change_list_next(const struct change_list *l, size_t *at, struct change_entry *change)
{
	*at = (size_t)(get_change(l->bytes.data + *at, change) - l->bytes.data);
}

static int append(struct change_list *l, const struct change_entry *change)
{
	if (buf_reserve(&l->bytes, CODE_MAX))
		return -ENOMEM;
	/* A time before the last one wraps around, here and when it is read. */
	put_number(&l->bytes, change->time - l->last);
	put_number(&l->bytes, change->value);
	l->last = change->time;
	l->nr++;
	return 0;
}

/* A place in the bytes, in changes that are in order. */
struct change_cursor {
	struct change_entry change; /* the next one */
	size_t at, end;		    /* of the bytes behind it */
};

size_t change_list_memory(const struct change_list *l)
{
	return l->bytes.cap + l->cap_anchors * sizeof(*l->anchors) +
	       l->nr_descents * sizeof(struct change_cursor);
}

int change_list_add(struct change_list *l, uint64_t time, uint32_t value)
{
	const struct change_entry change = {time, value};

	l->nr_descents += time < l->last;
	return append(l, &change);
}

void change_list_release(struct change_list *l)
{
	buf_release(&l->bytes);
	free(l->anchors);
	*l = (struct change_list){0};
}

/* --- freezing ------------------------------------------------------------------------------------
 */

/* Appends a change to a list that is being frozen, and its anchor if it is to have one. */
static int append_sorted(struct change_list *l, const struct change_entry *change)
{
	uint64_t number = l->nr;

	if (append(l, change))
		return -ENOMEM;
	if (number % ANCHOR_EVERY)
		return 0;
	if (array_grow(&l->anchors, &l->cap_anchors, l->nr_anchors + 1, sizeof(*l->anchors)))
		return -ENOMEM;
	l->anchors[l->nr_anchors++] = (struct change_anchor){*change, l->bytes.len};
	return 0;
}

/* Of equal times the first in the list goes first. */
static bool is_before(const struct change_cursor *a, const struct change_cursor *b)
{
	return a->change.time != b->change.time ? a->change.time < b->change.time : a->at < b->at;
}

static void sift_down(struct change_cursor *heap, size_t nr, size_t i)
{
	struct change_cursor moved = heap[i];

	for (size_t child; (child = 2 * i + 1) < nr; i = child) {
		if (child + 1 < nr && is_before(&heap[child + 1], &heap[child]))
			child++;
		if (!is_before(&heap[child], &moved))
			break;
		heap[i] = heap[child];
	}
	heap[i] = moved;
}

/* Fills @ret with a cursor for each run. */
static void find_runs(const struct change_list *l, struct change_cursor *ret)
{
	struct change_entry change = {0};
	size_t nr = 0;

	for (size_t at = 0; at < l->bytes.len;) {
		uint64_t before = change.time;
		size_t begin = at;

		change_list_next(l, &at, &change);
		if (nr && change.time >= before)
			continue;
		if (nr)
			ret[nr - 1].end = begin;
		ret[nr++] = (struct change_cursor){change, at, l->bytes.len};
	}
}

/* Merges the @nr runs of @from, whose cursors are @heap, into @to. */
static int merge_runs(const struct change_list *from, struct change_cursor *heap, size_t nr,
		      change_fn keep, void *arg, struct change_list *to)
{
	int rc = 0;

	for (size_t i = nr / 2; i--;)
		sift_down(heap, nr, i);
	while (!rc && nr) {
		struct change_entry change = heap->change;

		if (keep(&change, arg))
			rc = append_sorted(to, &change);
		if (heap->at < heap->end)
			change_list_next(from, &heap->at, &heap->change);
		else
			heap[0] = heap[--nr];
		if (nr)
			sift_down(heap, nr, 0);
	}
	return rc;
}

int change_list_freeze(struct change_list *l, change_fn keep, void *arg)
{
	size_t nr = l->bytes.len ? l->nr_descents + 1 : 0;
	struct change_cursor *heap = calloc(nr + 1, sizeof(*heap));
	struct change_list from = *l;
	uint8_t *less;
	int rc;

	if (!heap)
		return -ENOMEM;
	find_runs(&from, heap);
	*l = (struct change_list){0};
	rc = merge_runs(&from, heap, nr, keep, arg, l);
	change_list_release(&from);
	free(heap);
	less = l->bytes.len ? realloc(l->bytes.data, l->bytes.len) : NULL;
	if (less) {
		l->bytes.data = less;
		l->bytes.cap = l->bytes.len;
	}
	return rc;
}

/* --- use -----------------------------------------------------------------------------------------
 */

bool change_list_find(const struct change_list *l, uint64_t time, uint32_t *ret)
{
	size_t from = 0, to = l->nr_anchors;
	struct change_entry change, next;
	const uint8_t *p, *end;

	/* The last anchor that is not later than @time is below @to. */
	while (from < to) {
		size_t middle = from + (to - from) / 2;

		if (l->anchors[middle].change.time <= time)
			from = middle + 1;
		else
			to = middle;
	}
	if (!to)
		return false;
	change = next = l->anchors[to - 1].change;
	p = l->bytes.data + l->anchors[to - 1].at;
	end = l->bytes.data + (to < l->nr_anchors ? l->anchors[to].at : l->bytes.len);
	while (p < end && next.time <= time) {
		change = next;
		p = get_change(p, &next);
	}
	*ret = next.time <= time ? next.value : change.value;
	return true;
}
