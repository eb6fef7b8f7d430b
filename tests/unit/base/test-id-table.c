// SPDX-License-Identifier: Apache-2.0
/* Tables of ids: each id has the number put last, or its index in the order of adding. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>

#include "base/id_table.h"

#define IDS 5000u

/* As kernels, processes and hostile files choose them: in a row, far apart, 0 and the highest. */
static uint64_t id_of(uint32_t i)
{
	if (i == 1)
		return UINT64_MAX;
	return i % 2 ? (uint64_t)i << 40 : i;
}

static void test_empty(void **state)
{
	struct id_table t = {0};

	assert_int_equal(id_table_find(&t, 0), ID_TABLE_NONE);
	assert_int_equal(id_table_count(&t), 0);
	assert_int_equal(id_table_memory(&t), 0);
	id_table_release(&t);
}

static void test_add(void **state)
{
	struct id_table t = {0};

	for (uint32_t i = 0; i < IDS; i++) {
		assert_int_equal(id_table_find(&t, id_of(i)), ID_TABLE_NONE);
		assert_int_equal(id_table_add(&t, id_of(i)), i);
		assert_int_equal(id_table_add(&t, id_of(i / 2)), i / 2);
		assert_int_equal(id_table_count(&t), i + 1);
	}
	for (uint32_t i = 0; i < IDS; i++)
		assert_int_equal(id_table_find(&t, id_of(i)), i);
	assert_true(id_table_memory(&t) >= IDS * sizeof(uint64_t));
	id_table_release(&t);
	assert_int_equal(id_table_find(&t, 0), ID_TABLE_NONE);
}

static void test_put(void **state)
{
	struct id_table t = {0};

	for (uint32_t i = 0; i < IDS; i++)
		assert_int_equal(id_table_put(&t, id_of(i), i % 7), 0);
	for (uint32_t i = 0; i < IDS; i += 2)
		assert_int_equal(id_table_put(&t, id_of(i), 1000 + i), 0);
	assert_int_equal(id_table_count(&t), IDS);
	for (uint32_t i = 0; i < IDS; i++)
		assert_int_equal(id_table_find(&t, id_of(i)), i % 2 ? i % 7 : 1000 + i);
	id_table_release(&t);
}

static void test_reserve(void **state)
{
	struct id_table t = {0};
	size_t memory;

	assert_int_equal(id_table_reserve(&t, IDS), 0);
	memory = id_table_memory(&t);
	for (uint32_t i = 0; i < IDS; i++)
		assert_int_equal(id_table_put(&t, id_of(i), i), 0);
	assert_int_equal(id_table_memory(&t), memory);
	assert_int_equal(id_table_reserve(&t, SIZE_MAX), -ENOMEM);
	for (uint32_t i = 0; i < IDS; i++)
		assert_int_equal(id_table_find(&t, id_of(i)), i);
	id_table_release(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_empty),
		cmocka_unit_test(test_add),
		cmocka_unit_test(test_put),
		cmocka_unit_test(test_reserve),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
