/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Copies files of a recording: bytes, attributes, and what must hold before a copy takes a file's
 * place. Internal to data/edit. One thread.
 */
#ifndef RINGTAIL_DATA_EDIT_COPY_H
#define RINGTAIL_DATA_EDIT_COPY_H

#include <signal.h>
#include <sys/stat.h>

#include "data/file/file_priv.h"

/* Writes all of @p. Returns 0 or a negative errno. */
int copy_write(int fd, const void *p, size_t len);

/*
 * Appends the bytes of @from between file offsets @at and @end to @to. A file system that can
 * shares their blocks. Returns 0, a negative errno, or -EINTR if a signal waits that
 * copy_block_signals() blocked.
 */
int copy_bytes(int from, uint64_t at, uint64_t end, int to);

/*
 * Gives @fd the permissions and times of @st, and syncs it. The owner is a wish; without the
 * group, the group and others get no permission. Returns 0 or a negative errno.
 */
int copy_attributes(const struct stat *st, int fd);

/*
 * Refuses a file that somebody has open for writing. The kernel grants no lease on it. Where leases
 * do not work, the file must at least not have changed since @before. Returns 0, -EBUSY or another
 * negative errno with @err filled.
 */
int copy_refuse_writer(const struct segment *s, const struct stat *before, struct error *err);

/* Blocks the signals that would leave a temporary file, except those that are ignored. */
void copy_block_signals(sigset_t *old);

#endif
