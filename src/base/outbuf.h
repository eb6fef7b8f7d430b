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

#include <endian.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "base/buf.h"

/*
 * Copies @n bytes, as memcpy(): for texts that are mostly short it saves a call that takes longer
 * than they do. @to and @from may be anything if @n is 0.
 */
static inline void short_copy(void *to, const void *from, size_t n)
{
	const uint8_t *f = from;
	uint8_t *t = to;

	if (n > 16) {
		memcpy(t, f, n);
	} else if (n >= 8) {
		/* The first and the last eight, which overlap. */
		memcpy(t, f, 8);
		memcpy(t + n - 8, f + n - 8, 8);
	} else if (n >= 4) {
		memcpy(t, f, 4);
		memcpy(t + n - 4, f + n - 4, 4);
	} else {
		for (size_t i = 0; i < n; i++)
			t[i] = f[i];
	}
}

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
	short_copy(out->b.data + out->b.len, p, n);
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
	char *p = outbuf_room(out, 1);

	if (!p)
		return;
	*p = c;
	out->b.len++;
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

/* The two digits of each number below 100: two at once are half the divisions. */
static const char decimal_pairs[] = "00010203040506070809101112131415161718192021222324"
				    "25262728293031323334353637383940414243444546474849"
				    "50515253545556575859606162636465666768697071727374"
				    "75767778798081828384858687888990919293949596979899";

/* Writes the digits of @v, at most 20, so that they end before @end. Returns where they begin. */
static inline char *decimal_before(char *end, uint64_t v)
{
	for (; v >= 100; v /= 100) {
		end -= 2;
		memcpy(end, decimal_pairs + 2 * (v % 100), 2);
	}
	if (v < 10) {
		*--end = (char)('0' + v);
		return end;
	}
	end -= 2;
	memcpy(end, decimal_pairs + 2 * v, 2);
	return end;
}

/* Writes the last @n digits of @v, with zeros before. */
static inline void decimal_digits(char *to, uint64_t v, size_t n)
{
	for (; n >= 2; v /= 100) {
		n -= 2;
		memcpy(to + n, decimal_pairs + 2 * (v % 100), 2);
	}
	if (n)
		*to = (char)('0' + v % 10);
}

/* Writes eight hexadecimal digits of @v. */
static inline void hex_eight(char *to, uint32_t v)
{
	uint64_t x = v, above_nine;

	x = (x & 0xffff0000) << 16 | (x & 0xffff);
	x = (x & 0x0000ff000000ff00) << 8 | (x & 0x000000ff000000ff);
	x = (x & 0x00f000f000f000f0) << 4 | (x & 0x000f000f000f000f);
	above_nine = (x + 0x0606060606060606) >> 4 & 0x0101010101010101;
	x = htobe64(x + 0x3030303030303030 + above_nine * ('a' - '0' - 10));
	memcpy(to, &x, sizeof(x));
}

/* Returns the number of hexadecimal digits of @v. */
static inline size_t hex_length(uint64_t v)
{
	return v ? (size_t)(67 - __builtin_clzll(v)) / 4 : 1;
}

#endif
