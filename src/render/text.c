// SPDX-License-Identifier: Apache-2.0
#include "render/text.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* Decodes one code point of UTF-8. Returns its length, or 0 if there is none at @s. */
static size_t decode(const unsigned char *s, size_t len, uint32_t *ret)
{
	static const struct {
		unsigned char mask, lead;
		uint32_t least; /* shorter forms are not allowed */
	} forms[] = {
		{0x80, 0x00, 0}, {0xe0, 0xc0, 0x80}, {0xf0, 0xe0, 0x800}, {0xf8, 0xf0, 0x10000}};

	for (size_t n = 0; n < 4; n++) {
		uint32_t c;

		if ((s[0] & forms[n].mask) != forms[n].lead)
			continue;
		if (n >= len)
			return 0;
		c = s[0] & (unsigned char)~forms[n].mask;
		for (size_t i = 1; i <= n; i++) {
			if ((s[i] & 0xc0) != 0x80)
				return 0;
			c = c << 6 | (s[i] & 0x3f);
		}
		if (c < forms[n].least || c > 0x10ffff || (c >= 0xd800 && c <= 0xdfff))
			return 0;
		*ret = c;
		return n + 1;
	}
	return 0;
}

/* Finds C0 and C1 controls, line and paragraph separators, and marks that reorder text. */
static bool is_harmful(uint32_t c)
{
	return c < 0x20 || (c >= 0x7f && c < 0xa0) || (c >= 0x200b && c <= 0x200f) ||
	       (c >= 0x2028 && c <= 0x202e) || (c >= 0x2060 && c <= 0x206f) || c == 0xfeff;
}

/*
 * Returns the length of what is harmless at the beginning. Nearly all text is plain ASCII.
 */
static size_t harmless_length(const unsigned char *s, size_t len)
{
	size_t i = 0, n;
	uint32_t c;

	while (i < len) {
		if (s[i] >= 0x20 && s[i] < 0x7f) {
			i++;
			continue;
		}
		n = decode(s + i, len - i, &c);
		if (!n || is_harmful(c))
			break;
		i += n;
	}
	return i;
}

int text_escape_len(struct buf *out, const char *s, size_t len)
{
	const unsigned char *p = (const unsigned char *)s, *end = p + len;
	int rc = 0;

	while (!rc && p < end) {
		uint32_t c;
		size_t n = harmless_length(p, (size_t)(end - p));

		rc = buf_append(out, p, n);
		p += n;
		if (rc || p == end)
			break;
		n = decode(p, (size_t)(end - p), &c) ?: 1;
		for (; !rc && n; n--)
			rc = buf_printf(out, "\\x%02x", *p++);
	}
	return rc;
}

int text_escape(struct buf *out, const char *s)
{
	return text_escape_len(out, s, strlen(s));
}

int text_escape_but_tabs(struct buf *out, const char *s, size_t len)
{
	size_t n;
	int rc = 0;

	for (size_t i = 0; i < len && !rc; i += n) {
		const char *p = s + i, *tab = memchr(p, '\t', len - i);

		n = tab == p ? 1 : tab ? (size_t)(tab - p) : len - i;
		rc = tab == p ? buf_append(out, "\t", 1) : text_escape_len(out, p, n);
	}
	return rc;
}

size_t text_columns(const char *s, size_t len)
{
	size_t n = 0;

	for (size_t i = 0; i < len; i++)
		n += ((unsigned char)s[i] & 0xc0) != 0x80;
	return n;
}

void text_truncate(struct buf *b, size_t from, size_t columns)
{
	size_t n = 0;

	for (size_t i = from; i < b->len; i++) {
		if ((b->data[i] & 0xc0) == 0x80)
			continue;
		if (n++ == columns) {
			b->len = i;
			return;
		}
	}
}

static void put_spaces(FILE *out, size_t n)
{
	while (n--)
		putc_unlocked(' ', out);
}

/* Returns bit 7 of each of eight bytes that is a control, DEL or not ASCII. */
static uint64_t strange_bytes(const char *s)
{
	const uint64_t ones = 0x0101010101010101;
	uint64_t word, del;

	memcpy(&word, s, 8);
	del = word ^ 0x7f * ones;
	return ((word - 0x20 * ones) | (del - ones) | word) & 0x80 * ones;
}

bool text_is_plain(const char *s, size_t len)
{
	uint64_t strange = 0;

	if (len >= 8) {
		for (size_t n = 0; n + 8 < len; n += 8)
			strange |= strange_bytes(s + n);
		/* The last eight may have been seen. */
		return !(strange | strange_bytes(s + len - 8));
	}
	for (size_t n = 0; n < len; n++)
		if (s[n] < 0x20 || s[n] >= 0x7f)
			return false;
	return true;
}

/* Returns the length of @s if it is plain, as nearly all names are; else 0. */
static size_t plain_length(const char *s)
{
	size_t len = strlen(s);

	return text_is_plain(s, len) ? len : 0;
}

static void put_padded(FILE *out, const char *s, size_t len, size_t columns, int width)
{
	size_t want = (size_t)abs(width);

	if (width > 0 && columns < want)
		put_spaces(out, want - columns);
	if (len)
		fwrite_unlocked(s, 1, len, out);
	if (width < 0 && columns < want)
		put_spaces(out, want - columns);
}

void text_put(FILE *out, const char *s, int width)
{
	size_t plain = plain_length(s);
	struct buf b = {0};

	if (plain) {
		put_padded(out, s, plain, plain, width);
		return;
	}
	if (text_escape(&b, s) < 0)
		b.len = 0;
	put_padded(out, (const char *)b.data, b.len, text_columns((const char *)b.data, b.len),
		   width);
	buf_release(&b);
}

static void append_padded(struct outbuf *out, const char *s, size_t len, size_t columns, int width)
{
	size_t want = (size_t)abs(width), pad = columns < want ? want - columns : 0;

	if (width > 0)
		outbuf_repeated(out, ' ', pad);
	outbuf_bytes(out, s, len);
	if (width < 0)
		outbuf_repeated(out, ' ', pad);
}

void text_append(struct outbuf *out, const char *s, int width)
{
	size_t plain = plain_length(s);
	struct buf b = {0};

	if (plain) {
		append_padded(out, s, plain, plain, width);
		return;
	}
	if (text_escape(&b, s) < 0)
		out->failed = true;
	else
		append_padded(out, (const char *)b.data, b.len,
			      text_columns((const char *)b.data, b.len), width);
	buf_release(&b);
}

const char *text_share_color(double percent)
{
	return percent >= 5 ? "\033[31m" : percent > 0.5 ? "\033[32m" : "";
}

void text_put_painted(FILE *out, const struct buf *line, const struct text_paint *paint, size_t nr)
{
	size_t at = 0;

	for (size_t i = 0; i < nr && paint[i].from < line->len; i++) {
		size_t to = paint[i].to < line->len ? paint[i].to : line->len;

		if (!*paint[i].color)
			continue;
		fwrite(line->data + at, 1, paint[i].from - at, out);
		fputs(paint[i].color, out);
		fwrite(line->data + paint[i].from, 1, to - paint[i].from, out);
		fputs(TEXT_COLOR_END, out);
		at = to;
	}
	if (line->len > at)
		fwrite(line->data + at, 1, line->len - at, out);
}

uint64_t text_unit(uint64_t n, char *ret_unit)
{
	static const char units[] = " KMG";
	size_t i = 0;

	for (; n > 1000 && i < sizeof(units) - 2; i++)
		n /= 1000;
	*ret_unit = units[i];
	return n;
}
