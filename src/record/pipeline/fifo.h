/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A lock-free queue of fixed size that carries records from a reader to its writer.
 *
 *   reader: fifo_reserve(), fifo_commit() ──► pieces ──► writer: fifo_wait(), fifo_done()
 *
 * Records copied here leave their ring, so the kernel has room again however slow the disk is. A
 * piece lies in one span and holds whole records of one ring. An empty fifo starts again at the
 * beginning of its memory: while the writer keeps up, the same memory stays in the cache.
 *
 * Threads: one produces, one consumes; any may call the functions at the end. The fifo owns its
 * memory; reserved and waiting pieces point into it. Sizes are in bytes.
 */
#ifndef RINGTAIL_RECORD_PIPELINE_FIFO_H
#define RINGTAIL_RECORD_PIPELINE_FIFO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "record/pipeline/run.h"

struct fifo;

#define FIFO_PIECE_MAX ((size_t)1 << 20)   /* most bytes of records in a piece */
#define FIFO_MIN       ((size_t)512 << 10) /* bytes of a fifo */
#define FIFO_NUDGE     (1ull << 62)	   /* the mark of fifo_nudge() */

/*
 * Returns a fifo of @bytes (FIFO_MIN or more), or NULL when out of memory. Its pages are allocated
 * on first use. A sixteenth is kept for urgent reservations (see fifo_reserve()).
 */
struct fifo *fifo_new(size_t bytes);
void fifo_free(struct fifo *f); /* accepts NULL */

/* Returns the size of the memory. */
size_t fifo_bytes(const struct fifo *f);

/* --- the producer --- */

/*
 * Returns 8-byte aligned room for a piece of @len bytes (at most fifo_piece_max()), or NULL when
 * there is none. @urgent may also use the sixteenth that is kept. The writer sees nothing before
 * fifo_commit(); a second reservation replaces the first.
 */
uint8_t *fifo_reserve(struct fifo *f, size_t len, bool urgent);

/* As fifo_reserve() without @urgent, but sleeps until there is room. */
uint8_t *fifo_reserve_patiently(struct fifo *f, size_t len);

/* Returns the largest @len of a piece: a quarter of the fifo, at most FIFO_PIECE_MAX. */
size_t fifo_piece_max(const struct fifo *f);

/*
 * Hands the first @len bytes of the reserved room, records of @ring and @cpu, to the writer. With
 * @len 0 the reservation is dropped.
 */
void fifo_commit(struct fifo *f, size_t len, unsigned int ring, int cpu);

/*
 * Asks fifo_done() to report when the largest piece has room for certain. Returns false if it has
 * room now; fifo_done() then reports nothing.
 */
bool fifo_want_room(struct fifo *f);

/*
 * Makes fifo_wait() return @mark (not 0) after all pieces committed so far. It replaces an earlier
 * mark that fifo_wait() has not returned yet.
 */
void fifo_mark(struct fifo *f, uint64_t mark);

/* --- the consumer --- */

/*
 * Sleeps until there is a piece or a mark. Returns 0 with a piece in *@ret, valid until
 * fifo_done(), or the mark.
 */
uint64_t fifo_wait(struct fifo *f, struct run *ret);

/*
 * Frees the piece of the last fifo_wait(). Returns true once for each fifo_want_room() that
 * returned true, when there is room.
 */
bool fifo_done(struct fifo *f);

/* --- any thread --- */

/* Makes fifo_wait() return FIFO_NUDGE next, before the pieces that wait. */
void fifo_nudge(struct fifo *f);

/* Returns how full @f is, in percent. */
unsigned int fifo_fullness(struct fifo *f);

/* Says whether somebody waits until all that comes next is written, as at a flush or at the end. */
void fifo_hurry(struct fifo *f, bool hurry);
bool fifo_is_hurried(const struct fifo *f);

#endif
