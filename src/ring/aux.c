// SPDX-License-Identifier: Apache-2.0
#include "ring/aux.h"

#include <assert.h>
#include <errno.h>
#include <string.h>

/* A search for bytes that were written reads all of a small area, and so many pieces of a large
 * one. */
#define SEARCH_PIECES 4096u
#define SEARCH_PIECE  64u

/* Copies the @len bytes that end at position (or offset) @end. */
static void copy_below(const struct aux_ring *r, uint64_t end, uint64_t len, uint8_t *out)
{
	const struct ring_spans spans = ring_spans_of(r->data, r->size, end - len, len);

	ring_spans_copy(&spans, 0, out, len);
}

/* C: pairs with the PMU driver's barrier between its data and the kernel's store of aux_head. */
static uint64_t load_head(const struct aux_ring *r)
{
	return __atomic_load_n(&r->page->aux_head, __ATOMIC_ACQUIRE);
}

int aux_ring_init(struct aux_ring *r, void *page, const void *data, uint64_t size, bool overwrite)
{
	if (size < 4096 || (size & (size - 1)))
		return -EINVAL;
	*r = (struct aux_ring){.page = page, .data = data, .size = size, .overwrite = overwrite};
	r->tail = r->page->aux_tail;
	r->position = r->head = r->probed = load_head(r);
	copy_below(r, r->head, AUX_RING_PROBE, r->probe);
	return 0;
}

size_t aux_ring_peek(const struct aux_ring *r, struct ring_spans *ret)
{
	uint64_t bytes = load_head(r) - r->tail;

	/* The kernel never runs further ahead than the size; memory that says so is not read. */
	if (bytes > r->size)
		bytes = 0;
	*ret = ring_spans_of(r->data, r->size, r->tail, bytes);
	return bytes;
}

void aux_ring_release(struct aux_ring *r, size_t bytes)
{
	assert(!r->overwrite && bytes <= r->size);
	r->tail += bytes;
	/* D: pairs with A in perf_aux_output_begin(); our loads of the data are done before. */
	__atomic_store_n(&r->page->aux_tail, r->tail, __ATOMIC_RELEASE);
}

uint64_t aux_ring_head(const struct aux_ring *r)
{
	return load_head(r);
}

uint64_t aux_ring_move(struct aux_ring *r, uint64_t head)
{
	uint64_t bytes = (head - r->head) & (r->size - 1);

	assert(r->overwrite);
	/* An offset is at most the size, which only a head that counts on exceeds. */
	r->counts_on |= head > r->size;
	if (r->counts_on)
		bytes = head >= r->head ? head - r->head : r->size + bytes;
	r->head = head;
	r->position += bytes;
	return bytes;
}

/*
 * Whether more bytes were written since the probe than the heads show: then a byte has changed that
 * is below the probe's position, and that these did not reach.
 */
static bool turned(const struct aux_ring *r, uint64_t bytes)
{
	uint64_t kept = r->size - bytes;
	uint8_t now[AUX_RING_PROBE];

	if (kept > AUX_RING_PROBE)
		kept = AUX_RING_PROBE;
	copy_below(r, r->probed, kept, now);
	return memcmp(now, r->probe + AUX_RING_PROBE - kept, kept) != 0;
}

bool aux_ring_settle(struct aux_ring *r, bool (*idle)(void *arg), void *arg, uint64_t *ret_more)
{
	uint64_t bytes = r->position - r->probed;
	bool shown = bytes >= r->size && r->position != r->head;
	uint8_t probe[AUX_RING_PROBE];

	/*
	 * Behind a turn that the heads show the content does not tell of another one. A position
	 * that is still the head shows none, even if it is the size.
	 */
	*ret_more = !r->counts_on && (shown || turned(r, bytes)) ? r->size : 0;
	copy_below(r, r->head, AUX_RING_PROBE, probe);
	if (idle && !idle(arg))
		return false;
	r->position += *ret_more;
	r->probed = r->position;
	memcpy(r->probe, probe, sizeof(probe));
	return true;
}

static bool written(const uint8_t *p, uint64_t len)
{
	return len && (p[0] || memcmp(p, p + 1, len - 1) != 0);
}

/* Whether somebody wrote behind @at, as in an area that the head went around. */
static bool written_behind(const struct aux_ring *r, uint64_t at)
{
	uint64_t step = (r->size - at) / SEARCH_PIECES;
	uint64_t end = r->size - AUX_RING_PROBE;

	if (written(r->data + (at > end ? at : end), r->size - (at > end ? at : end)))
		return true;
	if (step < SEARCH_PIECE)
		step = SEARCH_PIECE;
	for (; at < r->size; at += step) {
		uint64_t left = r->size - at;

		if (written(r->data + at, left < SEARCH_PIECE ? left : SEARCH_PIECE))
			return true;
	}
	return false;
}

void aux_ring_window(struct aux_ring *r, struct aux_window *ret)
{
	uint64_t to = r->position;

	/* Below the size a position is the head, so the rest of the area is behind it. */
	if (to < r->size && written_behind(r, to))
		to = r->position = r->probed += r->size;
	ret->to = to;
	ret->wrapped = to >= r->size;
	ret->from = ret->wrapped ? to - r->size : 0;
	ret->fresh = r->taken > ret->from ? r->taken : ret->from;
}

void aux_ring_copy(const struct aux_ring *r, uint64_t from, uint64_t to, void *out)
{
	assert(from <= to && to - from <= r->size);
	copy_below(r, to, to - from, out);
}

void aux_ring_taken(struct aux_ring *r, const struct aux_window *w)
{
	r->taken = w->to;
}
