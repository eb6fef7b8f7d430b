// SPDX-License-Identifier: Apache-2.0
#include "report/aux/extract_out.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

static int write_all(int fd, const uint8_t *p, size_t len)
{
	while (len) {
		ssize_t n = write(fd, p, len);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n ? -errno : -EIO;
		p += n;
		len -= (size_t)n;
	}
	return 0;
}

/* Writes all but the last @keep bytes. */
static int write_out(struct extract_out *o, size_t keep)
{
	int flags = O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | (o->made ? 0 : O_TRUNC);
	size_t len = o->buf.len - keep;
	int fd = openat(o->dir, o->name, flags, 0666), rc;

	if (fd < 0)
		return -errno;
	o->made = true;
	rc = write_all(fd, o->buf.data, len);
	if (close(fd) && !rc)
		rc = -errno;
	memmove(o->buf.data, o->buf.data + len, keep);
	o->buf.len = keep;
	return rc;
}

int extract_out_put(struct extract_out *o, const void *p, size_t len)
{
	int rc = buf_append(&o->buf, p, len);

	return rc || o->buf.len < EXTRACT_OUT_PIECE ? rc : write_out(o, EXTRACT_OUT_BACK);
}

bool extract_out_unpad(struct extract_out *o, size_t len)
{
	for (size_t i = 1; i <= len; i++)
		if (i > o->buf.len || o->buf.data[o->buf.len - i])
			return false;
	o->buf.len -= len;
	return true;
}

int extract_out_end(struct extract_out *o)
{
	return o->buf.len ? write_out(o, 0) : 0;
}

void extract_out_release(struct extract_out *o)
{
	buf_release(&o->buf);
}
