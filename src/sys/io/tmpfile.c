// SPDX-License-Identifier: Apache-2.0
#include "sys/io/tmpfile.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

int tmpfile_open(struct error *err)
{
	const char *dir = secure_getenv("TMPDIR");
	char name[PATH_MAX];
	int fd;

	if (!dir || !*dir)
		dir = "/var/tmp";
	fd = open(dir, O_TMPFILE | O_RDWR | O_CLOEXEC | O_EXCL, 0600);
	if (fd >= 0)
		return fd;

	/* Not every file system supports O_TMPFILE. */
	if (snprintf(name, sizeof(name), "%s/ringtail-XXXXXX", dir) >= (int)sizeof(name))
		return error_sys(err, -ENAMETOOLONG, "cannot make a temporary file in %.200s", dir);
	fd = mkostemp(name, O_CLOEXEC);
	if (fd < 0)
		return error_sys(
			err, -errno,
			"cannot make a temporary file in %.200s (set TMPDIR to another folder)",
			dir);
	unlink(name);
	return fd;
}
