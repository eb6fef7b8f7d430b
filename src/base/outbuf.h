/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Output in memory: a struct buf that text is put into, and that remembers a failure.
 *
 * It stands where a stream would cost more than the text: each call of stdio takes as long as a
 * dozen characters. The owner checks @failed (memory is short) at the end, and releases @b. All
 * zero is empty. One thread at a time.
 */
#ifndef RINGTAIL_BASE_OUTBUF_H
#define RINGTAIL_BASE_OUTBUF_H

#include <stdbool.h>
#include <string.h>

#include "base/buf.h"

struct outbuf {
	struct buf b;
	bool failed;
};

/* Makes room for @n bytes. Returns their place, which the caller fills and adds to b.len, or NULL.
 */
static inline char *outbuf_room(struct outbuf *out, size_t n)
{
	if (out->b.cap - out->b.len < n && buf_reserve(&out->b, n)) {
		out->failed = true;
		return NULL;
	}
	return (char *)out->b.data + out->b.len;
}

/* Appends @n bytes. */
static inline void outbuf_bytes(struct outbuf *out, const void *p, size_t n)
{
	if (out->b.cap - out->b.len < n && buf_reserve(&out->b, n)) {
		out->failed = true;
		return;
	}
	if (n)
		memcpy(out->b.data + out->b.len, p, n);
	out->b.len += n;
}

/* Appends a string without its NUL. */
static inline void outbuf_text(struct outbuf *out, const char *s)
{
	outbuf_bytes(out, s, strlen(s));
}

/* Appends a character. */
static inline void outbuf_char(struct outbuf *out, char c)
{
	outbuf_bytes(out, &c, 1);
}

/* Appends @c @n times. */
static inline void outbuf_repeated(struct outbuf *out, char c, size_t n)
{
	if (out->b.cap - out->b.len < n && buf_reserve(&out->b, n)) {
		out->failed = true;
		return;
	}
	if (n)
		memset(out->b.data + out->b.len, c, n);
	out->b.len += n;
}

/* Appends formatted text, as printf(). */
#define outbuf_format(out, ...)                             \
	do {                                                \
		if (buf_printf(&(out)->b, __VA_ARGS__) < 0) \
			(out)->failed = true;               \
	} while (0)

#endif
