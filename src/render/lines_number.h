/* SPDX-License-Identifier: Apache-2.0 */
/* Numbers in lines of script, without printf(): each line has several. Any thread. */
#ifndef RINGTAIL_RENDER_LINES_NUMBER_H
#define RINGTAIL_RENDER_LINES_NUMBER_H

#include <stdint.h>
#include <string.h>

#include "base/outbuf.h"
#include "render/text.h"

/* As printf("%s%*lx"). Every frame of every sample has three such numbers, and printf() is slow. */
static inline void put_hex(struct outbuf *out, const char *before, uint64_t v, int width)
{
	size_t n = hex_length(v), pad = width > (int)n ? (size_t)width - n : 0;
	char digits[16], *p;

	hex_eight(digits, (uint32_t)(v >> 32));
	hex_eight(digits + 8, (uint32_t)v);
	outbuf_text(out, before);
	p = outbuf_room(out, pad + n);
	if (!p)
		return;
	for (size_t i = 0; i < pad; i++)
		p[i] = ' ';
	short_copy(p + pad, digits + sizeof(digits) - n, n);
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
