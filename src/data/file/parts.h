/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a directory holds, by its own account: behind the version in the DIR_FORMAT feature of its
 * "data", where perf (6.1, util/header.c: process_dir_format()) reads the version alone. A file
 * beside the others would keep perf from replacing the directory, and be lost in copies.
 *
 *   u64 version (1), u64 PARTS_MAGIC, u64 complete (0, 1), u64 count, then for each data.N
 *   u64 size in bytes, u64 number of records before any compression
 *
 * While recording these are the sizes as of the last flush, so that each file has at least as much.
 */
#ifndef RINGTAIL_DATA_FILE_PARTS_H
#define RINGTAIL_DATA_FILE_PARTS_H

#include <stdbool.h>

#include "base/buf.h"

#define PARTS_VERSION 1ull
#define PARTS_MAGIC   0x3153545241504752ull /* "RGPARTS1", little-endian */

struct part {
	uint64_t bytes, records;
};

struct parts {
	bool complete; /* the recording came to its end */
	struct part *part;
	size_t nr;
};

/* Appends the contents of the feature. Returns 0 or -ENOMEM. */
int parts_encode(const struct parts *parts, struct buf *b);

/*
 * Reads the contents of a DIR_FORMAT feature; @ret is to be given to parts_release(). Returns 0,
 * -ENOENT when there is no account in it (perf's own), -EBADMSG when it is cut, or -ENOMEM.
 */
int parts_decode(const uint8_t *p, size_t len, bool swap, struct parts *ret);
void parts_release(struct parts *parts); /* accepts an all-zero struct */

#endif
