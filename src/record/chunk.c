// SPDX-License-Identifier: Apache-2.0
#include "record/chunk.h"

#include <assert.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

struct chunk_pool {
	struct chunk *chunks;
	struct chunk *free;
	uint8_t *memory;
	size_t count, bytes; /* chunks, bytes of each */
};

struct chunk_pool *chunk_pool_new(size_t count, size_t bytes)
{
	struct chunk_pool *pool = calloc(1, sizeof(*pool));
	void *memory;

	assert(bytes >= CHUNK_MIN && bytes % 8 == 0);
	if (!pool)
		return NULL;
	pool->chunks = calloc(count, sizeof(*pool->chunks));
	memory = mmap(NULL, count * bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
		      0);
	if (!pool->chunks || memory == MAP_FAILED) {
		if (memory != MAP_FAILED)
			munmap(memory, count * bytes);
		free(pool->chunks);
		free(pool);
		return NULL;
	}
	pool->memory = memory;
	pool->count = count;
	pool->bytes = bytes;
	for (size_t i = count; i-- > 0;) {
		struct chunk *c = &pool->chunks[i];

		c->pool = pool;
		c->data = pool->memory + i * bytes;
		c->capacity = bytes;
		chunk_put(c);
	}
	return pool;
}

void chunk_pool_free(struct chunk_pool *pool)
{
	if (!pool)
		return;
	munmap(pool->memory, pool->count * pool->bytes);
	free(pool->chunks);
	free(pool);
}

size_t chunk_pool_bytes(const struct chunk_pool *pool)
{
	return pool->count * pool->bytes;
}

struct chunk *chunk_get(struct chunk_pool *pool)
{
	struct chunk *c = pool->free;

	if (!c)
		return NULL;
	pool->free = c->next;
	c->next = NULL;
	c->run = (struct run){.a = c->data, .ring = RUN_NO_RING, .cpu = -1};
	return c;
}

void chunk_put(struct chunk *c)
{
	if (!c)
		return;
	/* Last in, first out: the memory most likely still in the cache is used again. */
	c->next = c->pool->free;
	c->pool->free = c;
}

static size_t chunk_append(struct chunk *c, const uint8_t *p, size_t len)
{
	size_t room = c->capacity - c->run.a_len;

	if (len > room)
		len = room;
	memcpy(c->data + c->run.a_len, p, len);
	c->run.a_len += len;
	return len;
}

size_t chunk_fill(struct chunk *c, const struct run *run, size_t from)
{
	size_t copied = 0;

	c->run.ring = run->ring;
	c->run.cpu = run->cpu;
	if (from < run->a_len) {
		copied = chunk_append(c, run->a + from, run->a_len - from);
		from += copied;
	}
	if (from >= run->a_len && from < run_bytes(run))
		copied += chunk_append(c, run->b + (from - run->a_len), run_bytes(run) - from);
	return copied;
}

size_t chunk_cut(struct chunk *c, struct chunk *next)
{
	size_t end = c->run.a_len, at = 0, rest;
	struct perf_event_header h;

	while (end - at >= sizeof(h)) {
		memcpy(&h, c->data + at, sizeof(h));
		if (h.size < sizeof(h) || h.size > end - at)
			break;
		at += h.size;
	}
	rest = end - at;
	/* More than a record can be long: not a cut record but memory that nobody understands. */
	if (rest > UINT16_MAX)
		return 0;
	c->run.a_len = at;
	next->run.ring = c->run.ring;
	next->run.cpu = c->run.cpu;
	return chunk_append(next, c->data + at, rest);
}
