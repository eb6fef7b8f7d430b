/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Output of an export: bytes to a stream, compressed with gzip if wanted.
 *
 * The first failure is kept, and later calls do nothing. So a writer may write on and check now and
 * then. The caller owns the stream. One thread.
 */
#ifndef RINGTAIL_EXPORT_WIRE_OUT_H
#define RINGTAIL_EXPORT_WIRE_OUT_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct out_gzip;

/* All zero but @f: empty. */
struct out {
	FILE *f;
	int rc;		       /* 0, or the negative errno of the first failure */
	uint64_t bytes;	       /* written to @f */
	struct out_gzip *gzip; /* NULL: bytes go to @f as they are */
};

/* Writes @n bytes. */
void out_put(struct out *o, const void *p, size_t n);
/* Writes a string. */
void out_puts(struct out *o, const char *s);
/* Writes formatted text. */
void out_printf(struct out *o, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* Compresses what is written until out_end_gzip(). Returns 0 or a negative errno. */
int out_begin_gzip(struct out *o);
/* Writes the end of the compressed data. Returns o->rc. */
int out_end_gzip(struct out *o);

/* Flushes the stream. Returns o->rc. */
int out_flush(struct out *o);

/* Frees what @o holds, without writing. */
void out_release(struct out *o);

#endif
