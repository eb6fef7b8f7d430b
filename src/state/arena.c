// SPDX-License-Identifier: Apache-2.0
#include "state/arena.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define CHUNK_SIZE (64u << 10)

struct arena_chunk {
	struct arena_chunk *next;
	_Alignas(16) unsigned char data[];
};

static int add_chunk(struct arena *a, size_t need)
{
	size_t size = need > CHUNK_SIZE ? need : CHUNK_SIZE;
	struct arena_chunk *c = malloc(sizeof(*c) + size); /* calloc() may clear all of it */

	if (!c)
		return -ENOMEM;
	c->next = a->chunks;
	a->chunks = c;
	a->used = 0;
	a->size = size;
	a->total += sizeof(*c) + size;
	return 0;
}

void *arena_alloc(struct arena *a, size_t size)
{
	void *p;

	size = (size + 15) & ~(size_t)15;
	if (size > a->size - a->used && add_chunk(a, size))
		return NULL;
	p = a->chunks->data + a->used;
	a->used += size;
	return memset(p, 0, size);
}

int arena_reserve(struct arena *a, size_t size)
{
	if (size <= a->size - a->used)
		return 0;
	/*
	 * Rare, and only the rest of the old chunk is wasted. Pages that nobody touches cost
	 * nothing.
	 */
	return add_chunk(a, 4 * size);
}

void arena_release(struct arena *a)
{
	struct arena_chunk *c, *next;

	for (c = a->chunks; c; c = next) {
		next = c->next;
		free(c);
	}
	*a = (struct arena){0};
}
