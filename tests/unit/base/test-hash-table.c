// SPDX-License-Identifier: Apache-2.0
/* Hash tables: each entry is found by its own key only, whatever the hashes are. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <stdlib.h>

#include "base/hash.h"
#include "base/hash_table.h"

#define KEYS 3000u

static uint64_t keys[KEYS];

static bool same(const void *entries, uint32_t number, const void *key)
{
	return ((const uint64_t *)entries)[number] == *(const uint64_t *)key;
}

/* From the best to the worst: all bits differ; few; none. */
static uint64_t hash_good(uint64_t key)
{
	return hash_word(1, key);
}

static uint64_t hash_poor(uint64_t key)
{
	return key & 0xff;
}

static uint64_t hash_high(uint64_t key)
{
	return key << 32;
}

static uint32_t find(const struct hash_table *t, uint64_t (*hash)(uint64_t), uint64_t key)
{
	return hash_table_find(t, hash(key), same, keys, &key);
}

static void check(const struct hash_table *t, uint64_t (*hash)(uint64_t), uint32_t nr)
{
	assert_int_equal(t->nr, nr);
	assert_true(2 * hash_table_size(t) >= 3 * (size_t)nr);
	for (uint32_t i = 0; i < nr; i++)
		assert_int_equal(find(t, hash, keys[i]), i);
	for (uint32_t i = nr; i < KEYS && i < nr + 10; i++)
		assert_int_equal(find(t, hash, keys[i]), HASH_TABLE_NONE);
}

static void fill(struct hash_table *t, uint64_t (*hash)(uint64_t), uint32_t nr)
{
	for (uint32_t i = 0; i < nr; i++) {
		assert_int_equal(find(t, hash, keys[i]), HASH_TABLE_NONE);
		assert_int_equal(hash_table_reserve(t, 1), 0);
		hash_table_add(t, hash(keys[i]), i);
		if (i % 97 == 0)
			check(t, hash, i + 1);
	}
	check(t, hash, nr);
}

static void test_empty(void **state)
{
	struct hash_table t = {0};

	assert_int_equal(find(&t, hash_good, 1), HASH_TABLE_NONE);
	assert_int_equal(hash_table_memory(&t), 0);
	hash_table_clear(&t);
	hash_table_release(&t);
}

static void test_fill(void **state)
{
	struct hash_table t = {0};

	fill(&t, hash_good, KEYS);
	hash_table_release(&t);
	assert_int_equal(hash_table_size(&t), 0);
	fill(&t, hash_poor, 1000);
	hash_table_release(&t);
	fill(&t, hash_high, 300);
	hash_table_release(&t);
}

static void test_clear(void **state)
{
	struct hash_table t = {0};
	size_t memory;

	fill(&t, hash_good, KEYS);
	memory = hash_table_memory(&t);
	hash_table_clear(&t);
	check(&t, hash_good, 0);
	assert_int_equal(hash_table_memory(&t), memory);
	fill(&t, hash_good, KEYS);
	assert_int_equal(hash_table_memory(&t), memory);
	hash_table_release(&t);
}

/* Room that was made once is made; too much is refused, and nothing is lost. */
static void test_reserve(void **state)
{
	struct hash_table t = {0};
	const struct hash_slot *slots;

	assert_int_equal(hash_table_reserve(&t, KEYS), 0);
	slots = t.slots;
	fill(&t, hash_good, KEYS);
	assert_ptr_equal(t.slots, slots);
	assert_int_equal(hash_table_reserve(&t, SIZE_MAX), -ENOMEM);
	assert_int_equal(hash_table_reserve(&t, (size_t)3 << 30), -ENOMEM);
	check(&t, hash_good, KEYS);
	hash_table_release(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_empty),
		cmocka_unit_test(test_fill),
		cmocka_unit_test(test_clear),
		cmocka_unit_test(test_reserve),
	};

	for (uint32_t i = 0; i < KEYS; i++)
		keys[i] = (uint64_t)i * 0x100000001;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
