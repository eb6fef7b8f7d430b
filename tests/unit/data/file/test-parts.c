// SPDX-License-Identifier: Apache-2.0
/*
 * The list of a directory's files: what is encoded is decoded in either byte order; one that is
 * truncated anywhere, or counts more files than it has, is refused.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "data/file/parts.h"

static void turn(struct buf *b)
{
	uint64_t word;

	for (size_t at = 0; at < b->len; at += sizeof(word)) {
		memcpy(&word, b->data + at, sizeof(word));
		word = __builtin_bswap64(word);
		memcpy(b->data + at, &word, sizeof(word));
	}
}

static void test_round_trip(void **state)
{
	struct part part[] = {{1, 2}, {UINT64_MAX, 0}, {1ull << 40, 77}, {3, 4}};

	(void)state;
	for (unsigned int i = 0; i < 16; i++) {
		const struct parts parts = {.complete = i & 1, .part = part, .nr = i / 4 + 1};
		bool swap = i & 2;
		struct buf b = {0};
		struct parts got;

		assert_int_equal(parts_encode(&parts, &b), 0);
		assert_int_equal(b.len % 8, 0);
		if (swap)
			turn(&b);
		assert_int_equal(parts_decode(b.data, b.len, swap, &got), 0);
		assert_int_equal(got.complete, parts.complete);
		assert_int_equal(got.nr, parts.nr);
		for (size_t n = 0; n < got.nr; n++) {
			assert_int_equal(got.part[n].bytes, part[n].bytes);
			assert_int_equal(got.part[n].records, part[n].records);
		}
		parts_release(&got);
		assert_null(got.part);
		/* of the other order it is none of ours */
		assert_int_equal(parts_decode(b.data, b.len, !swap, &got), -ENOENT);
		parts_release(&got);
		buf_release(&b);
	}
}

/* A directory of one file has a version that perf knows, and no list. */
static void test_one_file(void **state)
{
	const struct parts none = {.complete = true};
	struct buf b = {0};
	struct parts got;

	(void)state;
	assert_int_equal(parts_encode(&none, &b), 0);
	assert_int_equal(b.len, sizeof(uint64_t));
	assert_memory_equal(b.data, (const uint64_t[]){0}, sizeof(uint64_t));
	assert_int_equal(parts_decode(b.data, b.len, false, &got), -ENOENT);
	buf_release(&b);
}

static void test_truncated(void **state)
{
	struct part part[] = {{1, 2}, {3, 4}};
	const struct parts parts = {.part = part, .nr = 2};
	struct buf b = {0};
	struct parts got;

	(void)state;
	assert_int_equal(parts_encode(&parts, &b), 0);
	for (size_t len = 0; len < b.len; len++) {
		uint8_t *exact = malloc(len + !len);

		memcpy(exact, b.data, len);
		assert_int_equal(parts_decode(exact, len, false, &got),
				 len < 16 ? -ENOENT : -EBADMSG);
		assert_null(got.part);
		free(exact);
	}
	memset(b.data + 24, 0xff, 8); /* the count */
	assert_int_equal(parts_decode(b.data, b.len, false, &got), -EBADMSG);
	/* perf's own feature is a version alone */
	assert_int_equal(parts_decode((const uint8_t *)"\1\0\0\0\0\0\0\0", 8, false, &got),
			 -ENOENT);
	buf_release(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_round_trip),
		cmocka_unit_test(test_one_file),
		cmocka_unit_test(test_truncated),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
