// SPDX-License-Identifier: Apache-2.0
#include "record/history/history_priv.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>

#include "perfdata/record.h"

struct history *history_new(uint64_t budget, size_t rings, unsigned int time_at)
{
	struct history *h = calloc(1, sizeof(*h) + rings * sizeof(h->rings[0]));
	uint64_t share = budget / (4 * rings);

	if (!h)
		return NULL;
	pthread_mutex_init(&h->lock, NULL);
	pthread_cond_init(&h->moved, NULL);
	h->budget = budget;
	h->time_at = time_at;
	h->chunk_size = share < HISTORY_RECORD_MAX ? HISTORY_RECORD_MAX
			: share < HISTORY_CHUNK	   ? (size_t)share
						   : HISTORY_CHUNK;
	h->nr = rings;
	for (size_t i = 0; i < rings; i++)
		h->rings[i].end = &h->rings[i].sealed;
	return h;
}

static void chunk_free(struct chunk *c)
{
	if (c)
		free(c->data);
	free(c);
}

void history_free(struct history *h)
{
	if (!h)
		return;
	for (size_t i = 0; i < h->nr; i++) {
		for (struct chunk *c = h->rings[i].sealed, *next; c; c = next) {
			next = c->next;
			chunk_free(c);
		}
		chunk_free(h->rings[i].open);
	}
	free(h->spare);
	free(h->unpacked);
	pthread_cond_destroy(&h->moved);
	pthread_mutex_destroy(&h->lock);
	free(h);
}

/* --- chunks; all under the lock ------------------------------------------------------------------
 */

static uint64_t cost(const struct chunk *c)
{
	return sizeof(*c) + c->capacity;
}

static uint64_t room(const struct history *h)
{
	uint64_t most = h->budget / 2, room = h->budget;

	room -= h->reserved < most ? h->reserved : most;
	if (h->announced)
		room += h->budget > HISTORY_SLACK ? h->budget : HISTORY_SLACK;
	return room;
}

/* Returns the oldest chunk of a ring, which is its first, or NULL if it has none to evict. */
static const struct chunk *oldest_of(const struct history_ring *ring)
{
	if (ring->sealed)
		return ring->sealed;
	return ring->open && ring->open->samples && !ring->busy ? ring->open : NULL;
}

static struct history_ring *oldest_ring(struct history *h)
{
	struct history_ring *oldest = NULL;

	for (size_t i = 0; i < h->nr; i++) {
		const struct chunk *c = oldest_of(&h->rings[i]);

		if (c && (!oldest || c->last < oldest_of(oldest)->last))
			oldest = &h->rings[i];
	}
	return oldest;
}

/* Frees the data of a chunk, or keeps it as the spare. */
static void give_back(struct history *h, uint8_t *data, size_t capacity)
{
	if (capacity == h->chunk_size && !h->spare)
		h->spare = data;
	else
		free(data);
}

/* Evicts *@link, a sealed chunk of @ring. */
static void evict(struct history *h, struct history_ring *ring, struct chunk **link)
{
	struct chunk *c = *link;

	*link = c->next;
	if (ring->end == &c->next)
		ring->end = link;
	if (ring->plain == c)
		ring->plain = c->next;
	h->memory -= cost(c);
	h->sums.evicted += c->unwritten.samples;
	h->sums.held -= c->unwritten.samples;
	if (c->touched)
		h->snapshot_evicted += c->before.samples - c->unwritten.samples;
	give_back(h, c->data, c->capacity);
	free(c);
}

/* Seals the open chunk, and shrinks its memory if a quarter of it is unused. */
static void seal(struct history *h, struct history_ring *ring)
{
	struct chunk *c = ring->open;
	uint8_t *smaller = NULL;

	if (!c)
		return;
	h->memory -= cost(c);
	if (c->len < c->capacity / 4 * 3)
		smaller = realloc(c->data, c->len);
	if (smaller) {
		c->data = smaller;
		c->capacity = c->len;
	}
	h->memory += cost(c);
	c->unwritten = (struct extent){c->bytes, c->samples};
	c->number = h->numbers++;
	*ring->end = c;
	ring->end = &c->next;
	if (!ring->plain)
		ring->plain = c;
	ring->open = NULL;
}

void history_make_room(struct history *h)
{
	struct history_ring *ring;

	while (h->memory > room(h) && (ring = oldest_ring(h))) {
		if (!ring->sealed)
			seal(h, ring);
		if (ring->sealed->pending || ring->sealed->packing)
			pthread_cond_wait(&h->moved, &h->lock);
		else
			evict(h, ring, &ring->sealed);
	}
}

static int open_chunk(struct history *h, struct history_ring *ring)
{
	struct chunk *c = malloc(sizeof(*c));
	uint8_t *data = h->spare ? h->spare : malloc(h->chunk_size);

	h->spare = NULL;
	if (!c || !data) {
		free(c);
		free(data);
		return -ENOMEM;
	}
	*c = (struct chunk){.capacity = h->chunk_size, .first = UINT64_MAX, .data = data};
	ring->open = c;
	h->memory += cost(c);
	history_make_room(h);
	return 0;
}

/* --- writing -------------------------------------------------------------------------------------
 */

#define BLOCK ((size_t)16 << 10) /* bytes */

/* The callback for records that are not samples. */
struct others {
	history_other_fn *take;
	void *arg;
};

/* Adjacent samples in a span of a run. */
struct stretch {
	size_t len; /* bytes */
	uint64_t first, last, samples;
};

static uint64_t first_word(const uint8_t *p)
{
	uint64_t word;

	memcpy(&word, p, sizeof(word));
	return word;
}

/*
 * Returns the number of records at the front of @p with the type and size of @hdr. The address of
 * the next record does not depend on what was read, so the CPU can load many at once.
 */
static size_t alike(const uint8_t *p, size_t len, const struct perf_event_header *hdr)
{
	const struct perf_event_header all = {.type = ~0u, .size = UINT16_MAX};
	uint64_t mask = first_word((const uint8_t *)&all);
	uint64_t word = first_word((const uint8_t *)hdr) & mask;
	size_t at = 0, nr = 0;

	for (; len - at >= hdr->size && (first_word(p + at) & mask) == word; at += hdr->size)
		nr++;
	return nr;
}

uint64_t history_time_of(const struct history *h, const uint8_t *sample, size_t size)
{
	return size >= h->time_at + sizeof(uint64_t) ? first_word(sample + h->time_at) : 0;
}

/* Adds the whole samples at the front of @p to @s; *@ret_last: the last of them. */
static void count_samples(const uint8_t *p, size_t len, struct stretch *s, const uint8_t **ret_last)
{
	struct perf_event_header hdr;
	size_t at = 0, nr;

	while (pd_record_at(p + at, len - at, &hdr) && hdr.type == PERF_RECORD_SAMPLE) {
		nr = alike(p + at, len - at, &hdr);
		s->samples += nr;
		at += nr * hdr.size;
		*ret_last = p + at - hdr.size;
	}
	s->len += at;
}

/*
 * Copies the whole samples at the front of @p, a block at a time, so that they are in the cache
 * when they are counted. A ring is in order, so first and last time are those of the end samples.
 */
static struct stretch copy_samples(const struct history *h, uint8_t *out, const uint8_t *p,
				   size_t len)
{
	struct stretch s = {0};
	struct perf_event_header hdr;
	const uint8_t *last = p;
	uint64_t one, other;
	size_t n;

	while (pd_record_at(p + s.len, len - s.len, &hdr) && hdr.type == PERF_RECORD_SAMPLE) {
		n = hdr.size > BLOCK ? hdr.size : BLOCK;
		n = n < len - s.len ? n : len - s.len;
		memcpy(out + s.len, p + s.len, n);
		count_samples(p + s.len, n, &s, &last);
	}
	one = history_time_of(h, p, pd_record_at(p, len, &hdr));
	other = history_time_of(h, last, pd_record_at(last, len - (size_t)(last - p), &hdr));
	s.first = one && one < other ? one : other;
	s.last = one < other ? other : one;
	return s;
}

/* Opens a chunk with room for @size bytes or more; the writer fills it without lock until filled().
 */
static int begin_to_fill(struct history *h, struct history_ring *ring, size_t size)
{
	bool full;
	int rc = 0;

	pthread_mutex_lock(&h->lock);
	full = ring->open && ring->open->capacity - ring->open->len < size;
	if (full)
		seal(h, ring);
	if (full && h->full) {
		pthread_mutex_unlock(&h->lock);
		h->full((size_t)(ring - h->rings), h->full_arg);
		pthread_mutex_lock(&h->lock);
	}
	ring->busy = true;
	if (!ring->open)
		rc = open_chunk(h, ring);
	if (rc)
		ring->busy = false;
	pthread_mutex_unlock(&h->lock);
	return rc;
}

static void filled(struct history *h, struct history_ring *ring, const struct stretch *s)
{
	struct chunk *c = ring->open;

	pthread_mutex_lock(&h->lock);
	c->len += s->len;
	c->bytes = c->len;
	c->samples += s->samples;
	if (s->first && s->first < c->first)
		c->first = s->first;
	if (s->last > c->last)
		c->last = s->last;
	h->sums.taken += s->samples;
	h->sums.held += s->samples;
	ring->busy = false;
	pthread_mutex_unlock(&h->lock);
}

/* Copies the samples at the front of @p, the first of which has @size bytes. */
static int take_samples(struct history *h, struct history_ring *ring, const uint8_t *p, size_t len,
			size_t size, size_t *ret_taken)
{
	struct stretch s;
	struct chunk *c;
	size_t room;
	int rc = begin_to_fill(h, ring, size);

	if (rc)
		return rc;
	c = ring->open;
	room = c->capacity - c->len;
	s = copy_samples(h, c->data + c->len, p, len < room ? len : room);
	filled(h, ring, &s);
	*ret_taken = s.len;
	return 0;
}

/* Takes the whole records at the front of a span. */
static int take_span(struct history *h, struct history_ring *ring, const uint8_t *p, size_t len,
		     const struct others *others, size_t *ret_taken)
{
	struct perf_event_header hdr;
	size_t at = 0, n;
	int rc = 0;

	while (!rc && (n = pd_record_at(p + at, len - at, &hdr))) {
		if (hdr.type == PERF_RECORD_SAMPLE)
			rc = take_samples(h, ring, p + at, len - at, hdr.size, &n);
		else
			rc = others->take((const void *)(p + at), others->arg);
		at += n;
	}
	*ret_taken = at;
	return rc;
}

/* Takes the record that begins at @at of the first span and ends in the second, if there is one. */
static int take_across(struct history *h, struct history_ring *ring, const struct run *run,
		       size_t at, const struct others *others, size_t *ret_rest)
{
	struct perf_event_header hdr;
	uint8_t *whole;
	size_t n;
	int rc;

	*ret_rest = 0;
	if (run->a_len - at < sizeof(hdr))
		return 0;
	memcpy(&hdr, run->a + at, sizeof(hdr));
	if (hdr.size <= run->a_len - at || hdr.size > run_bytes(run) - at)
		return 0;
	whole = malloc(hdr.size);
	if (!whole)
		return -ENOMEM;
	run_copy(run, at, whole, hdr.size);
	rc = take_span(h, ring, whole, hdr.size, others, &n);
	free(whole);
	*ret_rest = at + hdr.size - run->a_len;
	return rc;
}

int history_write(struct history *h, const struct run *run, history_other_fn *other, void *arg)
{
	const struct others others = {other, arg};
	struct history_ring *ring = &h->rings[run->ring < h->nr ? run->ring : 0];
	size_t at, rest = 0;
	int rc = take_span(h, ring, run->a, run->a_len, &others, &at);

	if (!rc && at < run->a_len)
		rc = take_across(h, ring, run, at, &others, &rest);
	if (!rc && (at == run->a_len || rest))
		rc = take_span(h, ring, run->b + rest, run->b_len - rest, &others, &at);
	return rc;
}

void history_on_full(struct history *h, void (*full)(size_t ring, void *arg), void *arg)
{
	h->full = full;
	h->full_arg = arg;
}

void history_seal(struct history *h, size_t ring)
{
	pthread_mutex_lock(&h->lock);
	seal(h, &h->rings[ring]);
	pthread_mutex_unlock(&h->lock);
}

void history_rest(struct history *h, size_t ring)
{
	if (h->nr * h->chunk_size > h->budget / 16)
		history_seal(h, ring);
}

void history_reserve(struct history *h, uint64_t bytes)
{
	pthread_mutex_lock(&h->lock);
	h->reserved = bytes;
	history_make_room(h);
	pthread_mutex_unlock(&h->lock);
}

void history_forget(struct history *h, uint64_t time)
{
	pthread_mutex_lock(&h->lock);
	for (size_t i = 0; i < h->nr; i++) {
		struct history_ring *ring = &h->rings[i];
		struct chunk **link = &ring->sealed;

		if (ring->open && !ring->busy && ring->open->last < time)
			seal(h, ring);
		while (*link)
			if ((*link)->last < time && !(*link)->packing)
				evict(h, ring, link);
			else
				link = &(*link)->next;
	}
	pthread_mutex_unlock(&h->lock);
}

/* --- packing -------------------------------------------------------------------------------------
 */

/* A later snapshot may write the rest; unpacking a part for it would cost more than it saves. */
static bool half_written(const struct chunk *c)
{
	return c->unwritten.bytes && c->unwritten.bytes < c->bytes;
}

/*
 * Returns the next chunk of @ring to pack, which is the caller's until packed(), or NULL. After
 * history_announce() no packing begins, so a snapshot waits only for chunks in work.
 */
static struct chunk *begin_to_pack(struct history *h, struct history_ring *ring)
{
	struct chunk *c;

	pthread_mutex_lock(&h->lock);
	while (ring->plain && half_written(ring->plain))
		ring->plain = ring->plain->next;
	c = ring->plain;
	if (c && (c->pending || h->announced))
		c = NULL;
	if (c) {
		c->packing = true;
		h->packing++;
	}
	pthread_mutex_unlock(&h->lock);
	return c;
}

static void packed(struct history *h, struct history_ring *ring, struct chunk *c, uint8_t *data,
		   size_t len)
{
	pthread_mutex_lock(&h->lock);
	if (data) {
		h->memory -= cost(c);
		give_back(h, c->data, c->capacity);
		c->data = data;
		c->len = c->capacity = len;
		c->packed = true;
		h->memory += cost(c);
	}
	c->packing = false;
	h->packing--;
	ring->plain = c->next;
	pthread_cond_broadcast(&h->moved);
	pthread_mutex_unlock(&h->lock);
}

bool history_pack(struct history *h, size_t ring, history_pack_fn *pack, void *arg)
{
	struct chunk *c = begin_to_pack(h, &h->rings[ring]);
	const uint8_t *result;
	uint8_t *data = NULL;
	size_t len;

	if (!c)
		return false;
	len = pack(c->data, c->len, &result, arg);
	if (len && len < c->len)
		data = malloc(len);
	if (data)
		memcpy(data, result, len);
	packed(h, &h->rings[ring], c, data, len);
	return true;
}

/* --- figures -------------------------------------------------------------------------------------
 */

static void span(const struct chunk *c, struct history_figures *ret)
{
	if (c->first < ret->first)
		ret->first = c->first;
	if (c->last > ret->last)
		ret->last = c->last;
	ret->samples += c->samples;
	ret->bytes += c->bytes;
}

void history_figures(struct history *h, struct history_figures *ret)
{
	pthread_mutex_lock(&h->lock);
	*ret = h->sums;
	ret->first = UINT64_MAX;
	ret->memory = h->memory;
	for (size_t i = 0; i < h->nr; i++) {
		for (const struct chunk *c = h->rings[i].sealed; c; c = c->next)
			span(c, ret);
		if (h->rings[i].open)
			span(h->rings[i].open, ret);
	}
	pthread_mutex_unlock(&h->lock);
	if (ret->first == UINT64_MAX)
		ret->first = 0;
}

uint64_t history_oldest(struct history *h)
{
	struct history_figures f;

	history_figures(h, &f);
	return f.first ? f.first : UINT64_MAX;
}
