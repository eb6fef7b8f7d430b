/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Consumer of the kernel's data ring: struct perf_event_mmap_page and 2^n bytes of data behind it.
 *
 * The memory is the caller's (an mmap of a perf event, or plain memory in tests). One thread
 * consumes a ring. Memory barriers of the protocol live here and nowhere else:
 *
 *   kernel (producer)                        here (consumer)
 *
 *   if (LOAD data_tail) {      (A)           LOAD-ACQUIRE data_head   (C)  ring_peek()
 *       STORE data                           LOAD data
 *       STORE-release data_head (B)          STORE-RELEASE data_tail  (D)  ring_release()
 *   }
 *
 * C pairs with B: data below head are seen as written. D pairs with A: nothing of the data is read
 * any more when the kernel sees the new tail. Source: kernel/events/ring_buffer.c,
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
	uint64_t tail; /* what was released; bytes since the ring began */
};

/* The bytes between tail and head: from @a to the end of the ring, then from its start at @b. */
struct ring_spans {
	const uint8_t *a, *b;
	size_t a_len, b_len; /* b_len is 0 unless the run wraps */
};

/* Copies @len bytes from byte @from of the spans on, which are there, to @to. */
void ring_spans_copy(const struct ring_spans *spans, size_t from, void *to, size_t len);

/* How many of the @len bytes at @p are whole records, beginning with the first. */
size_t ring_whole_records(const uint8_t *p, size_t len);

/*
 * Sets @r up over the page at @page and @size bytes at @data. Returns 0, or -EINVAL when @size is
 * not a power of two of at least 8.
 */
int ring_init(struct ring *r, void *page, const void *data, uint64_t size);

/*
 * What the producer has completed and nobody released: whole records unless ring_release() cut one.
 * Returns the number of bytes; the spans stay valid until they are released.
 */
size_t ring_peek(const struct ring *r, struct ring_spans *ret);

/* Gives the first @bytes of what ring_peek() returned back to the producer. */
void ring_release(struct ring *r, size_t bytes);

#endif
