/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Consumer of an overwrite ring, which the kernel writes backward (attr.write_backward, mapped for
 * reading only).
 *
 *        0                                                   size
 *        | older, part│ head: newest │ older │ … │ still older |
 *
 * data_head begins at 0, and each record lowers it by its size. Above it, up to one turn of the
 * ring, are whole records, newest first; the last one before the end of the turn is partly
 * overwritten. So a reader begins at the head, where a record always begins. The kernel ignores
 * data_tail. Source: kernel/events/ring_buffer.c, __perf_output_begin() with @backward.
 *
 * Nobody may write meanwhile: before backward_find() the caller pauses the ring and waits for
 * writers under way, and it resumes the ring after it has used the spans. The caller owns the
 * memory. One thread consumes a ring.
 */
#ifndef RINGTAIL_RING_BACKWARD_H
#define RINGTAIL_RING_BACKWARD_H

#include "ring/ring.h"

struct backward {
	const struct perf_event_mmap_page *page;
	const uint8_t *data;
	uint64_t size; /* bytes of data, a power of two */
	uint64_t read; /* the head at the last backward_done(): older records are done */
};

/* The records since the last backward_done(). */
struct backward_records {
	struct ring_spans spans; /* whole records, newest first */
	uint64_t head;
	uint64_t overwritten; /* bytes of older records that are gone */
};

/*
 * Prepares @b for the page at @page and @size bytes at @data; ignores records already there.
 * Returns 0, or -EINVAL if @size is not a power of two of at least 8.
 */
int backward_init(struct backward *b, const void *page, const void *data, uint64_t size);

/* Returns the bytes of @ret->spans. Every byte written is there or in @ret->overwritten. */
size_t backward_find(const struct backward *b, struct backward_records *ret);

/* Marks the records in @found as done: backward_find() does not return them again. */
void backward_done(struct backward *b, const struct backward_records *found);

#endif
