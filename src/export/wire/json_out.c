// SPDX-License-Identifier: Apache-2.0
#include "export/wire/json_out.h"

#include <stdbool.h>
#include <stdio.h>

#define ESCAPE_SIZE 8 /* "\\u001f" */

static bool is_plain(unsigned char c)
{
	return c >= 0x20 && c != '"' && c != '\\';
}

/* Returns how many bytes from @s on, of @n, stand for themselves. */
static size_t plain_length(const char *s, size_t n)
{
	size_t i = 0;

	while (i < n && is_plain((unsigned char)s[i]))
		i++;
	return i;
}

/* Fills @ret with the text for a byte that is not plain. Returns its length. */
static size_t escape(unsigned char c, char ret[ESCAPE_SIZE])
{
	if (c == '"' || c == '\\')
		return (size_t)snprintf(ret, ESCAPE_SIZE, "\\%c", c);
	return (size_t)snprintf(ret, ESCAPE_SIZE, "\\u%04x", c);
}

void json_out_string(struct out *o, const char *s, size_t n)
{
	char text[ESCAPE_SIZE];

	out_put(o, "\"", 1);
	for (size_t at = 0; at < n; at++) {
		size_t plain = plain_length(s + at, n - at);

		out_put(o, s + at, plain);
		at += plain;
		if (at < n)
			out_put(o, text, escape((unsigned char)s[at], text));
	}
	out_put(o, "\"", 1);
}

int json_append_string(struct buf *b, const char *s, size_t n)
{
	char text[ESCAPE_SIZE];
	int rc = buf_append(b, "\"", 1);

	for (size_t at = 0; !rc && at < n; at++) {
		size_t plain = plain_length(s + at, n - at);

		rc = buf_append(b, s + at, plain);
		at += plain;
		if (!rc && at < n)
			rc = buf_append(b, text, escape((unsigned char)s[at], text));
	}
	return rc ?: buf_append(b, "\"", 1);
}
