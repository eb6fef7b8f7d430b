// SPDX-License-Identifier: Apache-2.0
/* Creates the file of a writer, and finds it after others moved, deleted or truncated it. */
#include "data/writer/writer.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "data/writer/writer_priv.h"

int writer_open_new(struct writer *w, struct error *err)
{
	w->fd = open(w->path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (w->fd < 0)
		return error_sys(err, -errno, "%s: cannot create it", w->path);
	return 0;
}

/* If the directory cannot be searched, assumes that nothing has changed. */
static bool is_named(const char *path, const struct stat *file)
{
	struct stat st;

	if (lstat(path, &st))
		return errno != ENOENT && errno != ENOTDIR;
	return st.st_dev == file->st_dev && st.st_ino == file->st_ino;
}

/* Returns the path that the kernel knows for @fd, if it still leads to @file; else NULL. */
static char *name_of(int fd, const struct stat *file)
{
	char link[64], path[PATH_MAX];
	ssize_t len;

	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	len = readlink(link, path, sizeof(path) - 1);
	if (len <= 0)
		return NULL;
	path[len] = '\0';
	return is_named(path, file) ? strdup(path) : NULL;
}

/* Whether the file has zeros or nothing at @at. The writer never writes 0 there. */
static bool is_gone(const struct writer *w, uint64_t at)
{
	uint64_t first = 0;
	ssize_t n = pread(w->fd, &first, sizeof(first), (off_t)at);

	return n >= 0 && !first;
}

bool writer_is_truncated(const struct writer *w)
{
	return w->table.len && is_gone(w, w->visible);
}

bool writer_is_headless(const struct writer *w)
{
	return w->form->has_header && is_gone(w, 0);
}

enum writer_place writer_place(const struct writer *w, char **ret_path)
{
	struct stat file;

	*ret_path = NULL;
	if (w->form->sequential || fstat(w->fd, &file))
		return WRITER_THERE;
	if (is_named(w->path, &file))
		return writer_is_headless(w) ? WRITER_TRUNCATED : WRITER_THERE;
	if (!file.st_nlink)
		return WRITER_DELETED;
	*ret_path = name_of(w->fd, &file);
	return WRITER_MOVED;
}
