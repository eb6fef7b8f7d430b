/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Packs chunks of the history (-M with -z) into COMPRESSED records, with
 * record/pipeline/compress.h.
 *
 * A snapshot writes these records as they are.
 *
 * Threads: only the writer of the chunk's ring uses a packer; any thread may unpack.
 */
#ifndef RINGTAIL_RECORD_HISTORY_PACK_H
#define RINGTAIL_RECORD_HISTORY_PACK_H

#include "record/pipeline/compress.h"

struct packer;

/*
 * Returns a packer of @level, 1 to COMPRESS_LEVEL_MAX, or NULL when out of memory. Allocates zstd's
 * memory here.
 */
struct packer *packer_new(int level);
void packer_free(struct packer *p); /* accepts NULL */

#define PACK_CALM 50

/*
 * Makes the packer follow the writer's @fifo of @room bytes: the fuller it is, the faster is the
 * compression (see compress_watch()); from PACK_CALM percent on packer_may() is false.
 */
void packer_watch(struct packer *p, size_t room, struct fifo *fifo);

/* Whether the fifo is empty enough to pack a chunk now. */
bool packer_may(const struct packer *p);

/* A history_pack_fn, whose argument is a struct packer. */
size_t packer_pack(const uint8_t *samples, size_t len, const uint8_t **ret, void *packer);

/* A history_unpack_fn. Returns 0 or -EBADMSG. */
int packer_unpack(const uint8_t *packed, size_t len, uint8_t *samples, size_t bytes);

/* Returns the counts of the compression, which the packer owns. */
const struct compress_stats *packer_stats(const struct packer *p);

#endif
