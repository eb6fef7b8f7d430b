/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Consumer of a ring that the kernel writes backward and overwrites (attr.write_backward, mapped
 * for reading only).
 *
 *        0                                                   size
 *        | older, cut │ head: newest │ older │ … │ still older |
 *
 * data_head begins at 0 and moves down by the size of each record; what lies above it, up to one
 * turn of the ring, are whole records, newest first, and at the end of the turn one that was
 * overwritten in part. So reading begins at the head, where a record always begins; the kernel
 * never looks at data_tail. Source: kernel/events/ring_buffer.c, __perf_output_begin() with
 * @backward.
 *
 * Nobody may write meanwhile: the caller pauses the ring, and waits for those who are writing,
 * before backward_find() and until it has used the spans. The memory is the caller's. One thread
 * consumes a ring.
 */
#ifndef RINGTAIL_RING_BACKWARD_H
#define RINGTAIL_RING_BACKWARD_H

#include "ring/ring.h"

struct backward {
	const struct perf_event_mmap_page *page;
	const uint8_t *data;
	uint64_t size; /* bytes of data, a power of two */
	uint64_t read; /* the head as of the last backward_done(): from there on all is known */
};

/* What was written since the last backward_done(). */
struct backward_records {
	struct ring_spans spans; /* whole records, newest first */
	uint64_t head;
	uint64_t overwritten; /* bytes of older ones, that are gone */
};

/*
 * Sets @b up over the page at @page and @size bytes at @data; what is there already is passed over.
 * Returns 0, or -EINVAL when @size is not a power of two of at least 8.
 */
int backward_init(struct backward *b, const void *page, const void *data, uint64_t size);

/* Returns the bytes of @ret->spans; every byte written is either there or in ->overwritten. */
size_t backward_find(const struct backward *b, struct backward_records *ret);

/* What backward_find() gave in @found has been taken: it will not be found again. */
void backward_done(struct backward *b, const struct backward_records *found);

#endif
