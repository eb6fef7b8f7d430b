// SPDX-License-Identifier: Apache-2.0
#include "record/initial/buildid_queue.h"

#include <assert.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/*
 * A message is a word and its bytes, padded to whole words. The word is 0 until the message is
 * complete, then its length + 1; or SKIP with the number of words up to the end of the ring. The
 * consumer zeroes all words of a message before it frees the place.
 */
#define SKIP (1ull << 63)
#define WORD sizeof(uint64_t)

struct buildid_queue {
	size_t words;	       /* of the ring, a power of two */
	_Atomic uint64_t head; /* words reserved since the beginning */
	_Atomic uint64_t tail; /* words freed */
	_Atomic uint64_t ring[];
};

struct buildid_queue *buildid_queue_new(size_t bytes)
{
	struct buildid_queue *q = calloc(1, sizeof(*q) + bytes);

	assert(bytes >= 2 * WORD && !(bytes & (bytes - 1)));
	if (q)
		q->words = bytes / WORD;
	return q;
}

void buildid_queue_free(struct buildid_queue *q)
{
	free(q);
}

static size_t words_of(size_t len)
{
	return 1 + (len + WORD - 1) / WORD;
}

/* Reserves @n words in one piece; *@ret: their place, counted from the beginning. False: no room.
 */
static bool reserve(struct buildid_queue *q, size_t n, uint64_t *ret)
{
	uint64_t head = atomic_load_explicit(&q->head, memory_order_relaxed), tail, skip;

	for (;;) {
		size_t at = head & (q->words - 1);

		/* Pairs with the release in give_back(): the words are 0. */
		tail = atomic_load_explicit(&q->tail, memory_order_acquire);
		skip = at + n > q->words ? q->words - at : 0;
		/* A tail beyond @head shows that @head is stale: the exchange fails and reloads. */
		if (tail <= head && head + skip + n - tail > q->words)
			return false;
		if (atomic_compare_exchange_weak_explicit(&q->head, &head, head + skip + n,
							  memory_order_relaxed,
							  memory_order_relaxed))
			break;
	}
	if (skip)
		atomic_store_explicit(&q->ring[head & (q->words - 1)], SKIP | skip,
				      memory_order_release);
	*ret = head + skip;
	return true;
}

static void put_bytes(_Atomic uint64_t *to, size_t at, const void *from, size_t len)
{
	memcpy((uint8_t *)(uintptr_t)to + at, from, len);
}

bool buildid_queue_put(struct buildid_queue *q, const void *a, size_t a_len, const void *b,
		       size_t b_len)
{
	size_t n = words_of(a_len + b_len);
	_Atomic uint64_t *place;
	uint64_t at;

	if (n > q->words || !reserve(q, n, &at))
		return false;
	place = &q->ring[at & (q->words - 1)];
	put_bytes(place + 1, 0, a, a_len);
	put_bytes(place + 1, a_len, b, b_len);
	/* Pairs with the acquire in buildid_queue_take(). */
	atomic_store_explicit(place, a_len + b_len + 1, memory_order_release);
	return true;
}

static void give_back(struct buildid_queue *q, uint64_t tail, size_t n)
{
	memset((void *)(uintptr_t)&q->ring[tail & (q->words - 1)], 0, n * WORD);
	atomic_store_explicit(&q->tail, tail + n, memory_order_release);
}

size_t buildid_queue_take(struct buildid_queue *q, void *to, size_t size)
{
	uint64_t tail = atomic_load_explicit(&q->tail, memory_order_relaxed), word;
	_Atomic uint64_t *place;
	size_t len;

	for (;;) {
		place = &q->ring[tail & (q->words - 1)];
		word = atomic_load_explicit(place, memory_order_acquire);
		if (!(word & SKIP))
			break;
		give_back(q, tail, word & ~SKIP);
		tail += word & ~SKIP;
	}
	if (!word)
		return 0;
	len = word - 1;
	memcpy(to, (const uint8_t *)(uintptr_t)(place + 1), len < size ? len : size);
	give_back(q, tail, words_of(len));
	return len;
}
