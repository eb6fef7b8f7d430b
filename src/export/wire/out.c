// SPDX-License-Identifier: Apache-2.0
#include "export/wire/out.h"

#include <errno.h>
#include <limits.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#define GZIP_WINDOW 31 /* 15 bits of history, plus 16: a header and trailer of gzip */
#define GZIP_MEMORY 8

struct out_gzip {
	z_stream z;
	uint8_t buf[64 << 10];
};

static void fail(struct out *o, int rc)
{
	if (!o->rc)
		o->rc = rc < 0 ? rc : -EIO;
}

static void put_plain(struct out *o, const void *p, size_t n)
{
	errno = 0;
	if (o->rc || !n)
		return;
	if (fwrite_unlocked(p, 1, n, o->f) != n)
		fail(o, -errno);
	else
		o->bytes += n;
}

static void deflate_some(struct out *o, int flush)
{
	struct out_gzip *g = o->gzip;
	int rc;

	do {
		g->z.next_out = g->buf;
		g->z.avail_out = sizeof(g->buf);
		rc = deflate(&g->z, flush);
		put_plain(o, g->buf, sizeof(g->buf) - g->z.avail_out);
	} while (!o->rc && rc == Z_OK && !g->z.avail_out);
}

void out_put(struct out *o, const void *p, size_t n)
{
	const uint8_t *at = p;

	if (!o->gzip) {
		put_plain(o, p, n);
		return;
	}
	while (n && !o->rc) {
		size_t part = n < INT_MAX ? n : INT_MAX;

		o->gzip->z.next_in = (uint8_t *)(uintptr_t)at;
		o->gzip->z.avail_in = (uInt)part;
		deflate_some(o, Z_NO_FLUSH);
		at += part;
		n -= part;
	}
}

void out_puts(struct out *o, const char *s)
{
	out_put(o, s, strlen(s));
}

void out_printf(struct out *o, const char *fmt, ...)
{
	char text[256], *longer = text;
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	if (n >= (int)sizeof(text)) {
		va_start(ap, fmt);
		n = vasprintf(&longer, fmt, ap);
		va_end(ap);
	}
	if (n < 0) {
		fail(o, -ENOMEM);
		return;
	}
	out_put(o, longer, (size_t)n);
	if (longer != text)
		free(longer);
}

int out_begin_gzip(struct out *o)
{
	o->gzip = calloc(1, sizeof(*o->gzip));
	if (o->gzip && deflateInit2(&o->gzip->z, Z_DEFAULT_COMPRESSION, Z_DEFLATED, GZIP_WINDOW,
				    GZIP_MEMORY, Z_DEFAULT_STRATEGY) != Z_OK) {
		free(o->gzip);
		o->gzip = NULL;
	}
	if (!o->gzip)
		fail(o, -ENOMEM);
	return o->rc;
}

int out_end_gzip(struct out *o)
{
	if (o->gzip && !o->rc)
		deflate_some(o, Z_FINISH);
	out_release(o);
	return o->rc;
}

int out_flush(struct out *o)
{
	errno = 0;
	if (!o->rc && fflush(o->f))
		fail(o, -errno);
	return o->rc;
}

void out_release(struct out *o)
{
	if (o->gzip)
		deflateEnd(&o->gzip->z);
	free(o->gzip);
	o->gzip = NULL;
}
