// SPDX-License-Identifier: Apache-2.0
#include "sys/io/tmpfile.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))

/* Returns a descriptor, or a negative errno. */
static int open_in(const char *dir)
{
	char name[PATH_MAX];
	int fd = open(dir, O_TMPFILE | O_RDWR | O_CLOEXEC | O_EXCL, 0600);

	if (fd >= 0)
		return fd;
	/* Not every file system supports O_TMPFILE. */
	if (snprintf(name, sizeof(name), "%s/ringtail-XXXXXX", dir) >= (int)sizeof(name))
		return -ENAMETOOLONG;
	fd = mkostemp(name, O_CLOEXEC);
	if (fd < 0)
		return -errno;
	unlink(name);
	return fd;
}

int tmpfile_open(struct error *err)
{
	static const char *const usual[] = {"/var/tmp", "/tmp", "."};
	const char *dir = secure_getenv("TMPDIR");
	int fd = -ENOENT;

	if (dir && *dir) {
		fd = open_in(dir);
	} else {
		/* Some containers have none of the usual folders. */
		for (size_t i = 0; fd < 0 && i < ARRAY_SIZE(usual); i++)
			fd = open_in(usual[i]);
		dir = "/var/tmp, /tmp or this folder";
	}
	if (fd < 0)
		return error_sys(
			err, fd,
			"cannot make a temporary file in %.200s (set TMPDIR to another folder)",
			dir);
	return fd;
}
