/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The user's cache directory: files that cost time to make, and nothing else to lose.
 *
 * The directory and its files belong to the user alone. A file appears whole, by a rename, so any
 * number of processes may read and write; anybody may delete files at any time. The reader of
 * a file checks its contents. Any thread.
 */
#ifndef RINGTAIL_SYS_IO_CACHE_H
#define RINGTAIL_SYS_IO_CACHE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"

/* When more are written, those that were not used for longest go. */
#define CACHE_FILES 512
#define CACHE_BYTES ((uint64_t)256 << 20)

/*
 * Returns "$XDG_CACHE_HOME" or "$HOME/.cache" for free(); NULL: none is set, or the program has
 * more rights than its user.
 */
char *cache_base(void);

/*
 * Maps file @name of @base/ringtail, of at most @max bytes: private and writable, for munmap(). A
 * file is only ever replaced, so the mapping stays as it is. The file counts as used now. Returns
 * 0; -ENOENT; -EPERM if another user could have written it; or another negative errno.
 */
int cache_map(const char *base, const char *name, size_t max, void **ret, size_t *ret_size);

/* Makes the directories, as cache_write() does. Returns whether it can write. */
bool cache_writable(const char *base);

/*
 * Writes file @name, and deletes files of the directory beyond CACHE_FILES or CACHE_BYTES. Makes
 * the directories, if @base lies in a directory of the user. Returns 0 or a negative errno.
 */
int cache_write(const char *base, const char *name, const struct buf *bytes);

#endif
