/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Chunks: copies of what stood in a ring, from a pool of fixed size.
 *
 * The pool is all the memory that a recording takes beside its rings. A chunk belongs to the pool,
 * to the one who got it by chunk_get(), or to the sink that took it (sink_take()); it changes hands
 * nowhere else. One thread uses a pool.
 */
#ifndef RINGTAIL_RECORD_CHUNK_H
#define RINGTAIL_RECORD_CHUNK_H

#include <stddef.h>
#include <stdint.h>

#include "record/run.h"

struct chunk_pool;

struct chunk {
	struct run run; /* what it holds: run.a is the chunk's memory, run.b is unused */
	size_t capacity;
	struct chunk *next; /* for the queue of whoever owns the chunk */
	struct chunk_pool *pool;
	uint8_t *data;
};

#define CHUNK_MIN ((size_t)128 << 10) /* room for a cut record (64 KB) and more behind it */

/*
 * Makes @count chunks of @bytes (at least CHUNK_MIN) each. The memory is reserved at once and
 * costs pages only as they are used. Returns NULL when out of memory.
 */
struct chunk_pool *chunk_pool_new(size_t count, size_t bytes);

/* Frees the pool with all its chunks; none may be in use. Accepts NULL. */
void chunk_pool_free(struct chunk_pool *pool);

size_t chunk_pool_bytes(const struct chunk_pool *pool); /* of all chunks together */

/* An empty chunk, or NULL when all are in use. */
struct chunk *chunk_get(struct chunk_pool *pool);

/* Gives a chunk back to its pool. Accepts NULL. */
void chunk_put(struct chunk *c);

/*
 * Appends as much of @run from byte @from on as fits; ring and CPU are taken over. Returns the
 * number of bytes copied; the last record may then be cut, see chunk_cut().
 */
size_t chunk_fill(struct chunk *c, const struct run *run, size_t from);

/*
 * Moves the beginning of a record that was cut off at the end of @c to the empty chunk @next.
 * Afterwards @c holds whole records only. Returns the number of bytes moved.
 */
size_t chunk_cut(struct chunk *c, struct chunk *next);

#endif
