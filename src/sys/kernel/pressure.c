// SPDX-License-Identifier: Apache-2.0
#include "sys/kernel/pressure.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static int refused(const char *dir, const char *resource, int rc, struct error *err)
{
	switch (rc) {
	case -ENOENT:
	case -EOPNOTSUPP:
		return error_set(
			err, rc,
			"no pressure information at %s/%s: the kernel is built without PSI, "
			"or started without psi=1",
			dir, resource);
	case -EPERM:
	case -EACCES:
		return error_set(err, rc,
				 "%s/%s: only root (CAP_SYS_RESOURCE) may wait for pressure on "
				 "kernels before 6.4",
				 dir, resource);
	case -EINVAL:
		return error_set(err, rc,
				 "%s/%s: the kernel refuses this window: give a multiple of 2000 "
				 "ms, or run with CAP_SYS_RESOURCE",
				 dir, resource);
	default: return error_sys(err, rc, "%s/%s", dir, resource);
	}
}

int pressure_open(const char *dir, const char *resource, unsigned int some_ms,
		  unsigned int window_ms, struct error *err)
{
	char path[256], text[64];
	int fd, rc = 0;
	ssize_t n;

	if (!dir)
		dir = "/proc/pressure";
	snprintf(path, sizeof(path), "%s/%s", dir, resource);
	snprintf(text, sizeof(text), "some %llu %llu", some_ms * 1000ull, window_ms * 1000ull);
	fd = open(path, O_RDWR | O_NONBLOCK | O_CLOEXEC);
	if (fd < 0)
		return refused(dir, resource, -errno, err);
	/* The kernel wants the NUL, which it overwrites. */
	n = write(fd, text, strlen(text) + 1);
	if (n < 0)
		rc = -errno;
	else if ((size_t)n != strlen(text) + 1)
		rc = -EIO;
	if (!rc)
		return fd;
	close(fd);
	return refused(dir, resource, rc, err);
}
