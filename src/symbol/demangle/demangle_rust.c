// SPDX-License-Identifier: Apache-2.0
/*
 * Demangles Rust's older names: "_ZN" and path elements with their length; the last element is
 * "17h" and 16 hex digits. Source: rustc_symbol_mangling/src/legacy.rs (for the escapes).
 */
#include "symbol/demangle/demangle.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "symbol/demangle/demangle_v0.h"

/* Reads one path element and advances *@p to the next. */
static bool element(const char **p, const char **ret_s, size_t *ret_len)
{
	size_t n = 0;

	if (**p < '1' || **p > '9')
		return false;
	for (; **p >= '0' && **p <= '9'; (*p)++) {
		n = n * 10 + (size_t)(**p - '0');
		if (n > DEMANGLE_MAX)
			return false;
	}
	if (strnlen(*p, n) < n)
		return false;
	*ret_s = *p;
	*ret_len = n;
	*p += n;
	return true;
}

/*
 * 'h' and 16 hex digits. At least five digits must differ, because a few C++ names have this form,
 * too.
 */
static bool is_hash(const char *s, size_t len)
{
	unsigned int seen = 0;
	size_t i;

	if (len != 17 || s[0] != 'h')
		return false;
	for (i = 1; i < 17; i++) {
		if (s[i] >= '0' && s[i] <= '9')
			seen |= 1u << (s[i] - '0');
		else if (s[i] >= 'a' && s[i] <= 'f')
			seen |= 1u << (s[i] - 'a' + 10);
		else
			return false;
	}
	return __builtin_popcount(seen) >= 5;
}

/* "u7e": a character by its number. Returns false if @s has another form. */
static bool put_unicode(struct buf *out, const char *s, size_t len)
{
	uint32_t c = 0;
	char utf8[4];
	size_t i;

	if (len < 2 || len > 7 || s[0] != 'u')
		return false;
	for (i = 1; i < len; i++) {
		if (s[i] >= '0' && s[i] <= '9')
			c = c << 4 | (uint32_t)(s[i] - '0');
		else if (s[i] >= 'a' && s[i] <= 'f')
			c = c << 4 | (uint32_t)(s[i] - 'a' + 10);
		else
			return false;
	}
	if (c < 0x20 || c == 0x7f || c > 0x10ffff || (c >= 0xd800 && c < 0xe000))
		return false;
	return !buf_append(out, utf8, rust_utf8_encode(c, utf8));
}

/*
 * Writes the text of an escape like "$LT$" at @s. Returns the bytes consumed, or 0 if @s is no
 * escape.
 */
static size_t put_escape(struct buf *out, const char *s, size_t len)
{
	static const struct {
		const char *name, *text;
	} escapes[] = {
		{"SP", "@"}, {"BP", "*"}, {"RF", "&"}, {"LT", "<"},
		{"GT", ">"}, {"LP", "("}, {"RP", ")"}, {"C", ","},
	};
	const char *end = len > 1 ? memchr(s + 1, '$', len - 1) : NULL;
	size_t n, i;

	if (!end)
		return 0;
	n = (size_t)(end - s) - 1;
	for (i = 0; i < sizeof(escapes) / sizeof(*escapes); i++) {
		if (n == strlen(escapes[i].name) && !memcmp(s + 1, escapes[i].name, n))
			return buf_append(out, escapes[i].text, 1) ? 0 : n + 2;
	}
	return put_unicode(out, s + 1, n) ? n + 2 : 0;
}

/* Writes an element. After an unknown escape it copies the rest as it is. */
static int put_element(struct buf *out, const char *s, size_t len)
{
	size_t used;

	/* the underscore before an escape only makes the identifier valid */
	if (len > 1 && s[0] == '_' && s[1] == '$')
		s++, len--;
	while (len) {
		used = 1;
		if (*s == '$') {
			used = put_escape(out, s, len);
			if (!used)
				return buf_append(out, s, len);
		} else if (*s == '.' && len > 1 && s[1] == '.') {
			used = 2;
			if (buf_append(out, "::", 2))
				return -1;
		} else if (buf_append(out, s, 1)) {
			return -1;
		}
		s += used;
		len -= used;
	}
	return 0;
}

/* Writes suffixes like ".cold", but not ".llvm.…", which link-time optimization adds. */
static bool put_suffix(struct buf *out, const char *s)
{
	const char *llvm = strstr(s, ".llvm.");
	size_t len = llvm ? (size_t)(llvm - s) : strlen(s);

	if (len && s[0] != '.')
		return false;
	return !buf_append(out, s, len);
}

char *demangle_rust_legacy(const char *name)
{
	struct buf out = {0};
	const char *p = name, *s;
	size_t len;

	if (strnlen(name, DEMANGLE_MAX) == DEMANGLE_MAX)
		return NULL;
	p += !strncmp(p, "__ZN", 4);
	if (strncmp(p, "_ZN", 3))
		return NULL;
	p += 3;
	while (element(&p, &s, &len)) {
		if (*p == 'E' && is_hash(s, len)) {
			if (!out.len || !put_suffix(&out, p + 1) || buf_zero(&out, 1))
				break;
			return (char *)out.data;
		}
		if (out.len && buf_append(&out, "::", 2))
			break;
		if (put_element(&out, s, len))
			break;
	}
	buf_release(&out);
	return NULL;
}
