// SPDX-License-Identifier: Apache-2.0
/* A recording's own table of symbols survives encoding; damage costs no more than its object. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "perfdata/symbols/symbols.h"

static const uint8_t id[PD_BUILD_ID_MAX] = {0xab, 0xcd};

static void put_function(struct buf *b, uint64_t *last, uint64_t start, uint64_t size,
			 const char *name)
{
	struct pd_symbols_function f = {start, size, name, strlen(name)};

	assert_int_equal(pd_symbols_put_function(b, last, &f), 0);
}

/* A kernel with two functions, and a file with one. Returns where the second object begins. */
static size_t make_table(struct buf *b)
{
	struct pd_symbols_object kernel = {.kind = PD_SYMBOLS_KERNEL,
					   .name = "[kernel.kallsyms]",
					   .name_len = strlen("[kernel.kallsyms]")},
				 file = {.kind = PD_SYMBOLS_FILE,
					 .build_id = id,
					 .build_id_size = sizeof(id),
					 .name = "/bin/a",
					 .name_len = strlen("/bin/a")};
	struct buf f = {0};
	uint64_t last = 0;
	size_t second;

	assert_int_equal(pd_symbols_begin(b, 1000), 0);
	put_function(&f, &last, 0xffffffff81000000, 64, "_stext");
	put_function(&f, &last, UINT64_MAX - 1, 1, "last");
	kernel.functions = f.data;
	kernel.functions_len = f.len;
	assert_int_equal(pd_symbols_put_object(b, &kernel), 0);
	second = b->len;
	f.len = 0;
	last = 0;
	put_function(&f, &last, 0x1139, 0x20, "_ZN1a1bEv@plt");
	file.functions = f.data;
	file.functions_len = f.len;
	assert_int_equal(pd_symbols_put_object(b, &file), 0);
	buf_release(&f);
	return second;
}

static void assert_function(struct pd_symbols_cursor *c, uint64_t start, uint64_t size,
			    const char *name)
{
	struct pd_symbols_function f;

	assert_int_equal(pd_symbols_next_function(c, &f), 1);
	assert_int_equal(f.start, start);
	assert_int_equal(f.size, size);
	assert_int_equal(f.name_len, strlen(name));
	assert_memory_equal(f.name, name, f.name_len);
}

static void test_round_trip(void **state)
{
	struct pd_symbols_cursor c, f;
	struct pd_symbols_function end;
	struct pd_symbols_object o;
	struct buf b = {0};
	uint64_t left_out;

	make_table(&b);
	assert_int_equal(pd_symbols_open(b.data, b.len, &c, &left_out), 0);
	assert_int_equal(left_out, 1000);
	assert_int_equal(pd_symbols_next_object(&c, &o), 1);
	assert_int_equal(o.kind, PD_SYMBOLS_KERNEL);
	assert_int_equal(o.build_id_size, 0);
	assert_memory_equal(o.name, "[kernel.kallsyms]", o.name_len);
	pd_symbols_functions(&o, &f);
	assert_function(&f, 0xffffffff81000000, 64, "_stext");
	assert_function(&f, UINT64_MAX - 1, 1, "last");
	assert_int_equal(pd_symbols_next_function(&f, &end), 0);
	assert_int_equal(pd_symbols_next_object(&c, &o), 1);
	assert_int_equal(o.kind, PD_SYMBOLS_FILE);
	assert_memory_equal(o.build_id, id, sizeof(id));
	pd_symbols_functions(&o, &f);
	assert_function(&f, 0x1139, 0x20, "_ZN1a1bEv@plt");
	assert_int_equal(pd_symbols_next_object(&c, &o), 0);
	buf_release(&b);
}

/* Reads all of it, whatever it is. Returns the number of objects. */
static size_t read_all(const uint8_t *p, size_t len)
{
	struct pd_symbols_cursor c, f;
	struct pd_symbols_function function;
	struct pd_symbols_object o;
	uint64_t left_out;
	size_t nr = 0;

	if (pd_symbols_open(p, len, &c, &left_out))
		return 0;
	for (; pd_symbols_next_object(&c, &o) > 0; nr++) {
		uint64_t last = 0;

		assert_true(o.build_id_size <= PD_BUILD_ID_MAX);
		pd_symbols_functions(&o, &f);
		while (pd_symbols_next_function(&f, &function) > 0) {
			assert_true(function.start >= last && function.name_len);
			assert_true(function.start + function.size > function.start);
			last = function.start;
		}
	}
	return nr;
}

static void test_truncated(void **state)
{
	struct buf b = {0};
	size_t second = make_table(&b);

	for (size_t len = 0; len <= b.len; len++) {
		uint8_t *copy = malloc(len + 1);

		memcpy(copy, b.data, len);
		assert_int_equal(read_all(copy, len), (len >= second) + (len == b.len));
		free(copy);
	}
	buf_release(&b);
}

static void test_damaged(void **state)
{
	struct buf b = {0};

	make_table(&b);
	for (size_t i = 0; i < b.len; i++) {
		for (unsigned int bit = 0; bit < 8; bit++) {
			b.data[i] ^= (uint8_t)(1u << bit);
			read_all(b.data, b.len);
			b.data[i] ^= (uint8_t)(1u << bit);
		}
	}
	/* a number of more than 64 bits */
	memset(b.data + strlen("RTSYMS01"), 0xff, 12);
	assert_int_equal(read_all(b.data, b.len), 0);
	buf_release(&b);
}

static void test_records(void **state)
{
	const size_t len = PD_SYMBOLS_PIECE + 5;
	uint8_t *table = malloc(len);
	struct perf_event_header hdr;
	uint64_t words[3];
	size_t at = 0;

	memset(table, 7, len);
	for (int swap = 0; swap < 2; swap++) {
		struct buf b = {0};

		assert_int_equal(pd_symbols_put_records(&b, table, len, swap), 0);
		for (at = 0; at < len; at += PD_SYMBOLS_PIECE) {
			const uint8_t *p = b.data + (at ? PD_SYMBOLS_PIECE + 32 : 0);

			memcpy(&hdr, p, sizeof(hdr));
			memcpy(words, p + sizeof(hdr), sizeof(words));
			for (int i = 0; swap && i < 3; i++)
				words[i] = __builtin_bswap64(words[i]);
			assert_int_equal(words[0], PD_SYMBOLS_MAGIC);
			assert_int_equal(words[1], at);
			assert_int_equal(words[2], len);
			if (swap)
				hdr.size = __builtin_bswap16(hdr.size);
			assert_int_equal(hdr.size, at ? PD_PASSED_OVER_MIN : PD_SYMBOLS_PIECE + 32);
		}
		assert_int_equal(b.len, PD_SYMBOLS_PIECE + 32 + PD_PASSED_OVER_MIN);
		buf_release(&b);
	}
	free(table);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_round_trip),
		cmocka_unit_test(test_truncated),
		cmocka_unit_test(test_damaged),
		cmocka_unit_test(test_records),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
