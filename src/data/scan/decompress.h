/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The stream inside COMPRESSED and COMPRESSED2 records: bytes in, bytes out, bounded memory.
 *
 * perf compresses a ring's data in one zstd stream that goes on from record to record, and cuts
 * the result wherever a record is full; others write one frame a record. Both are one stream here:
 * an inflater lives as long as the walk over a segment. What was decompressed but not yet consumed
 * stays in front of what comes next, so that a record may span two containers.
 *
 * Output is handed out through a buffer of fixed size however much a container expands to.
 */
#ifndef RINGTAIL_DATA_SCAN_DECOMPRESS_H
#define RINGTAIL_DATA_SCAN_DECOMPRESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct inflater;

struct inflater *inflater_new(void);	/* NULL when out of memory */
void inflater_free(struct inflater *z); /* accepts NULL */

/*
 * Gives the bytes of the container at @offset; they must stay valid until inflater_fill() says
 * that they are used up.
 */
void inflater_input(struct inflater *z, const uint8_t *p, size_t len, uint64_t offset);

/*
 * The unconsumed output. inflater_place() tells from which container its first byte came, and the
 * offset of that byte in what the container expanded to.
 */
const uint8_t *inflater_peek(const struct inflater *z, size_t *ret_len);
void inflater_place(const struct inflater *z, uint64_t *ret_offset, uint64_t *ret_inner);
void inflater_consume(struct inflater *z, size_t n);

/*
 * Decompresses more behind the unconsumed output, which may move.
 * Returns 1 when there is more output, 0 when the input is used up, -EBADMSG with *@ret_why set
 * when it is no zstd stream (the rest of the container is then given up, and what was unconsumed
 * dropped).
 */
int inflater_fill(struct inflater *z, const char **ret_why);

/* Drops the unconsumed output and the rest of the input; the stream itself goes on. */
void inflater_drop(struct inflater *z);

/* Forgets the stream and all of it. */
void inflater_reset(struct inflater *z);

/* Whether no frame is under way and nothing is unconsumed: a new inflater would do as well. */
bool inflater_is_fresh(const struct inflater *z);

#endif
