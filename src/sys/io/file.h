/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whole files of procfs, sysfs and tracefs, whose size is known only after reading; and what tells
 * files apart or moves them.
 *
 * No state; any thread.
 */
#ifndef RINGTAIL_SYS_IO_FILE_H
#define RINGTAIL_SYS_IO_FILE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"

/*
 * Appends the contents of @path (relative to @dirfd; AT_FDCWD as in openat) to @b. One more byte,
 * not counted in b->len, is a NUL. Never waits for a writer of a FIFO.
 * Returns 0, or the negative errno of open or read (what was read before stays appended).
 */
int file_read_at(int dirfd, const char *path, struct buf *b);

/*
 * The text of a small file without white space at its end, its name printed from @fmt.
 * Returns 0 with *@ret to be freed by the caller, or a negative errno.
 */
int file_text(char **ret, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* As file_text(), for a decimal number. Returns 0, a negative errno, -EBADMSG if it is none. */
int file_number(long long *ret, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/*
 * Whether the inode behind @fd may have @generation, as MMAP2 records tell it: a file that replaced
 * another may have its inode number, but not its generation. True where @generation is 0 (not
 * known) or the file system has none.
 */
bool file_has_generation(int fd, uint64_t generation);

/*
 * Renames @from to @to, if there is nothing of that name. Returns 0, -EEXIST, or another negative
 * errno.
 */
int file_rename_new(const char *from, const char *to);

#endif
