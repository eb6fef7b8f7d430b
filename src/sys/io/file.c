// SPDX-License-Identifier: Apache-2.0
#include "sys/io/file.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/fs.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <unistd.h>

/* procfs returns at most a page at a time, however large the buffer is. */
#define READ_ROOM 4096

int file_read_at(int dirfd, const char *path, struct buf *b)
{
	int fd, rc = 0;
	ssize_t n;

	fd = openat(dirfd, path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	if (fd < 0)
		return -errno;
	for (;;) {
		rc = buf_reserve(b, READ_ROOM + 1);
		if (rc)
			break;
		n = read(fd, b->data + b->len, b->cap - b->len - 1);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			rc = -errno;
		if (n <= 0)
			break;
		b->len += (size_t)n;
	}
	if (b->len < b->cap)
		b->data[b->len] = '\0';
	close(fd);
	return rc;
}

static int text_of(char **ret, const char *fmt, va_list ap)
{
	struct buf b = {0};
	char path[PATH_MAX];
	int rc;

	rc = vsnprintf(path, sizeof(path), fmt, ap);
	if (rc < 0 || (size_t)rc >= sizeof(path))
		return -ENAMETOOLONG;
	rc = file_read_at(AT_FDCWD, path, &b);
	if (rc) {
		buf_release(&b);
		return rc;
	}
	while (b.len && isspace(b.data[b.len - 1]))
		b.data[--b.len] = '\0';
	*ret = (char *)b.data;
	return 0;
}

int file_text(char **ret, const char *fmt, ...)
{
	va_list ap;
	int rc;

	va_start(ap, fmt);
	rc = text_of(ret, fmt, ap);
	va_end(ap);
	return rc;
}

int file_number(long long *ret, const char *fmt, ...)
{
	char *text, *end;
	long long v;
	va_list ap;
	int rc;

	va_start(ap, fmt);
	rc = text_of(&text, fmt, ap);
	va_end(ap);
	if (rc)
		return rc;
	errno = 0;
	v = strtoll(text, &end, 10);
	rc = errno || end == text || *end ? -EBADMSG : 0;
	free(text);
	if (!rc)
		*ret = v;
	return rc;
}

bool file_has_generation(int fd, uint64_t generation)
{
	/*
	 * The request is declared with a long, and FUSE copies one; most file systems write an int.
	 */
	union {
		long size;
		unsigned int version;
	} u = {0};

	return !generation || ioctl(fd, FS_IOC_GETVERSION, &u) || u.version == generation;
}

int file_rename_new(const char *from, const char *to)
{
	if (!renameat2(AT_FDCWD, from, AT_FDCWD, to, RENAME_NOREPLACE))
		return 0;
	/* Some file systems cannot rename without replacing. */
	if (errno != EINVAL)
		return -errno;
	if (!faccessat(AT_FDCWD, to, F_OK, AT_SYMLINK_NOFOLLOW))
		return -EEXIST;
	return rename(from, to) ? -errno : 0;
}
