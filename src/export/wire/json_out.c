// SPDX-License-Identifier: Apache-2.0
#include "export/wire/json_out.h"

static void put_escaped(struct out *o, unsigned char c)
{
	switch (c) {
	case '"': out_puts(o, "\\\""); break;
	case '\\': out_puts(o, "\\\\"); break;
	default: out_printf(o, "\\u%04x", c);
	}
}

void json_out_string(struct out *o, const char *s, size_t n)
{
	size_t from = 0;

	out_put(o, "\"", 1);
	for (size_t i = 0; i < n; i++) {
		unsigned char c = (unsigned char)s[i];

		if (c >= 0x20 && c != '"' && c != '\\')
			continue;
		out_put(o, s + from, i - from);
		put_escaped(o, c);
		from = i + 1;
	}
	out_put(o, s + from, n - from);
	out_put(o, "\"", 1);
}
