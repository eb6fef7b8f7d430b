// SPDX-License-Identifier: Apache-2.0
#include "export/wire/spool.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "sys/io/tmpfile.h"

#define FIRST_BYTES 64 /* most lanes of a recording of short tasks hold little */
#define NOWHERE	    UINT64_MAX

struct spool_lane {
	uint8_t *buf;
	size_t len, cap;
	uint64_t first, last; /* blocks in the file; NOWHERE: none */
};

/* A full block in the file. */
struct spool_block {
	uint64_t next; /* offset of the lane's next block; NOWHERE: none */
	uint8_t bytes[SPOOL_BLOCK];
};

static int write_at(struct spool *s, uint64_t offset, const void *p, size_t n)
{
	ssize_t done = pwrite(s->fd - 1, p, n, (off_t)offset);

	if (done < 0)
		return error_sys(s->err, -errno, "temporary file");
	return (size_t)done == n ? 0 : error_sys(s->err, -ENOSPC, "temporary file");
}

static int write_block(struct spool *s, struct spool_lane *l)
{
	struct spool_block b = {.next = NOWHERE};
	uint64_t at = s->end;
	int rc = 0;

	if (!s->fd) {
		rc = tmpfile_open(s->err);
		if (rc < 0)
			return rc;
		s->fd = rc + 1;
	}
	memcpy(b.bytes, l->buf, l->len);
	rc = write_at(s, at, &b, sizeof(b));
	if (!rc && l->last != NOWHERE)
		rc = write_at(s, l->last, &at, sizeof(at));
	if (rc)
		return rc;
	if (l->first == NOWHERE)
		l->first = at;
	l->last = at;
	l->len = 0;
	s->end += sizeof(b);
	return 0;
}

static int grow_lanes(struct spool *s, uint32_t lane)
{
	if (array_grow(&s->lanes, &s->cap, (size_t)lane + 1, sizeof(*s->lanes)))
		return -ENOMEM;
	for (; s->nr <= lane; s->nr++)
		s->lanes[s->nr] = (struct spool_lane){.first = NOWHERE, .last = NOWHERE};
	return 0;
}

int spool_add(struct spool *s, uint32_t lane, const void *item, size_t size)
{
	struct spool_lane *l;
	int rc = grow_lanes(s, lane);

	if (rc)
		return rc;
	l = &s->lanes[lane];
	if (l->len + size > SPOOL_BLOCK)
		rc = write_block(s, l);
	if (!rc && l->len + size > l->cap) {
		size_t cap = l->cap ? l->cap * 2 : FIRST_BYTES;
		uint8_t *buf = realloc(l->buf, cap);

		if (!buf)
			return -ENOMEM;
		l->buf = buf;
		l->cap = cap;
	}
	if (rc)
		return rc;
	memcpy(l->buf + l->len, item, size);
	l->len += size;
	return 0;
}

static int visit(const uint8_t *bytes, size_t len, size_t size, spool_fn fn, void *arg)
{
	int rc = 0;

	for (size_t i = 0; rc >= 0 && i + size <= len; i += size)
		rc = fn(bytes + i, arg);
	return rc < 0 ? rc : 0;
}

int spool_each(struct spool *s, uint32_t lane, size_t size, spool_fn fn, void *arg)
{
	struct spool_block b;
	uint64_t at = lane < s->nr ? s->lanes[lane].first : NOWHERE;
	int rc = 0;

	for (; !rc && at != NOWHERE; at = b.next) {
		ssize_t n = pread(s->fd - 1, &b, sizeof(b), (off_t)at);

		if (n != (ssize_t)sizeof(b))
			return error_sys(s->err, n < 0 ? -errno : -EIO, "temporary file");
		rc = visit(b.bytes, sizeof(b.bytes), size, fn, arg);
	}
	if (!rc && lane < s->nr)
		rc = visit(s->lanes[lane].buf, s->lanes[lane].len, size, fn, arg);
	return rc;
}

void spool_release(struct spool *s)
{
	for (size_t i = 0; i < s->nr; i++)
		free(s->lanes[i].buf);
	free(s->lanes);
	if (s->fd)
		close(s->fd - 1);
	*s = (struct spool){0};
}
