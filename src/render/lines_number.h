/* SPDX-License-Identifier: Apache-2.0 */
/* Numbers in lines of script, without printf(): each line has several. Any thread. */
#ifndef RINGTAIL_RENDER_LINES_NUMBER_H
#define RINGTAIL_RENDER_LINES_NUMBER_H

#include <endian.h>
#include <stdint.h>
#include <string.h>

#include "base/outbuf.h"
#include "render/text.h"

/* Returns eight hexadecimal digits of @v, the first one in the lowest byte. */
static inline uint64_t hex_digits(uint32_t v)
{
	uint64_t x = v, above_nine;

	x = (x & 0xffff0000) << 16 | (x & 0xffff);
	x = (x & 0x0000ff000000ff00) << 8 | (x & 0x000000ff000000ff);
	x = (x & 0x00f000f000f000f0) << 4 | (x & 0x000f000f000f000f);
	above_nine = (x + 0x0606060606060606) >> 4 & 0x0101010101010101;
	return __builtin_bswap64(x + 0x3030303030303030 + above_nine * ('a' - '0' - 10));
}

/* As printf("%s%*lx"). Every frame of every sample has three such numbers, and printf() is slow. */
static inline void put_hex(struct outbuf *out, const char *before, uint64_t v, int width)
{
	size_t n = v ? (size_t)(67 - __builtin_clzll(v)) / 4 : 1;
	size_t pad = width > (int)n ? (size_t)width - n : 0;
	uint64_t digits[2] = {htole64(hex_digits(v >> 32)), htole64(hex_digits((uint32_t)v))};
	char *p;

	outbuf_text(out, before);
	p = outbuf_room(out, pad + n);
	if (!p)
		return;
	for (size_t i = 0; i < pad; i++)
		p[i] = ' ';
	short_copy(p + pad, (const char *)digits + sizeof(digits) - n, n);
	out->b.len += pad + n;
}

/* As printf("%*d"), with @pad for spaces; a negative width pads behind the number. */
static inline void put_int(struct outbuf *out, int64_t v, int width, char pad)
{
	char text[24], *end = text + sizeof(text), *to;
	char *p = decimal_before(end, v < 0 ? -(uint64_t)v : (uint64_t)v);
	size_t n, all;

	while (pad == '0' && end - p < width - (v < 0))
		*--p = '0';
	if (v < 0)
		*--p = '-';
	n = (size_t)(end - p);
	all = (size_t)(width < 0 ? -width : width);
	all = all > n ? all : n;
	to = outbuf_room(out, all);
	if (!to)
		return;
	memset(to, ' ', all);
	short_copy(width < 0 ? to : to + all - n, p, n);
	out->b.len += all;
}

#endif
