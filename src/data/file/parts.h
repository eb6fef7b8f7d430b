/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Parts list of a directory: size and records of each data.N, stored in its "data" file.
 *
 * It follows the version in the DIR_FORMAT feature; perf reads only the version (6.1,
 * util/header.c: process_dir_format()). The list has no file of its own, because perf would not
 * replace a directory that holds such a file, and users would forget to copy it.
 *
 *   u64 version (1), u64 PARTS_MAGIC, u64 complete (0, 1), u64 count, then for each data.N
 *   u64 size in bytes, u64 number of records before any compression
 *
 * During the recording the sizes are those of the last flush, so that no file is shorter.
 *
 * Where "data" has the whole recording, as with perf's --kcore, the version is 0 without a list.
 */
#ifndef RINGTAIL_DATA_FILE_PARTS_H
#define RINGTAIL_DATA_FILE_PARTS_H

#include <stdbool.h>

#include "base/buf.h"

#define PARTS_VERSION	     1ull
#define PARTS_VERSION_SINGLE 0ull
#define PARTS_MAGIC	     0x3153545241504752ull /* "RGPARTS1", little-endian */

struct part {
	uint64_t bytes, records;
};

struct parts {
	bool complete; /* the recording was finished */
	struct part *part;
	size_t nr;
};

/* Appends the list to @b. Returns 0 or -ENOMEM. */
int parts_encode(const struct parts *parts, struct buf *b);

/*
 * Reads the list from a DIR_FORMAT feature. Returns 0 with @ret for parts_release(), -ENOENT if the
 * feature has no list (perf's own), -EBADMSG if it is truncated, or -ENOMEM.
 */
int parts_decode(const uint8_t *p, size_t len, bool swap, struct parts *ret);
/* Frees the list; accepts zeroes. */
void parts_release(struct parts *parts);

#endif
