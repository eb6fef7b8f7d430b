/* SPDX-License-Identifier: Apache-2.0 */
/* Memory that is given out in small pieces and freed all at once. One thread. Internal to state/.
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

/* Makes sure that the next @size bytes in all will not fail. Returns 0 or -ENOMEM. */
int arena_reserve(struct arena *a, size_t size);

/* Frees all of it and empties the arena. */
void arena_release(struct arena *a);

#endif
