// SPDX-License-Identifier: Apache-2.0
/* Messages have the bytes that the encoding's documentation gives, nested ones of any size, too. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "export/wire/proto.h"

static void check(struct proto *p, const void *bytes, size_t n)
{
	assert_int_equal(p->rc, 0);
	assert_int_equal(p->b.len, n);
	assert_memory_equal(p->b.data, bytes, n);
	p->b.len = 0;
}

/* The examples of protobuf.dev/programming-guides/encoding. */
static void test_documented(void **state)
{
	struct proto p = {0};
	size_t at;

	proto_uint(&p, 1, 150);
	check(&p, "\x08\x96\x01", 3);
	proto_bytes(&p, 2, "testing", 7);
	check(&p, "\x12\x07testing", 9);
	at = proto_begin(&p, 3);
	proto_uint(&p, 1, 150);
	proto_end(&p, at);
	check(&p, "\x1a\x03\x08\x96\x01", 5);
	at = proto_begin(&p, 6);
	proto_varint(&p, 3);
	proto_varint(&p, 270);
	proto_varint(&p, 86942);
	proto_end(&p, at);
	check(&p, "\x32\x06\x03\x8e\x02\x9e\xa7\x05", 8);
	proto_uint(&p, 16, UINT64_MAX);
	check(&p, "\x80\x01\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", 12);
	proto_uint(&p, 1, 0);
	assert_int_equal(p.b.len, 0);
	proto_set(&p, 1, 0);
	check(&p, "\x08\x00", 2);
	proto_fixed64(&p, 1, 0x0102030405060708);
	check(&p, "\x09\x08\x07\x06\x05\x04\x03\x02\x01", 9);
	proto_bytes(&p, 1, "", 0);
	check(&p, "\x0a\x00", 2);
	proto_length(&p, 3, 300);
	check(&p, "\x1a\xac\x02", 3);
	proto_release(&p);
}

/* Lengths of all sizes stand before what they count. */
static void test_nested(void **state)
{
	static uint8_t bytes[70000];

	for (size_t n = 0; n < sizeof(bytes); n = n * 3 + 1) {
		struct proto p = {0};
		size_t outer = proto_begin(&p, 1), inner = proto_begin(&p, 2), at = 0, len = 0;
		uint64_t lens[2] = {0};

		proto_bytes(&p, 3, bytes, n);
		len = p.b.len - inner;
		proto_end(&p, inner);
		proto_end(&p, outer);
		for (int i = 0; i < 2; i++) {
			assert_int_equal(p.b.data[at++], (i + 1) << 3 | 2);
			for (int shift = 0;; shift += 7) {
				lens[i] |= (uint64_t)(p.b.data[at] & 0x7f) << shift;
				if (!(p.b.data[at++] & 0x80))
					break;
			}
			assert_int_equal(lens[i], p.b.len - at);
		}
		assert_int_equal(lens[1], len);
		proto_release(&p);
	}
}

static void test_write(void **state)
{
	struct proto p = {0};
	char *bytes = NULL;
	size_t len;
	struct out o = {.f = open_memstream(&bytes, &len)};

	proto_uint(&p, 1, 1);
	assert_int_equal(proto_write(&p, &o), 0);
	assert_int_equal(proto_write(&p, &o), 0);
	proto_uint(&p, 1, 2);
	assert_int_equal(proto_write(&p, &o), 0);
	out_flush(&o);
	assert_int_equal(len, 4);
	assert_memory_equal(bytes, "\x08\x01\x08\x02", 4);
	fclose(o.f);
	free(bytes);
	proto_release(&p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_documented),
		cmocka_unit_test(test_nested),
		cmocka_unit_test(test_write),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
