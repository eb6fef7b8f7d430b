// SPDX-License-Identifier: Apache-2.0
#include "sys/io/cache.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define DIRECTORY "ringtail"

char *cache_base(void)
{
	const char *dir = secure_getenv("XDG_CACHE_HOME"), *home = secure_getenv("HOME");
	char *ret = NULL;

	if (dir && *dir == '/')
		return strdup(dir);
	if (!home || *home != '/' || asprintf(&ret, "%s/.cache", home) < 0)
		return NULL;
	return ret;
}

/* Whether nobody else can write the open file. With sudo, a home may be another user's. */
static bool is_mine(int fd, mode_t type)
{
	struct stat st;

	return !fstat(fd, &st) && (st.st_mode & S_IFMT) == type && st.st_uid == geteuid() &&
	       !(st.st_mode & (S_IWGRP | S_IWOTH));
}

/* Opens directory @name, which must be the user's. */
static int open_mine(int dirfd, const char *name)
{
	int fd = openat(dirfd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

	if (fd < 0)
		return -errno;
	if (is_mine(fd, S_IFDIR))
		return fd;
	close(fd);
	return -EPERM;
}

static int open_or_make(int dirfd, const char *name)
{
	int fd = open_mine(dirfd, name);

	if (fd != -ENOENT)
		return fd;
	if (mkdirat(dirfd, name, 0700) && errno != EEXIST)
		return -errno;
	return open_mine(dirfd, name);
}

/* Makes @base in its parent, which must be the user's. */
static int make_base(const char *base)
{
	const char *slash = strrchr(base, '/');
	char parent[PATH_MAX];
	int above, fd;

	if (!slash || !slash[1] || (size_t)(slash - base) >= sizeof(parent))
		return -ENOENT;
	snprintf(parent, sizeof(parent), "%.*s", (int)(slash - base), base);
	above = open(*parent ? parent : "/", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (above < 0)
		return -errno;
	fd = is_mine(above, S_IFDIR) ? open_or_make(above, slash + 1) : -EPERM;
	close(above);
	return fd;
}

static int open_directory(const char *base, bool make)
{
	int above = open(base, O_RDONLY | O_DIRECTORY | O_CLOEXEC), fd;

	if (above < 0) {
		above = make && errno == ENOENT ? make_base(base) : -errno;
		if (above < 0)
			return above;
	}
	if (!is_mine(above, S_IFDIR))
		fd = -EPERM;
	else
		fd = make ? open_or_make(above, DIRECTORY) : open_mine(above, DIRECTORY);
	close(above);
	return fd;
}

static int map_file(int fd, size_t max, void **ret, size_t *ret_size)
{
	struct stat st;
	void *p;

	if (!is_mine(fd, S_IFREG))
		return -EPERM;
	if (fstat(fd, &st))
		return -errno;
	if (st.st_size <= 0 || (uint64_t)st.st_size > max)
		return -EFBIG;
	p = mmap(NULL, (size_t)st.st_size, PROT_READ | PROT_WRITE, MAP_PRIVATE, fd, 0);
	if (p == MAP_FAILED)
		return -errno;
	*ret = p;
	*ret_size = (size_t)st.st_size;
	return 0;
}

int cache_map(const char *base, const char *name, size_t max, void **ret, size_t *ret_size)
{
	int dirfd = open_directory(base, false), fd, rc;

	if (dirfd < 0)
		return dirfd;
	fd = openat(dirfd, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	rc = fd < 0 ? -errno : map_file(fd, max, ret, ret_size);
	if (!rc)
		futimens(fd, NULL); /* for delete_oldest() */
	if (fd >= 0)
		close(fd);
	close(dirfd);
	return rc;
}

/* --- writing -------------------------------------------------------------------------------------
 */

static bool is_older(const struct timespec *a, const struct timespec *b)
{
	return a->tv_sec != b->tv_sec ? a->tv_sec < b->tv_sec : a->tv_nsec < b->tv_nsec;
}

/* Deletes the oldest file, if there are more than the bounds allow. Returns whether it did. */
static bool delete_oldest(int dirfd, DIR *dir)
{
	struct timespec oldest = {0};
	char name[NAME_MAX + 1] = "";
	const struct dirent *e;
	uint64_t bytes = 0;
	size_t nr = 0;

	rewinddir(dir);
	while ((e = readdir(dir))) {
		struct stat st;

		if (fstatat(dirfd, e->d_name, &st, AT_SYMLINK_NOFOLLOW) || !S_ISREG(st.st_mode))
			continue;
		bytes += (uint64_t)st.st_size;
		if (!nr++ || is_older(&st.st_mtim, &oldest)) {
			oldest = st.st_mtim;
			snprintf(name, sizeof(name), "%s", e->d_name);
		}
	}
	return (nr > CACHE_FILES || bytes > CACHE_BYTES) && !unlinkat(dirfd, name, 0);
}

static void prune(int dirfd)
{
	int fd = dup(dirfd);
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);

	if (!dir) {
		if (fd >= 0)
			close(fd);
		return;
	}
	while (delete_oldest(dirfd, dir))
		;
	closedir(dir);
}

static int write_all(int fd, const struct buf *bytes)
{
	for (size_t done = 0; done < bytes->len;) {
		ssize_t n = write(fd, bytes->data + done, bytes->len - done);

		if (n < 0 && errno != EINTR)
			return -errno;
		if (n > 0)
			done += (size_t)n;
	}
	return 0;
}

bool cache_writable(const char *base)
{
	int dirfd = open_directory(base, true);

	if (dirfd >= 0)
		close(dirfd);
	return dirfd >= 0;
}

int cache_write(const char *base, const char *name, const struct buf *bytes)
{
	char temporary[NAME_MAX + 1];
	int dirfd = open_directory(base, true), fd, rc;

	if (dirfd < 0)
		return dirfd;
	/* Names differ between processes; what a killed one left is replaced, or pruned. */
	snprintf(temporary, sizeof(temporary), "%s.%d", name, (int)getpid());
	unlinkat(dirfd, temporary, 0);
	fd = openat(dirfd, temporary, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	rc = fd < 0 ? -errno : write_all(fd, bytes);
	if (fd >= 0 && close(fd) && !rc)
		rc = -errno;
	if (!rc && renameat(dirfd, temporary, dirfd, name))
		rc = -errno;
	if (rc && fd >= 0)
		unlinkat(dirfd, temporary, 0);
	prune(dirfd);
	close(dirfd);
	return rc;
}
