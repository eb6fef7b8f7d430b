/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Consumer of a ring: struct perf_event_mmap_page, and 2^n bytes of data behind it.
 *
 * The caller owns the memory (an mmap of a perf event, or plain memory in tests). One thread
 * consumes a ring. The memory barriers of a data ring are here (of an AUX area: ring/aux.h):
 *
 *   kernel (producer)                        here (consumer)
 *
 *   if (LOAD data_tail) {      (A)           LOAD-ACQUIRE data_head   (C)  ring_peek()
 *       STORE data                           LOAD data
 *       STORE-release data_head (B)          STORE-RELEASE data_tail  (D)  ring_release()
 *   }
 *
 * C pairs with B: the consumer sees all data below head. D pairs with A: the consumer has read the
 * data before the kernel sees the new tail. Source: kernel/events/ring_buffer.c,
 * perf_output_put_handle().
 */
#ifndef RINGTAIL_RING_RING_H
#define RINGTAIL_RING_RING_H

#include <linux/perf_event.h>
#include <stddef.h>
#include <stdint.h>

struct ring {
	struct perf_event_mmap_page *page; /* shared with the producer */
	const uint8_t *data;
	uint64_t size; /* bytes of data, a power of two */
	uint64_t tail; /* bytes released since the ring began */
};

/* The bytes between tail and head: from @a to the end of the ring, then from its start at @b. */
struct ring_spans {
	const uint8_t *a, *b;
	size_t a_len, b_len; /* b_len is 0 unless the run wraps */
};

/*
 * Returns the places of @bytes bytes, at most @size, from @position on, in the ring whose @size
 * bytes, a power of two, are at @data.
 */
struct ring_spans ring_spans_of(const uint8_t *data, uint64_t size, uint64_t position,
				uint64_t bytes);

/* Copies @len bytes, from byte @from of the spans on, to @to. The spans must have them. */
void ring_spans_copy(const struct ring_spans *spans, size_t from, void *to, size_t len);

/* Returns the size of the whole records at the start of the @len bytes at @p. */
size_t ring_whole_records(const uint8_t *p, size_t len);

/*
 * Prepares @r for the page at @page and @size bytes at @data. Returns 0, or -EINVAL if @size is not
 * a power of two of at least 8.
 */
int ring_init(struct ring *r, void *page, const void *data, uint64_t size);

/*
 * Returns the number of bytes that the producer has completed and nobody has released, with their
 * places in @ret. They are whole records, unless ring_release() has taken a part of one. The spans
 * are valid until they are released.
 */
size_t ring_peek(const struct ring *r, struct ring_spans *ret);

/* Gives the first @bytes of the result of ring_peek() back to the producer. */
void ring_release(struct ring *r, size_t bytes);

/*
 * Passes over the first @bytes without giving them back, as a second consumer that only looks. What
 * it has not passed over, the first one must not release.
 */
void ring_pass(struct ring *r, size_t bytes);

#endif
