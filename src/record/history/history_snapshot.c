// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <stdlib.h>

#include "perfdata/record.h"
#include "record/history/history_priv.h"

void history_announce(struct history *h)
{
	pthread_mutex_lock(&h->lock);
	h->limit = h->numbers;
	h->announced = true;
	pthread_mutex_unlock(&h->lock);
}

/* The part of a chunk's state that bytes_since() needs. */
struct weight {
	uint64_t first, last;
	size_t len;
};

/* Estimates the bytes in @w since @time, as if the samples of a chunk were evenly spaced. */
static uint64_t bytes_since(const struct weight *w, size_t nr, uint64_t time)
{
	double sum = 0;

	for (size_t i = 0; i < nr; i++) {
		if (w[i].last < time)
			continue;
		sum += w[i].first >= time ? (double)w[i].len
					  : (double)w[i].len * (double)(w[i].last - time + 1) /
						    (double)(w[i].last - w[i].first + 1);
	}
	return (uint64_t)sum;
}

/* Under the lock: returns the number of chunks of the snapshot; stores the first @room in @ret. */
static size_t weigh_chunks(const struct history *h, struct weight *ret, size_t room)
{
	size_t nr = 0;

	for (size_t i = 0; i < h->nr; i++)
		for (const struct chunk *c = h->rings[i].sealed; c; c = c->next) {
			if (c->number >= h->limit)
				continue;
			if (nr < room)
				ret[nr] = (struct weight){c->first, c->last, c->bytes};
			nr++;
		}
	return nr;
}

/* Weighs the chunks of the snapshot; their number cannot grow meanwhile. Returns 0 or -ENOMEM. */
static int weigh(struct history *h, struct weight **ret, size_t *ret_nr)
{
	size_t room, nr;

	pthread_mutex_lock(&h->lock);
	room = weigh_chunks(h, NULL, 0);
	pthread_mutex_unlock(&h->lock);
	*ret = malloc((room + 1) * sizeof(**ret));
	if (!*ret)
		return -ENOMEM;
	pthread_mutex_lock(&h->lock);
	nr = weigh_chunks(h, *ret, room);
	pthread_mutex_unlock(&h->lock);
	*ret_nr = nr < room ? nr : room;
	return 0;
}

/* Finds the time since which about @bytes came; 0 if all samples are no more. 0 or -ENOMEM. */
static int time_of_newest(struct history *h, uint64_t bytes, uint64_t *ret)
{
	uint64_t low = 0, high = 0;
	struct weight *w;
	size_t nr;

	if (weigh(h, &w, &nr))
		return -ENOMEM;
	for (size_t i = 0; i < nr; i++)
		high = w[i].last >= high ? w[i].last + 1 : high;
	if (bytes_since(w, nr, 0) <= bytes)
		high = 0;
	/* Invariant: more than @bytes came since low, and not more since high. */
	while (high > low + 1) {
		uint64_t middle = low + (high - low) / 2;

		if (bytes_since(w, nr, middle) > bytes)
			low = middle;
		else
			high = middle;
	}
	free(w);
	*ret = high;
	return 0;
}

int history_snapshot_begin(struct history *h, const struct history_bounds *bounds)
{
	uint64_t since = 0;

	if (bounds->bytes && time_of_newest(h, bounds->bytes, &since))
		return -ENOMEM;
	pthread_mutex_lock(&h->lock);
	while (h->packing)
		pthread_cond_wait(&h->moved, &h->lock);
	h->since = since > bounds->since ? since : bounds->since;
	h->again = bounds->again;
	h->unpack = bounds->unpack;
	h->snapshot_evicted = 0;
	for (size_t i = 0; i < h->nr; i++) {
		struct history_ring *ring = &h->rings[i];

		ring->cursor = NULL;
		for (struct chunk *c = ring->sealed; c; c = c->next) {
			c->touched = false;
			c->pending = c->number < h->limit && c->last >= h->since &&
				     (h->again || c->unwritten.bytes);
			if (c->pending && !ring->cursor)
				ring->cursor = c;
		}
	}
	h->announced = false;
	pthread_mutex_unlock(&h->lock);
	return 0;
}

/* Returns the samples of a chunk, unpacked if need be, or NULL if that fails. */
static const uint8_t *samples_of(struct history *h, const struct chunk *c)
{
	if (!c->packed)
		return c->data;
	free(h->unpacked);
	h->unpacked = h->unpack ? malloc(c->bytes) : NULL;
	if (h->unpacked && h->unpack(c->data, c->len, h->unpacked, c->bytes)) {
		free(h->unpacked);
		h->unpacked = NULL;
	}
	return h->unpacked;
}

/* Returns the part of a chunk's samples that is older than the window. */
static struct extent front_before(const struct history *h, const uint8_t *samples, size_t bytes)
{
	struct extent front = {0};
	struct perf_event_header hdr;
	size_t size;

	while ((size = pd_record_at(samples + front.bytes, bytes - front.bytes, &hdr)) &&
	       history_time_of(h, samples + front.bytes, size) < h->since) {
		front.bytes += size;
		front.samples++;
	}
	return front;
}

/* Finds first and last time of a part of a chunk; its samples are in order. */
static void find_times(const struct history *h, struct history_chunk *part)
{
	struct perf_event_header hdr;
	size_t at = 0, size;

	part->first = part->last = 0;
	while ((size = pd_record_at(part->data + at, part->len - at, &hdr))) {
		part->last = history_time_of(h, part->data + at, size);
		part->first = at ? part->first : part->last;
		at += size;
	}
}

/* Describes a whole chunk. */
static struct history_chunk all_of(struct chunk *c)
{
	c->spared = (struct extent){0};
	return (struct history_chunk){
		.data = c->data,
		.len = c->len,
		.packed = c->packed,
		.bytes = c->bytes,
		.samples = c->samples,
		.first = c->first,
		.last = c->last,
	};
}

/*
 * Finds the part of a chunk to write, and sets c->spared to the bytes before it. Returns false if
 * there is nothing to write. A chunk that cannot be unpacked is written whole, unless a part of it
 * was written already.
 */
static bool part_of(struct history *h, struct chunk *c, struct history_chunk *ret)
{
	struct extent end = h->again ? (struct extent){c->bytes, c->samples} : c->unwritten;
	const uint8_t *samples = NULL;

	if (c->first < h->since || end.bytes < c->bytes)
		samples = samples_of(h, c);
	if (!samples) {
		*ret = all_of(c);
		return end.bytes == c->bytes;
	}
	c->spared = front_before(h, samples, c->bytes);
	if (c->spared.bytes >= end.bytes)
		return false;
	*ret = (struct history_chunk){
		.data = samples + c->spared.bytes,
		.len = end.bytes - c->spared.bytes,
		.bytes = end.bytes - c->spared.bytes,
		.samples = end.samples - c->spared.samples,
	};
	find_times(h, ret);
	return true;
}

/* Counts the chunk that was handed out last as written. */
static void written(struct history *h, struct chunk *c)
{
	c->pending = false;
	if (c->spared.bytes >= c->unwritten.bytes)
		return;
	c->touched = true;
	c->before = c->unwritten;
	h->sums.written += c->unwritten.samples - c->spared.samples;
	h->sums.held -= c->unwritten.samples - c->spared.samples;
	c->unwritten = c->spared;
}

static struct chunk *next_pending(struct chunk *c)
{
	while (c && !c->pending)
		c = c->next;
	return c;
}

/* Returns the ring whose next chunk ends first, or NULL when all are written. */
static struct history_ring *ring_to_write(struct history *h)
{
	struct history_ring *next = NULL;

	for (size_t i = 0; i < h->nr; i++) {
		struct history_ring *ring = &h->rings[i];

		if (ring->cursor && (!next || ring->cursor->last < next->cursor->last))
			next = ring;
	}
	return next;
}

bool history_snapshot_next(struct history *h, struct history_chunk *ret)
{
	struct history_ring *next;

	pthread_mutex_lock(&h->lock);
	if (h->handed_out) {
		written(h, h->handed_out->cursor);
		h->handed_out->cursor = next_pending(h->handed_out->cursor);
		h->handed_out = NULL;
		pthread_cond_broadcast(&h->moved);
	}
	while ((next = ring_to_write(h))) {
		bool any;

		/* Unpacking and walking samples takes long, and writers need the lock. A pending
		 * chunk is neither evicted nor packed, and its other fields are this thread's. */
		pthread_mutex_unlock(&h->lock);
		any = part_of(h, next->cursor, ret);
		pthread_mutex_lock(&h->lock);
		if (any)
			break;
		next->cursor->pending = false;
		next->cursor = next_pending(next->cursor);
		pthread_cond_broadcast(&h->moved);
	}
	if (next)
		ret->ring = (size_t)(next - h->rings);
	h->handed_out = next;
	pthread_mutex_unlock(&h->lock);
	return next;
}

/* Under the lock. */
static void end_snapshot(struct history *h)
{
	for (size_t i = 0; i < h->nr; i++) {
		h->rings[i].cursor = NULL;
		for (struct chunk *c = h->rings[i].sealed; c; c = c->next)
			c->pending = c->touched = false;
	}
	free(h->unpacked);
	h->unpacked = NULL;
	h->handed_out = NULL;
	h->snapshot_evicted = 0;
	h->announced = false;
	pthread_cond_broadcast(&h->moved);
	history_make_room(h);
}

void history_snapshot_end(struct history *h)
{
	pthread_mutex_lock(&h->lock);
	end_snapshot(h);
	pthread_mutex_unlock(&h->lock);
}

void history_snapshot_cancel(struct history *h)
{
	pthread_mutex_lock(&h->lock);
	h->sums.written -= h->snapshot_evicted;
	h->sums.evicted += h->snapshot_evicted;
	for (size_t i = 0; i < h->nr; i++) {
		for (struct chunk *c = h->rings[i].sealed; c; c = c->next) {
			uint64_t samples = c->before.samples - c->unwritten.samples;

			if (!c->touched)
				continue;
			h->sums.written -= samples;
			h->sums.held += samples;
			c->unwritten = c->before;
		}
	}
	end_snapshot(h);
	pthread_mutex_unlock(&h->lock);
}

bool history_left_out(struct history *h)
{
	bool left = false;

	pthread_mutex_lock(&h->lock);
	for (size_t i = 0; i < h->nr; i++)
		for (const struct chunk *c = h->rings[i].sealed; c; c = c->next)
			left |= c->number < h->limit && c->unwritten.samples;
	pthread_mutex_unlock(&h->lock);
	return left;
}
