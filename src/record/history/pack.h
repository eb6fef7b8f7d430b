/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Compresses chunks of samples that stay in memory (-M with -z): a chunk becomes COMPRESSED records
 * as record/compress.h makes them, which a dump writes as they are.
 *
 * One thread, the writer of the chunk's ring, uses a packer.
 */
#ifndef RINGTAIL_RECORD_HISTORY_PACK_H
#define RINGTAIL_RECORD_HISTORY_PACK_H

#include "record/pipeline/compress.h"

struct packer;

/* At @level, 1 to COMPRESS_LEVEL_MAX. All memory is taken here. NULL when there is not enough. */
struct packer *packer_new(int level);
void packer_free(struct packer *p); /* accepts NULL */

#define PACK_CALM 50

/*
 * @fullness tells, in percent, how full the memory of @room bytes is that lies before the writer:
 * the fuller, the faster the compression (see compress_watch()), and from PACK_CALM on there is
 * none.
 */
void packer_watch(struct packer *p, size_t room, unsigned int (*fullness)(void *arg), void *arg);

/* Whether there is time for a chunk. */
bool packer_may(const struct packer *p);

/* A history_pack_fn, whose argument is a struct packer. */
size_t packer_pack(const uint8_t *samples, size_t len, const uint8_t **ret, void *packer);

/* A history_unpack_fn. Any thread. Returns 0 or -EBADMSG. */
int packer_unpack(const uint8_t *packed, size_t len, uint8_t *samples, size_t bytes);

/* Bytes before and after packing. Valid as long as @p. */
const struct compress_stats *packer_stats(const struct packer *p);

#endif
