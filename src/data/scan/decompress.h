/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Decompresses the stream inside COMPRESSED and COMPRESSED2 records, in bounded memory.
 *
 * perf compresses a ring's data in one zstd stream that spans records, and splits it wherever a
 * record is full. Others write one frame for each record. Both are one stream here: an inflater
 * lives as long as the walk over a segment. Output not yet consumed stays in front of the next, so
 * a record may span two containers. The output buffer has a fixed size, however large the expanded
 * container.
 *
 * One thread uses an inflater.
 */
#ifndef RINGTAIL_DATA_SCAN_DECOMPRESS_H
#define RINGTAIL_DATA_SCAN_DECOMPRESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct inflater;

/* Returns a new inflater, or NULL when memory is short. */
struct inflater *inflater_new(void);
/* Frees @z; accepts NULL. */
void inflater_free(struct inflater *z);

/*
 * Gives the inflater the bytes of the container at @offset. They must stay valid until
 * inflater_fill() returns 0 or fails.
 */
void inflater_input(struct inflater *z, const uint8_t *p, size_t len, uint64_t offset);

/*
 * inflater_peek() returns the unconsumed output. inflater_place() returns the offset of the
 * container of its first byte, and that byte's offset in the expanded container. inflater_consume()
 * removes @n bytes.
 */
const uint8_t *inflater_peek(const struct inflater *z, size_t *ret_len);
void inflater_place(const struct inflater *z, uint64_t *ret_offset, uint64_t *ret_inner);
void inflater_consume(struct inflater *z, size_t n);

/*
 * Decompresses more behind the unconsumed output, which may move. Returns 1 when there is more
 * output, 0 when the input is used up, or -EBADMSG with *@ret_why set when the input is not a zstd
 * stream; then the rest of the container and the unconsumed output are dropped.
 */
int inflater_fill(struct inflater *z, const char **ret_why);

/* Drops the unconsumed output and the rest of the input; the stream continues. */
void inflater_drop(struct inflater *z);

/* Drops the stream with its input and output; the next input begins a stream. */
void inflater_reset(struct inflater *z);

/* Returns whether nothing is pending or unconsumed, so that a new inflater would do the same. */
bool inflater_is_fresh(const struct inflater *z);

#endif
