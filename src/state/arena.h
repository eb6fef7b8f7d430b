/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Arena: hands out small pieces of memory and frees them all at once. One thread. Internal to
 * state/.
 */
#ifndef RINGTAIL_STATE_ARENA_H
#define RINGTAIL_STATE_ARENA_H

#include <stddef.h>

struct arena_chunk;

/* An all-zero struct is an empty arena. */
struct arena {
	struct arena_chunk *chunks;
	size_t used, size; /* bytes of the first chunk */
	size_t total;	   /* bytes of all chunks */
};

/* Returns @size zeroed bytes, aligned to 16, or NULL when out of memory. */
void *arena_alloc(struct arena *a, size_t size);

/*
 * Makes room for the next @size bytes, so that their allocation cannot fail. Returns 0 or -ENOMEM.
 */
int arena_reserve(struct arena *a, size_t size);

/* Frees all pieces. The arena is empty afterwards. */
void arena_release(struct arena *a);

#endif
