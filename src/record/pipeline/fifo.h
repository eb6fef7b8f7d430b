/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs of records on their way from a reader to the writer behind it, in memory of fixed size.
 *
 *   reader: fifo_reserve(), fifo_commit() ──► circular memory of pieces ──► fifo_wait(),
 * fifo_done()
 *
 * What is copied here is out of its ring, so the kernel has room again however long the disk takes.
 * A piece lies in one span and holds whole records of one ring. An empty fifo begins anew at its
 * start: as long as the writer keeps up, the same memory, still in the cache, is used again.
 *
 * One thread produces and one consumes; fifo_fullness() may be asked by any.
 */
#ifndef RINGTAIL_RECORD_PIPELINE_FIFO_H
#define RINGTAIL_RECORD_PIPELINE_FIFO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "record/pipeline/run.h"

struct fifo;

#define FIFO_PIECE_MAX ((size_t)1 << 20)   /* bytes of records in a piece, at most */
#define FIFO_MIN       ((size_t)512 << 10) /* bytes of a fifo */

/*
 * Memory of @bytes (FIFO_MIN or more), reserved at once; it costs pages only as they are used.
 * A sixteenth of it is kept for those who may not wait (see fifo_reserve()). NULL: out of memory.
 */
struct fifo *fifo_new(size_t bytes);
void fifo_free(struct fifo *f); /* accepts NULL */

/* The size that fifo_new() was given. */
size_t fifo_bytes(const struct fifo *f);

/* --- the producer --- */

/*
 * Room for a piece of @len bytes (at most fifo_piece_max()), 8-byte aligned, or NULL when there is
 * none; @urgent may also take what is kept. Nothing happens before fifo_commit(), and of several
 * reservations the last one counts.
 */
uint8_t *fifo_reserve(struct fifo *f, size_t len, bool urgent);

/* The same, and waits until there is room. */
uint8_t *fifo_reserve_patiently(struct fifo *f, size_t len);

/* The largest length that can be reserved, bytes. */
size_t fifo_piece_max(const struct fifo *f);

/* The first @len bytes (0: none after all) of what was reserved are records of @ring and @cpu. */
void fifo_commit(struct fifo *f, size_t len, unsigned int ring, int cpu);

/*
 * Fifo_done() shall say when so much is free that a piece has room for certain. Returns false when
 * that is so already; then it will not.
 */
bool fifo_want_room(struct fifo *f);

/*
 * The consumer is to be told @mark (not 0) when it has done all that was committed so far. A mark
 * that it has not come to yet gives way to the new one.
 */
void fifo_mark(struct fifo *f, uint64_t mark);

/* --- the consumer --- */

/*
 * Waits for the next piece, which is in *@ret until fifo_done(), or for a mark. Returns 0 for a
 * piece, else the mark.
 */
uint64_t fifo_wait(struct fifo *f, struct run *ret);

/* Returns true once for each fifo_want_room() that returned true, when there is room. */
bool fifo_done(struct fifo *f);

/* --- any thread --- */

/* How much of it is taken, in percent. @fifo is a struct fifo. */
unsigned int fifo_fullness(void *fifo);

#endif
