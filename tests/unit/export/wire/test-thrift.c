// SPDX-License-Identifier: Apache-2.0
/* Structs have the bytes that the specification of the compact protocol gives. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>

#include "export/wire/thrift.h"

static void check(struct thrift *t, const void *bytes, size_t n)
{
	assert_int_equal(t->bytes.rc, 0);
	assert_int_equal(t->bytes.b.len, n);
	assert_memory_equal(t->bytes.b.data, bytes, n);
	assert_int_equal(t->depth, 0);
	proto_release(&t->bytes);
	*t = (struct thrift){0};
}

/* The head of a field holds how far its number is from the one before. */
static void test_fields(void **state)
{
	struct thrift t = {0};

	thrift_int(&t, 1, THRIFT_I32, 1);
	thrift_int(&t, 3, THRIFT_I64, -1);
	thrift_string(&t, 4, "ab");
	thrift_int(&t, 5, THRIFT_I64, 300);
	thrift_end(&t);
	check(&t,
	      "\x15\x02\x26\x01\x18\x02"
	      "ab"
	      "\x16\xd8\x04\x00",
	      12);
}

/* A struct counts its fields from 0, and the one around goes on. */
static void test_structs(void **state)
{
	struct thrift t = {0};

	thrift_begin(&t, 7);
	thrift_int(&t, 1, THRIFT_I32, 0);
	thrift_begin(&t, 2);
	thrift_end(&t);
	thrift_end(&t);
	thrift_int(&t, 8, THRIFT_I32, 1);
	thrift_end(&t);
	check(&t, "\x7c\x15\x00\x1c\x00\x00\x15\x02\x00", 9);
}

static void test_lists(void **state)
{
	struct thrift t = {0};
	char many[20] = "\x19\xf5\x0f";

	thrift_list(&t, 1, THRIFT_STRING, 2);
	thrift_item_string(&t, "a");
	thrift_item_string(&t, "");
	thrift_list(&t, 2, THRIFT_STRUCT, 1);
	thrift_item_begin(&t);
	thrift_int(&t, 1, THRIFT_I32, -2);
	thrift_end(&t);
	thrift_end(&t);
	check(&t,
	      "\x19\x28\x01"
	      "a"
	      "\x00\x19\x1c\x15\x03\x00\x00",
	      11);
	thrift_list(&t, 1, THRIFT_I32, 15);
	for (int i = 0; i < 15; i++) {
		thrift_item_int(&t, i);
		many[3 + i] = (char)(2 * i);
	}
	thrift_end(&t);
	check(&t, many, 19);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_fields),
		cmocka_unit_test(test_structs),
		cmocka_unit_test(test_lists),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
