/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes a tar file of regular files and symbolic links, compressed with bzip2.
 *
 * A name that the old header has no room for gets a header of its own. Owner, mode and time are the
 * same for all entries, so equal files give equal archives. One thread. Source: POSIX.1-2017, pax,
 * "ustar Interchange Format" and "pax Interchange Format".
 */
#ifndef RINGTAIL_REPORT_ARCHIVE_TAR_H
#define RINGTAIL_REPORT_ARCHIVE_TAR_H

#include <stdint.h>
#include <stdio.h>

struct tar;

/* Returns 0 with *@ret for tar_free(), or -ENOMEM. The caller owns @out, and flushes it. */
int tar_new(FILE *out, struct tar **ret);

/*
 * Begin a file of @size bytes, which tar_put() then writes; add a link. @path is relative. Return 0
 * or a negative errno of the output; after a failure the archive is worth nothing.
 */
int tar_begin_file(struct tar *t, const char *path, uint64_t size);
int tar_put(struct tar *t, const void *p, size_t n);
int tar_add_link(struct tar *t, const char *path, const char *target);

/* Writes the end of the archive. Returns 0 or a negative errno. */
int tar_end(struct tar *t);

/* Frees @t; accepts NULL. */
void tar_free(struct tar *t);

#endif
