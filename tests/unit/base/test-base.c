// SPDX-License-Identifier: Apache-2.0
/*
 * Tests the small modules of the floor: parse.c, buf.c, strpool.c, error.c, nearest.c, moment.h and
 * the digits of outbuf.h.
 */
#include <errno.h>
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "base/buf.h"
#include "base/error.h"
#include "base/moment.h"
#include "base/outbuf.h"
#include "base/parse.h"
#include "base/strpool.h"

static void sizes_parse_or_are_refused(void **unused)
{
	static const struct {
		const char *text;
		int rc;
		uint64_t value;
	} rows[] = {
		{"0", 0, 0},
		{"4096", 0, 4096},
		{"8K", 0, 8192},
		{"8k", 0, 8192},
		{"1M", 0, 1 << 20},
		{"2G", 0, 2ULL << 30},
		{"7B", 0, 7},
		{"0x10", 0, 16},
		{"", -EINVAL, 0},
		{"-1", -EINVAL, 0},
		{" 1", -EINVAL, 0},
		{"3T", 0, 3ULL << 40},
		{"1KB", -EINVAL, 0},
		{"1P", -EINVAL, 0},
		{"99999999999G", -ERANGE, 0},
		{"16777216T", -ERANGE, 0},
		{"99999999999999999999", -ERANGE, 0},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		uint64_t v = 42;

		assert_int_equal(parse_size(rows[i].text, &v), rows[i].rc);
		assert_int_equal(v, rows[i].rc ? 42 : rows[i].value);
	}
}

static void times_have_units(void **unused)
{
	static const struct {
		const char *text;
		int rc;
		uint64_t value;
	} rows[] = {
		{"0ns", 0, 0},
		{"17us", 0, 17000},
		{"3ms", 0, 3000000},
		{"2s", 0, 2000000000},
		{"1m", 0, 60ull * 1000000000},
		{"0x10s", 0, 16000000000},
		{"1d", 0, 86400ull * 1000000000},
		{"1h", 0, 3600ull * 1000000000},
		{"5", -EINVAL, 0},
		{"", -EINVAL, 0},
		{"s", -EINVAL, 0},
		{"1.5s", -EINVAL, 0},
		{"-1s", -EINVAL, 0},
		{"1 s", -EINVAL, 0},
		{"1ss", -EINVAL, 0},
		{"300000d", -ERANGE, 0},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		uint64_t v = 42;

		assert_int_equal(parse_time(rows[i].text, &v), rows[i].rc);
		if (!rows[i].rc)
			assert_int_equal(v, rows[i].value);
	}
}

static void buffer_keeps_bytes_while_growing(void **unused)
{
	struct buf b = {0};

	for (unsigned int i = 0; i < 10000; i++) {
		uint8_t byte = (uint8_t)(i * 7);

		assert_int_equal(buf_append(&b, &byte, 1), 0);
		assert_int_equal(b.len, i + 1);
		assert_int_equal(b.data[i / 2], (uint8_t)(i / 2 * 7));
	}
	assert_int_equal(buf_reserve(&b, SIZE_MAX), -ENOMEM);
	assert_int_equal(b.len, 10000);
	assert_int_equal(buf_printf(&b, "%s-%d", "x", 5), 0);
	assert_memory_equal(b.data + 10000, "x-5", 3);
	buf_release(&b);
	assert_null(b.data);
}

static void what_threads_write_is_apart(void **unused)
{
	for (size_t nr = 0; nr < 300; nr += 7) {
		uint8_t *p = calloc_apart(nr, 3), *q = calloc_apart(nr, 3);

		assert_non_null(p);
		assert_non_null(q);
		assert_int_equal((uintptr_t)p % APART, 0);
		assert_true(q >= p + 3 * nr || p >= q + 3 * nr);
		for (size_t i = 0; i < 3 * nr; i++)
			assert_int_equal(p[i], 0);
		free(p);
		free(q);
	}
	assert_null(calloc_apart(SIZE_MAX, 1));
	assert_null(calloc_apart(SIZE_MAX / 2, 3));
}

static void digits_are_those_of_printf(void **unused)
{
	for (unsigned int i = 0; i < 64 * 200; i++) {
		uint64_t v = ((uint64_t)rand() << 33 ^ (uint64_t)rand() << 11 ^ (uint64_t)rand()) >>
			     i % 64;
		size_t n = i % 10;
		char want[32], got[32] = "", *end = got + 24;
		uint64_t unit = 1;

		for (size_t k = 0; k < n; k++)
			unit *= 10;
		snprintf(want, sizeof(want), "%" PRIu64, v);
		assert_string_equal(decimal_before(end, v), want);
		snprintf(want, sizeof(want), "%0*" PRIu64, (int)n, v % unit);
		memset(got, 0, sizeof(got));
		decimal_digits(got, v, n);
		assert_string_equal(got, n ? want : "");
		snprintf(want, sizeof(want), "%08" PRIx32, (uint32_t)v);
		memset(got, 0, sizeof(got));
		hex_eight(got, (uint32_t)v);
		assert_string_equal(got, want);
		assert_int_equal(hex_length(v), snprintf(want, sizeof(want), "%" PRIx64, v));
	}
}

static void interned_strings_are_one(void **unused)
{
	struct strpool *pool = strpool_new();
	const char *a = strpool_intern(pool, "libc.so.6");

	assert_ptr_equal(a, strpool_intern_len(pool, "libc.so.6xyz", 9));
	assert_ptr_not_equal(a, strpool_intern(pool, "libc.so"));
	assert_string_equal(strpool_intern(pool, ""), "");
	strpool_free(pool);
	strpool_free(NULL);
}

static void error_text_never_overflows(void **unused)
{
	struct error err = ERROR_INIT;
	char large[2000];

	memset(large, 'x', sizeof(large) - 1);
	large[sizeof(large) - 1] = '\0';
	assert_int_equal(error_at(&err, -EBADMSG, large, 1, "%s", large), -EBADMSG);
	assert_int_equal(strlen(err.text), sizeof(err.text) - 1);
	assert_int_equal(error_sys(&err, -ENAMETOOLONG, "%s", large), -ENAMETOOLONG);
	assert_int_equal(strlen(err.text), sizeof(err.text) - 1);
	assert_non_null(strstr(err.text, "xxx...: File name too long"));
	assert_int_equal(error_sys(&err, -ENOENT, "open %s", "f"), -ENOENT);
	assert_string_equal(err.text, "open f: No such file or directory");
	assert_int_equal(error_prefix(&err, "a: "), -ENOENT);
	assert_string_equal(err.text, "a: open f: No such file or directory");
	assert_int_equal(error_set(NULL, -EIO, "nobody listens"), -EIO);
}

static void distance_finds_neighbours(void **unused)
{
	assert_int_equal(parse_distance("cycles", "cycles"), 0);
	assert_int_equal(parse_distance("cycels", "cycles"), 1); /* two neighbours are swapped */
	assert_int_equal(parse_distance("cylcse", "cycles"), 2);
	assert_int_equal(parse_distance("smy", "sym"), 1);
	assert_int_equal(parse_distance("Cycle", "cycles"), 1);
	assert_int_equal(parse_distance("", "abc"), 3);
}

static void moments_order_by_time_then_place(void **unused)
{
	assert_true(moment_before((struct moment){1, 9}, (struct moment){2, 0}));
	assert_true(moment_before((struct moment){2, 0}, (struct moment){2, 1}));
	assert_false(moment_before((struct moment){2, 1}, (struct moment){2, 1}));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sizes_parse_or_are_refused),
		cmocka_unit_test(times_have_units),
		cmocka_unit_test(buffer_keeps_bytes_while_growing),
		cmocka_unit_test(what_threads_write_is_apart),
		cmocka_unit_test(digits_are_those_of_printf),
		cmocka_unit_test(interned_strings_are_one),
		cmocka_unit_test(error_text_never_overflows),
		cmocka_unit_test(distance_finds_neighbours),
		cmocka_unit_test(moments_order_by_time_then_place),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
