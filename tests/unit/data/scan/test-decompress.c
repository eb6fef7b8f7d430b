// SPDX-License-Identifier: Apache-2.0
/*
 * Random bytes through zstd into containers, in every shape that recorders write, and out of an
 * inflater in pieces of any size. Each byte is the one that went in, at the place of its container.
 * Then containers that are no zstd streams, or expand without end.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <zstd.h>

#include "base/buf.h"
#include "data/scan/decompress.h"

#define CONTAINERS 60
#define CHUNK_MAX  (300u << 10)

/* Bytes in containers; of each, what it expands to. */
struct stream {
	struct buf plain, packed;
	size_t plain_end[CONTAINERS], packed_end[CONTAINERS];
};

static void add_plain(struct buf *b, size_t len)
{
	size_t end = b->len + len;
	unsigned char byte = 0;

	while (b->len < end) {
		byte = rand() % 9 ? byte : (unsigned char)rand();
		assert_int_equal(buf_append(b, &byte, 1), 0);
	}
}

static void pack(ZSTD_CCtx *ctx, struct buf *to, const void *p, size_t len, ZSTD_EndDirective how)
{
	ZSTD_inBuffer in = {p, len, 0};
	size_t left;

	do {
		ZSTD_outBuffer out;

		assert_int_equal(buf_reserve(to, 1 << 16), 0);
		out = (ZSTD_outBuffer){to->data + to->len, 1 << 16, 0};
		left = ZSTD_compressStream2(ctx, &out, &in, how);
		assert_false(ZSTD_isError(left));
		to->len += out.pos;
	} while (left);
}

/*
 * Makes containers. A frame ends behind @per of them: 1 is a frame for each. Its parts are flushed,
 * so that each container expands to its own bytes.
 */
static void make(struct stream *s, unsigned int per, size_t chunk)
{
	ZSTD_CCtx *ctx = ZSTD_createCCtx();

	*s = (struct stream){0};
	assert_non_null(ctx);
	for (unsigned int i = 0; i < CONTAINERS; i++) {
		size_t at = s->plain.len;

		add_plain(&s->plain, 1 + (size_t)rand() % (i % 20 ? chunk : CHUNK_MAX));
		pack(ctx, &s->packed, s->plain.data + at, s->plain.len - at,
		     i % per == per - 1 || i == CONTAINERS - 1 ? ZSTD_e_end : ZSTD_e_flush);
		s->plain_end[i] = s->plain.len;
		s->packed_end[i] = s->packed.len;
	}
	ZSTD_freeCCtx(ctx);
}

static void stream_release(struct stream *s)
{
	buf_release(&s->plain);
	buf_release(&s->packed);
}

/* The inflater shows the stream's bytes from @at on, and where they come from. */
static void check(const struct inflater *z, const struct stream *s, size_t at)
{
	uint64_t offset, inner;
	size_t len, i = 0;
	const uint8_t *p = inflater_peek(z, &len);

	if (!len)
		return;
	assert_true(at + len <= s->plain.len);
	assert_memory_equal(p, s->plain.data + at, len);
	while (s->plain_end[i] <= at)
		i++;
	inflater_place(z, &offset, &inner);
	assert_int_equal(offset, i ? s->packed_end[i - 1] : 0);
	assert_int_equal(inner, at - (i ? s->plain_end[i - 1] : 0));
}

static void consume(struct inflater *z, const struct stream *s, size_t *at, size_t leave)
{
	size_t len;

	check(z, s, *at);
	inflater_peek(z, &len);
	while (len > leave) {
		size_t n = 1 + (size_t)rand() % (len - leave);

		inflater_consume(z, n);
		*at += n;
		check(z, s, *at);
		inflater_peek(z, &len);
	}
}

/* Leaves up to @most bytes of each container before the next, as of a record that is split. */
static void check_stream(unsigned int per, size_t chunk, size_t most)
{
	struct inflater *z = inflater_new();
	const char *why;
	struct stream s;
	size_t at = 0;

	assert_non_null(z);
	assert_true(inflater_is_fresh(z));
	make(&s, per, chunk);
	for (unsigned int i = 0; i < CONTAINERS; i++) {
		size_t from = i ? s.packed_end[i - 1] : 0;
		size_t bytes = s.plain_end[i] - (i ? s.plain_end[i - 1] : 0);
		size_t leave = bytes - 1 < most ? bytes - 1 : most;

		inflater_input(z, s.packed.data + from, s.packed_end[i] - from, from);
		while (inflater_fill(z, &why))
			consume(z, &s, &at, leave);
		assert_true(s.plain_end[i] - at <= leave);
	}
	consume(z, &s, &at, 0);
	assert_int_equal(at, s.plain.len);
	assert_true(inflater_is_fresh(z));
	inflater_free(z);
	stream_release(&s);
}

static void test_streams(void **state)
{
	static const unsigned int per[] = {1, 2, 7, CONTAINERS};

	srand(1);
	for (size_t i = 0; i < sizeof(per) / sizeof(per[0]); i++) {
		check_stream(per[i], 5000, 0);
		check_stream(per[i], 200, 65535);
		check_stream(per[i], 100000, 8000);
	}
	inflater_free(NULL);
}

/* Behind a container that is bad, or that is left out, the next frame is read. */
static void test_damage(void **state)
{
	static const uint8_t garbage[] = "no zstd frame at all",
			     legacy[] = {0x25, 0xb5, 0x2f, 0xfd, 0, 0, 0, 0, 0, 0, 0, 0};
	struct inflater *z = inflater_new();
	const char *why = NULL;
	struct stream s;
	size_t len;

	srand(2);
	make(&s, 1, 5000);
	for (int i = 0; i < 3; i++) {
		inflater_input(z, s.packed.data, s.packed_end[0] / 2, 0);
		if (i == 0)
			inflater_drop(z);
		if (i == 1)
			inflater_reset(z);
		inflater_peek(z, &len);
		assert_int_equal(len, 0);
		inflater_input(z, i ? legacy : garbage, i ? sizeof(legacy) : sizeof(garbage), 99);
		while (inflater_fill(z, &why) == 1)
			;
		assert_non_null(why);
		inflater_peek(z, &len);
		assert_int_equal(len, 0);
		inflater_input(z, s.packed.data, s.packed_end[0], 0);
		assert_int_equal(inflater_fill(z, &why), 1);
		check(z, &s, 0);
		inflater_reset(z);
		assert_true(inflater_is_fresh(z));
	}
	inflater_free(z);
	stream_release(&s);
}

static int fill_all(struct inflater *z, uint64_t *ret_bytes, const char **ret_why)
{
	size_t len;
	int rc;

	for (*ret_bytes = 0; (rc = inflater_fill(z, ret_why)) == 1; *ret_bytes += len) {
		inflater_peek(z, &len);
		inflater_consume(z, len);
	}
	return rc;
}

/* A container of zeros: 64 MB come out of it, whatever it expands to. */
static void test_bomb(void **state)
{
	struct inflater *z = inflater_new();
	ZSTD_CCtx *ctx = ZSTD_createCCtx();
	const char *why = NULL;
	struct buf bomb = {0};
	size_t size = 1 << 20;
	void *zeros = calloc(1, size);
	uint64_t bytes;

	assert_non_null(zeros);
	for (int i = 0; i < 80; i++)
		pack(ctx, &bomb, zeros, size, i == 79 ? ZSTD_e_end : ZSTD_e_continue);
	inflater_input(z, bomb.data, bomb.len, 0);
	assert_int_equal(fill_all(z, &bytes, &why), -EBADMSG);
	assert_non_null(strstr(why, "more than 64 MB"));
	assert_true(bytes <= 64u << 20);
	assert_true(bytes >= 63u << 20);
	/* A smaller one behind it is whole. */
	bomb.len = 0;
	pack(ctx, &bomb, zeros, size, ZSTD_e_end);
	inflater_input(z, bomb.data, bomb.len, 0);
	assert_int_equal(fill_all(z, &bytes, &why), 0);
	assert_int_equal(bytes, size);
	free(zeros);
	buf_release(&bomb);
	ZSTD_freeCCtx(ctx);
	inflater_free(z);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_streams),
		cmocka_unit_test(test_damage),
		cmocka_unit_test(test_bomb),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
