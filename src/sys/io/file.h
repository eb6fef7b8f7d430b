/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads whole files of procfs, sysfs and tracefs; compares and renames files.
 *
 * The size of such a file is known only after reading. No state; any thread.
 */
#ifndef RINGTAIL_SYS_IO_FILE_H
#define RINGTAIL_SYS_IO_FILE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"

/*
 * Appends the contents of @path (relative to @dirfd; AT_FDCWD as in openat) to @b, and a NUL that
 * b->len does not count. Does not wait for the writer of a FIFO. Returns 0, or the negative errno
 * of open or read; bytes read before the error stay appended.
 */
int file_read_at(int dirfd, const char *path, struct buf *b);

/*
 * Reads the text of a small file, without white space at its end; @fmt prints the file's name.
 * Returns 0 with *@ret for free(), or a negative errno.
 */
int file_text(char **ret, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* As file_text(), for a decimal number. -EBADMSG: the text is not a number. */
int file_number(long long *ret, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/*
 * Returns whether the inode behind @fd may have @generation, as in MMAP2 records. A file that
 * replaced another may have its inode number, but not its generation. True if @generation is 0 (not
 * known) or the file system has none.
 */
bool file_has_generation(int fd, uint64_t generation);

/*
 * Renames @from to @to, unless @to exists. Returns 0, -EEXIST, or another negative errno.
 */
int file_rename_new(const char *from, const char *to);

#endif
