// SPDX-License-Identifier: Apache-2.0
/*
 * Punycode against an encoder made from RFC 3492, its examples, and bad input; and UTF-8 of every
 * character.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "symbol/demangle/demangle_v0.h"

#define ENCODED_MAX 4096

/* RFC 3492, 6.1 */
static uint64_t adapt(uint64_t delta, uint64_t points, bool first)
{
	uint64_t k = 0;

	delta = first ? delta / 700 : delta / 2;
	delta += delta / points;
	for (; delta > 455; k += 36)
		delta /= 35;
	return k + 36 * delta / (delta + 38);
}

static size_t put_number(char *to, uint64_t q, uint64_t bias)
{
	static const char digits[] = "abcdefghijklmnopqrstuvwxyz0123456789";
	size_t n = 0;

	for (uint64_t k = 36;; k += 36) {
		uint64_t t = k <= bias ? 1 : k >= bias + 26 ? 26 : k - bias;

		if (q < t)
			break;
		to[n++] = digits[t + (q - t) % (36 - t)];
		q = (q - t) / (36 - t);
	}
	to[n++] = digits[q];
	return n;
}

/* RFC 3492, 6.3; with '_' as the delimiter. */
static size_t encode(const uint32_t *in, size_t len, char to[ENCODED_MAX])
{
	uint64_t n = 0x80, delta = 0, bias = 72;
	size_t out = 0, basic = 0, h;

	for (size_t i = 0; i < len; i++)
		if (in[i] < 0x80)
			to[out++] = (char)in[i];
	basic = h = out;
	if (basic)
		to[out++] = '_';
	while (h < len) {
		uint64_t m = UINT32_MAX;

		for (size_t i = 0; i < len; i++)
			if (in[i] >= n && in[i] < m)
				m = in[i];
		delta += (m - n) * (h + 1);
		n = m;
		for (size_t i = 0; i < len; i++) {
			delta += in[i] < n;
			if (in[i] != n)
				continue;
			out += put_number(to + out, delta, bias);
			bias = adapt(delta, h + 1, h == basic);
			delta = 0;
			h++;
		}
		delta++;
		n++;
	}
	return out;
}

static size_t decode(const char *s, uint32_t out[PUNYCODE_MAX])
{
	return punycode_decode(s, strlen(s), out);
}

static void test_examples(void **state)
{
	/* RFC 3492, 7.1 (B), (I) in lower case, (P), (S) */
	static const struct {
		const char *encoded;
		uint32_t text[40];
	} examples[] = {
		{"ihqwcrb4cv8a8dqg056pqjye",
		 {0x4ED6, 0x4EEC, 0x4E3A, 0x4EC0, 0x4E48, 0x4E0D, 0x8BF4, 0x4E2D, 0x6587}},
		{"porqunopuedensimplementehablarenespaol_fmd56a",
		 {'p', 'o', 'r', 'q', 'u', 0xE9, 'n', 'o', 'p', 'u',  'e', 'd', 'e', 'n',
		  's', 'i', 'm', 'p', 'l', 'e',	 'm', 'e', 'n', 't',  'e', 'h', 'a', 'b',
		  'l', 'a', 'r', 'e', 'n', 'e',	 's', 'p', 'a', 0xF1, 'o', 'l'}},
		{"d9juau41awczczp", {0x305D, 0x306E, 0x30B9, 0x30D4, 0x30FC, 0x30C9, 0x3067}},
		{"_", {0}},
		{"bcher_kva", {'b', 0xFC, 'c', 'h', 'e', 'r'}},
	};
	uint32_t out[PUNYCODE_MAX];

	for (size_t i = 0; i < sizeof(examples) / sizeof(examples[0]); i++) {
		size_t want = 0, n = decode(examples[i].encoded, out);

		while (want < 40 && examples[i].text[want])
			want++;
		assert_int_equal(n, want);
		assert_memory_equal(out, examples[i].text, n * sizeof(*out));
	}
}

static uint32_t random_char(void)
{
	static const uint32_t ends[] = {0x7f, 0xff, 0x800, 0x2fff, 0x10ffff};
	uint32_t c;

	do {
		c = 1 + (uint32_t)rand() % ends[rand() % 5];
	} while (!v0_valid_char(c));
	return c;
}

static void test_round_trips(void **state)
{
	uint32_t in[PUNYCODE_MAX], out[PUNYCODE_MAX];
	char text[ENCODED_MAX];

	srand(1);
	for (int i = 0; i < 2000; i++) {
		size_t len = 1 + (size_t)rand() % (i % 10 ? 20 : PUNYCODE_MAX), n;

		for (size_t k = 0; k < len; k++)
			in[k] = random_char();
		in[(size_t)rand() % len] = 0xe9; /* of ASCII alone, nobody makes punycode */
		n = encode(in, len, text);
		assert_int_equal(punycode_decode(text, n, out), len);
		assert_memory_equal(out, in, len * sizeof(*in));
		/* No part of it is read behind its end. */
		if (n > 1)
			punycode_decode(text, (size_t)rand() % n, out);
	}
}

static void test_bad_input(void **state)
{
	static const char *const bad[] = {
		"",	      "abc_",  /* no character beyond ASCII */
		"abc_A",	       /* upper case is no digit */
		"abc_-",      "abc_9", /* the number has no end */
		"abc_999999", "99999999999999", "abc_\xc3",
	};
	uint32_t in[PUNYCODE_MAX + 1], out[PUNYCODE_MAX];
	char text[ENCODED_MAX];
	size_t n;

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		assert_int_equal(decode(bad[i], out), 0);
	for (size_t i = 0; i <= PUNYCODE_MAX; i++)
		in[i] = 0x100 + (uint32_t)i % 7;
	n = encode(in, PUNYCODE_MAX, text);
	assert_int_equal(punycode_decode(text, n, out), PUNYCODE_MAX);
	n = encode(in, PUNYCODE_MAX + 1, text);
	assert_int_equal(punycode_decode(text, n, out), 0);
	in[0] = 0xd800; /* a surrogate */
	n = encode(in, 1, text);
	assert_int_equal(punycode_decode(text, n, out), 0);
	in[0] = 0x110000;
	n = encode(in, 1, text);
	assert_int_equal(punycode_decode(text, n, out), 0);
}

/* RFC 3629, 3 */
static void test_utf8(void **state)
{
	for (uint32_t c = 0; c <= 0x10ffff; c++) {
		char s[4];
		size_t n = rust_utf8_encode(c, s);
		uint32_t back = (uint8_t)s[0];

		assert_int_equal(n, c < 0x80 ? 1 : c < 0x800 ? 2 : c < 0x10000 ? 3 : 4);
		if (n > 1) {
			assert_int_equal(back >> (7 - n), (2u << n) - 2);
			back &= 0x7fu >> n;
		}
		for (size_t i = 1; i < n; i++) {
			assert_int_equal((uint8_t)s[i] >> 6, 2);
			back = back << 6 | ((uint8_t)s[i] & 0x3f);
		}
		assert_int_equal(back, c);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_examples),
		cmocka_unit_test(test_round_trips),
		cmocka_unit_test(test_bad_input),
		cmocka_unit_test(test_utf8),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
