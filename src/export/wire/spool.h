/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Spool: sorts bytes by lane, in bounded memory, with a temporary file.
 *
 * Formats that list samples by thread get them in time order, mixed. A lane holds a few kilobytes
 * in memory; full ones go to an unnamed file below TMPDIR. One thread.
 */
#ifndef RINGTAIL_EXPORT_WIRE_SPOOL_H
#define RINGTAIL_EXPORT_WIRE_SPOOL_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

#define SPOOL_BLOCK 4096 /* bytes of a lane in memory, at most */

struct spool_lane;

/* All zero but @err: empty. */
struct spool {
	struct error *err; /* filled on failure; may be NULL */
	struct spool_lane *lanes;
	size_t nr, cap;
	int fd; /* of the file, plus one; 0: not needed yet */
	uint64_t end;
};

/* Takes one item of a lane; a negative errno ends the walk. */
typedef int (*spool_fn)(const void *item, void *arg);

/*
 * Adds an item of @size bytes to @lane. All items of a lane have the same size, which divides
 * SPOOL_BLOCK. Returns 0 or a negative errno.
 */
int spool_add(struct spool *s, uint32_t lane, const void *item, size_t size);

/* Calls @fn for all items of @lane, in order. Returns 0, or a negative errno, also of @fn. */
int spool_each(struct spool *s, uint32_t lane, size_t size, spool_fn fn, void *arg);

/* Frees memory and file. */
void spool_release(struct spool *s);

#endif
