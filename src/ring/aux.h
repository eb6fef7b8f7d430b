/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Consumer of an AUX area: the second ring of an event, in which hardware writes its trace.
 *
 * Its head and tail are in the page of the event's data ring. The caller owns the memory (two
 * mmaps of a perf event, or plain memory in tests). One thread at a time uses an AUX ring.
 *
 *   kernel (producer)                        here (consumer)
 *
 *   perf_aux_output_begin():
 *   if (LOAD aux_tail) {       (A)           LOAD-ACQUIRE aux_head   (C)  peek, position
 *       the PMU stores data                  LOAD data
 *       the PMU's barrier      (B)           STORE-RELEASE aux_tail  (D)  release
 *   perf_aux_output_end():
 *       STORE aux_head
 *   }
 *
 * C pairs with B, which each PMU driver has: the consumer sees all data below the head. D pairs
 * with A, a control dependency: the consumer has read the data before the kernel sees the room.
 * Source: kernel/events/ring_buffer.c.
 *
 * Full trace: the area is mapped writable. The kernel never passes the tail. The watermark at
 * which it wakes the reader is attr.aux_watermark.
 *
 * Overwrite: the area is mapped read-only. The kernel ignores the tail, so there are neither A nor
 * D, and moves the head only when the event stops. Some drivers count the head on (CoreSight);
 * others publish an offset in the area, from 0 to its size (Intel PT, BTS, SPE). Both become a
 * position: the bytes since the ring began. It never decreases, and is the head modulo the size.
 *
 * An offset does not show how often the head wrapped. The content does: the kernel zeroes a new
 * area, and a turn replaces the bytes below an earlier head. In doubt this module counts a turn;
 * several turns count as at least one. So it never takes new bytes for old ones, unless a turn
 * replaces bytes by equal ones.
 */
#ifndef RINGTAIL_RING_AUX_H
#define RINGTAIL_RING_AUX_H

#include <stdbool.h>

#include "ring/ring.h"

#define AUX_RING_PROBE 256 /* bytes below an earlier head, kept to recognise a turn */

struct aux_ring {
	struct perf_event_mmap_page *page; /* shared with the producer */
	const uint8_t *data;
	uint64_t size; /* bytes of the area, a power of two */
	bool overwrite;
	uint64_t tail; /* full: bytes released since the ring began */
	/* Overwrite: */
	uint64_t head;	   /* the newest that is known */
	uint64_t position; /* of that head */
	uint64_t taken;	   /* the bytes below this position are old */
	uint64_t probed;   /* position below which the bytes of @probe were */
	bool counts_on;	   /* the head is no offset */
	uint8_t probe[AUX_RING_PROBE];
};

/* What an overwrite area holds. Positions; @from <= @fresh <= @to. */
struct aux_window {
	uint64_t from, to;
	uint64_t fresh; /* aux_ring_taken() had the bytes before this one */
	bool wrapped;	/* the area is full: bytes before @from may have been overwritten */
};

/*
 * Prepares @r for the page at @page and @size bytes at @data. Call it before the event runs for the
 * first time. Returns 0, or -EINVAL if @size is not a power of two of at least 4096.
 */
int aux_ring_init(struct aux_ring *r, void *page, const void *data, uint64_t size, bool overwrite);

/*
 * Full: returns the number of bytes that the kernel has published and nobody has released, with
 * their places in @ret. The spans are valid until they are released.
 */
size_t aux_ring_peek(const struct aux_ring *r, struct ring_spans *ret);

/* Full: gives the first @bytes of the result of aux_ring_peek() back to the kernel. */
void aux_ring_release(struct aux_ring *r, size_t bytes);

/* Overwrite: returns the head as the kernel has published it now. */
uint64_t aux_ring_head(const struct aux_ring *r);

/*
 * Overwrite: the kernel has moved the head to @head. Heads are given in their order. Returns the
 * bytes written since the head before, of an offset the least that it can be.
 */
uint64_t aux_ring_move(struct aux_ring *r, uint64_t head);

/*
 * Overwrite: counts a turn that the heads since the last call did not show. The event does not run,
 * and its head is the last one given. @idle, called with @arg after the content was read, returns
 * whether that was still so; NULL: the caller knows. If not, this does nothing and returns false.
 * Stores the bytes that it counted more, 0 or the size, in *@ret_more.
 */
bool aux_ring_settle(struct aux_ring *r, bool (*idle)(void *arg), void *arg, uint64_t *ret_more);

/*
 * Overwrite: finds all bytes that the area holds, behind aux_ring_settle(). The caller enables the
 * event only after it has copied them. An area that nobody wrote gives an empty window. If the head
 * has not moved since aux_ring_taken(), @ret->fresh is @ret->to.
 */
void aux_ring_window(struct aux_ring *r, struct aux_window *ret);

/* Copies the bytes at the positions @from to @to, which a window has, to @out. */
void aux_ring_copy(const struct aux_ring *r, uint64_t from, uint64_t to, void *out);

/* The bytes of @w are old from now on. */
void aux_ring_taken(struct aux_ring *r, const struct aux_window *w);

#endif
