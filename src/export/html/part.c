// SPDX-License-Identifier: Apache-2.0
#include "export/html/part.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <zlib.h>

#define RAW_WINDOW  (-15) /* 15 bits of history, without header */
#define MEMORY	    8
#define BASE64_FROM 3 /* bytes that become BASE64_TO characters */
#define BASE64_TO   4
#define GROUPS	    16384

struct html_deflate {
	z_stream z;
	uint8_t buf[GROUPS * BASE64_FROM];
	char text[GROUPS * BASE64_TO];
};

/* Writes what is in the buffer, which is full or the last. */
static void put_base64(struct html_part *p)
{
	static const char digits[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
	struct html_deflate *d = p->deflate;
	size_t n = sizeof(d->buf) - d->z.avail_out;
	char *at = d->text;

	for (size_t i = 0; i < n; i += BASE64_FROM) {
		uint32_t group = (uint32_t)d->buf[i] << 16;

		group |= i + 1 < n ? (uint32_t)d->buf[i + 1] << 8 : 0;
		group |= i + 2 < n ? d->buf[i + 2] : 0;
		*at++ = digits[group >> 18];
		*at++ = digits[group >> 12 & 63];
		*at++ = i + 1 < n ? digits[group >> 6 & 63] : '=';
		*at++ = i + 2 < n ? digits[group & 63] : '=';
	}
	out_put(p->out, d->text, (size_t)(at - d->text));
	d->z.next_out = d->buf;
	d->z.avail_out = sizeof(d->buf);
}

static void deflate_some(struct html_part *p, int flush)
{
	struct html_deflate *d = p->deflate;
	int rc;

	do {
		rc = deflate(&d->z, flush);
		if (!d->z.avail_out)
			put_base64(p);
	} while (!p->out->rc && rc == Z_OK && (d->z.avail_in || flush == Z_FINISH));
}

/* Begins a part whose element has more @attributes. */
static void begin(struct html_part *p, struct out *out, const char *name, const char *attributes)
{
	struct html_deflate *d = calloc(1, sizeof(*d));

	*p = (struct html_part){.out = out};
	if (!d || deflateInit2(&d->z, Z_DEFAULT_COMPRESSION, Z_DEFLATED, RAW_WINDOW, MEMORY,
			       Z_DEFAULT_STRATEGY) != Z_OK) {
		free(d);
		out->rc = out->rc ?: -ENOMEM;
		return;
	}
	d->z.next_out = d->buf;
	d->z.avail_out = sizeof(d->buf);
	p->deflate = d;
	out_printf(out, "<script type=\"application/octet-stream\" data-part=\"%s\"%s>", name,
		   attributes);
}

void html_part_begin(struct html_part *p, struct out *out, const char *name)
{
	begin(p, out, name, "");
}

void html_part_begin_table(struct html_part *p, struct out *out, const char *name, size_t rows)
{
	char attribute[40];

	snprintf(attribute, sizeof(attribute), " data-rows=\"%zu\"", rows);
	begin(p, out, name, attribute);
}

void html_part_put(struct html_part *p, const void *s, size_t n)
{
	const uint8_t *at = s;

	while (n && !p->out->rc) {
		size_t some = n < INT_MAX ? n : INT_MAX;

		p->deflate->z.next_in = (uint8_t *)(uintptr_t)at;
		p->deflate->z.avail_in = (uInt)some;
		deflate_some(p, Z_NO_FLUSH);
		at += some;
		n -= some;
	}
}

int html_part_end(struct html_part *p)
{
	if (!p->deflate)
		return p->out ? p->out->rc : 0;
	if (!p->out->rc)
		deflate_some(p, Z_FINISH);
	if (!p->out->rc)
		put_base64(p);
	out_puts(p->out, "</script>\n");
	deflateEnd(&p->deflate->z);
	free(p->deflate);
	p->deflate = NULL;
	return p->out->rc;
}
