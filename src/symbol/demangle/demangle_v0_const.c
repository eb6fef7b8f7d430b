// SPDX-License-Identifier: Apache-2.0
/* Demangles constants in generic arguments: numbers, characters, strings, and composite values. */
#include "symbol/demangle/demangle_v0.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* Reads the hex digits of a constant up to '_'. Returns their number, with the first in *@ret. */
static size_t hex_digits(struct v0 *d, const char **ret)
{
	size_t n = 0;
	char c;

	*ret = d->s + d->pos;
	while (!d->bad && !v0_eat(d, '_')) {
		c = v0_next(d);
		if (!((c >= '0' && c <= '9') || (c >= 'a' && c <= 'f')))
			d->bad = true;
		n++;
	}
	return d->bad ? 0 : n;
}

static bool hex_value(const char *s, size_t n, uint64_t *ret)
{
	uint64_t x = 0;

	while (n && *s == '0')
		s++, n--;
	if (n > 16)
		return false;
	for (; n; s++, n--)
		x = x << 4 | (uint64_t)(*s <= '9' ? *s - '0' : *s - 'a' + 10);
	*ret = x;
	return true;
}

static void const_int(struct v0 *d, bool is_signed)
{
	const char *digits;
	char number[32];
	uint64_t x;
	size_t n;

	if (is_signed && v0_eat(d, 'n'))
		v0_puts(d, "-");
	n = hex_digits(d, &digits);
	if (d->bad)
		return;
	if (hex_value(digits, n, &x)) {
		snprintf(number, sizeof(number), "%" PRIu64, x);
		v0_puts(d, number);
	} else {
		v0_puts(d, "0x");
		v0_put(d, digits, n);
	}
}

static void const_bool(struct v0 *d)
{
	const char *digits;
	size_t n = hex_digits(d, &digits);

	if (d->bad || n != 1 || digits[0] > '1')
		d->bad = true;
	else
		v0_puts(d, digits[0] == '1' ? "true" : "false");
}

/* Writes a character as Rust's debug format does. */
static void put_quoted(struct v0 *d, uint32_t c, char quote)
{
	static const char *const named[128] = {
		['\t'] = "\\t", ['\r'] = "\\r", ['\n'] = "\\n", ['\\'] = "\\\\", [0x7f] = "\\u{7f}",
	};
	char b[16];

	if (c == (uint32_t)(uint8_t)quote) {
		snprintf(b, sizeof(b), "\\%c", quote);
		v0_puts(d, b);
	} else if (c == 0) {
		v0_puts(d, "\\0");
	} else if (c < 128 && named[c]) {
		v0_puts(d, named[c]);
	} else if (c < 0x20) {
		snprintf(b, sizeof(b), "\\u{%x}", c);
		v0_puts(d, b);
	} else {
		v0_put_char(d, c);
	}
}

static void const_char(struct v0 *d)
{
	const char *digits;
	size_t n = hex_digits(d, &digits);
	uint64_t x = 0;

	if (d->bad || !hex_value(digits, n, &x) || x > 0x10ffff || !v0_valid_char((uint32_t)x)) {
		d->bad = true;
		return;
	}
	v0_puts(d, "'");
	put_quoted(d, (uint32_t)x, '\'');
	v0_puts(d, "'");
}

static int hex_byte(const char *s)
{
	uint64_t x;

	return hex_value(s, 2, &x) ? (int)x : -1;
}

/* A str constant: UTF-8 bytes in hex. */
static void const_str(struct v0 *d)
{
	const char *digits;
	size_t n = hex_digits(d, &digits), i, k;

	if (d->bad || n % 2) {
		d->bad = true;
		return;
	}
	v0_puts(d, "\"");
	for (i = 0; i < n && !d->bad;) {
		uint32_t c = (uint32_t)hex_byte(digits + i);
		size_t more = c < 0x80 ? 0 : c >= 0xf0 ? 3 : c >= 0xe0 ? 2 : 1;

		if ((c >= 0x80 && c < 0xc2) || c > 0xf4 || i + 2 * (more + 1) > n) {
			d->bad = true;
			return;
		}
		c &= more ? 0x3fu >> more : 0x7f;
		for (k = 1; k <= more; k++)
			c = c << 6 | ((uint32_t)hex_byte(digits + i + 2 * k) & 0x3f);
		if (!v0_valid_char(c))
			d->bad = true;
		put_quoted(d, c, '"');
		i += 2 * (more + 1);
	}
	v0_puts(d, "\"");
}

static void const_list(struct v0 *d, const char *open, const char *close, bool comma_if_one)
{
	size_t n;

	v0_puts(d, open);
	for (n = 0; !d->bad && !v0_eat(d, 'E'); n++) {
		if (n)
			v0_puts(d, ", ");
		v0_constant(d, true);
	}
	if (n == 1 && comma_if_one)
		v0_puts(d, ",");
	v0_puts(d, close);
}

static void const_fields(struct v0 *d)
{
	struct v0_ident id;
	size_t n;

	v0_puts(d, " { ");
	for (n = 0; !d->bad && !v0_eat(d, 'E'); n++) {
		if (n)
			v0_puts(d, ", ");
		id = v0_identifier(d);
		if (d->bad)
			return;
		v0_put_ident(d, &id);
		v0_puts(d, ": ");
		v0_constant(d, true);
	}
	v0_puts(d, " }");
}

/* "V": a value of a struct or of an enum variant. */
static void const_adt(struct v0 *d)
{
	char tag = v0_next(d);

	v0_path(d, true);
	if (tag == 'T')
		const_list(d, "(", ")", false);
	else if (tag == 'S')
		const_fields(d);
	else if (tag != 'U')
		d->bad = true;
}

static void const_backref(struct v0 *d, bool in_value)
{
	size_t back = 0;

	if (v0_backref(d, &back))
		v0_constant(d, in_value);
	if (!d->bad)
		d->pos = back;
}

/* "R" and "Q" are references; "Re…" is a literal of type &str. */
static void const_ref(struct v0 *d, char tag)
{
	if (tag == 'R' && v0_eat(d, 'e')) {
		const_str(d);
		return;
	}
	v0_puts(d, tag == 'R' ? "&" : "&mut ");
	v0_constant(d, true);
}

/* Composite constants among generic arguments are put in braces. */
void v0_constant(struct v0 *d, bool in_value)
{
	char tag;
	bool braces;

	if (!v0_enter(d))
		return;
	tag = v0_next(d);
	braces = !in_value && tag && strchr("eRQATV", tag) && !(tag == 'R' && v0_peek(d) == 'e');
	if (braces)
		v0_puts(d, "{");
	switch (tag) {
	case 'p': v0_puts(d, "_"); break;
	case 'h':
	case 't':
	case 'm':
	case 'y':
	case 'o':
	case 'j': const_int(d, false); break;
	case 'a':
	case 's':
	case 'l':
	case 'x':
	case 'n':
	case 'i': const_int(d, true); break;
	case 'b': const_bool(d); break;
	case 'c': const_char(d); break;
	case 'e':
		v0_puts(d, "*");
		const_str(d);
		break;
	case 'R':
	case 'Q': const_ref(d, tag); break;
	case 'A': const_list(d, "[", "]", false); break;
	case 'T': const_list(d, "(", ")", true); break;
	case 'V': const_adt(d); break;
	case 'B': const_backref(d, in_value); break;
	default: d->bad = true;
	}
	if (braces)
		v0_puts(d, "}");
	d->depth--;
}
