// SPDX-License-Identifier: Apache-2.0
/*
 * Decodes identifiers with characters beyond ASCII: punycode (RFC 3492) with '_' for '-', as in
 * Rust's v0 names.
 */
#include "symbol/demangle/demangle_v0.h"

#include <string.h>

bool v0_valid_char(uint32_t c)
{
	return c <= 0x10ffff && (c < 0xd800 || c > 0xdfff);
}

/* RFC 3492, 6.1 */
static uint32_t puny_adapt(uint32_t delta, uint32_t points, bool first)
{
	uint32_t k = 0;

	delta /= first ? 700 : 2;
	delta += delta / points;
	while (delta > (36 - 1) * 26 / 2) {
		delta /= 36 - 1;
		k += 36;
	}
	return k + 36 * delta / (delta + 38);
}

/* Reads one generalized variable-length integer (RFC 3492, 3.3). Returns false on bad input. */
static bool puny_delta(const char *s, size_t len, size_t *pos, uint32_t bias, uint32_t *ret)
{
	uint32_t delta = 0, w = 1, k = 0, t, digit;

	do {
		if (*pos >= len)
			return false;
		if (s[*pos] >= 'a' && s[*pos] <= 'z')
			digit = (uint32_t)(s[*pos] - 'a');
		else if (s[*pos] >= '0' && s[*pos] <= '9')
			digit = 26 + (uint32_t)(s[*pos] - '0');
		else
			return false;
		(*pos)++;
		k += 36;
		t = k <= bias ? 1 : k >= bias + 26 ? 26 : k - bias;
		if (digit > (UINT32_MAX - delta) / w)
			return false;
		delta += digit * w;
		if (w > UINT32_MAX / (36 - t))
			return false;
		w *= 36 - t;
	} while (digit >= t);
	*ret = delta;
	return true;
}

size_t punycode_decode(const char *s, size_t len, uint32_t out[PUNYCODE_MAX])
{
	const char *sep = memrchr(s, '_', len);
	size_t basic = sep ? (size_t)(sep - s) : 0, pos = sep ? basic + 1 : 0, n = 0;
	uint32_t c = 0x80, i = 0, bias = 72, delta;
	bool first = true;

	if (basic > PUNYCODE_MAX || pos >= len)
		return 0;
	for (; n < basic; n++)
		out[n] = (uint8_t)s[n];
	while (pos < len) {
		if (n == PUNYCODE_MAX || !puny_delta(s, len, &pos, bias, &delta) ||
		    __builtin_add_overflow(i, delta, &i))
			return 0;
		n++;
		bias = puny_adapt(delta, (uint32_t)n, first);
		first = false;
		if (__builtin_add_overflow(c, i / (uint32_t)n, &c) || !v0_valid_char(c))
			return 0;
		i %= (uint32_t)n;
		memmove(out + i + 1, out + i, (n - 1 - i) * sizeof(*out));
		out[i++] = c;
	}
	return n;
}

size_t rust_utf8_encode(uint32_t c, char ret[4])
{
	size_t n = 0;

	if (c < 0x80) {
		ret[n++] = (char)c;
		return n;
	}
	if (c < 0x800) {
		ret[n++] = (char)(0xc0 | c >> 6);
	} else if (c < 0x10000) {
		ret[n++] = (char)(0xe0 | c >> 12);
		ret[n++] = (char)(0x80 | (c >> 6 & 0x3f));
	} else {
		ret[n++] = (char)(0xf0 | c >> 18);
		ret[n++] = (char)(0x80 | (c >> 12 & 0x3f));
		ret[n++] = (char)(0x80 | (c >> 6 & 0x3f));
	}
	ret[n++] = (char)(0x80 | (c & 0x3f));
	return n;
}
