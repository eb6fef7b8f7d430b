// SPDX-License-Identifier: Apache-2.0
/* Hashes: equal for equal input, spread for similar input, and not predictable. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/auxv.h>

#include <cmocka.h>
#include <pthread.h>

#include "base/hash.h"

#define SLOTS 4096
#define FULL  64 /* entries of a slot that 16384 of them never make, at 4 on average */

static uint16_t slots[SLOTS];

static void put(uint64_t hash)
{
	assert_true(++slots[hash & (SLOTS - 1)] < FULL);
}

/* Whatever bits differ, the low ones of the hash do. */
static void test_spread(void **state)
{
	const uint64_t key = hash_key();

	for (unsigned int shift = 0; shift <= 48; shift += 4) {
		memset(slots, 0, sizeof(slots));
		for (uint64_t i = 0; i < 4 * SLOTS; i++)
			put(hash_word(key, i << shift));
	}
}

/* Texts that are all one to a function that adds up: "Aa" and "B@" are to times 33. */
static void test_spread_of_bytes(void **state)
{
	const uint64_t key = hash_key();
	char text[2 * 14];

	memset(slots, 0, sizeof(slots));
	for (unsigned int i = 0; i < 4 * SLOTS; i++) {
		for (unsigned int bit = 0; bit < 14; bit++)
			memcpy(text + (size_t)2 * bit, i >> bit & 1 ? "Aa" : "B@", 2);
		put(hash_bytes(key, text, sizeof(text)));
	}
}

static void *draw(void *arg)
{
	*(uint64_t *)arg = hash_key();
	return NULL;
}

/* One for a process, whoever draws it, and none of the secrets of libc. */
static void test_secrets(void **state)
{
	const uint8_t *random = (const uint8_t *)getauxval(AT_RANDOM);
	pthread_t threads[8];
	uint64_t keys[8], secret;

	for (size_t i = 0; i < 8; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, draw, &keys[i]), 0);
	for (size_t i = 0; i < 8; i++) {
		pthread_join(threads[i], NULL);
		assert_true(keys[i] == hash_key());
	}
	assert_non_null(random);
	for (size_t i = 0; i < 2; i++) {
		memcpy(&secret, random + i * sizeof(secret), sizeof(secret));
		assert_true(hash_key() != secret && hash_key() != hash_word(secret, 1));
	}
}

static void test_bytes(void **state)
{
	uint8_t bytes[40] = {0}, copy[41];

	assert_true(hash_bytes(1, NULL, 0) == hash_bytes(1, bytes, 0));
	for (size_t n = 0; n < sizeof(bytes); n++) {
		uint64_t h = hash_bytes(1, bytes, n);

		memcpy(copy + 1, bytes, n);
		assert_true(hash_bytes(1, copy + 1, n) == h);
		assert_true(hash_bytes(1, bytes, n + 1) != h);
		assert_true(hash_bytes(2, bytes, n) != h);
		for (size_t i = 0; i < n; i++) {
			copy[1 + i] ^= 0x80;
			assert_true(hash_bytes(1, copy + 1, n) != h);
			copy[1 + i] ^= 0x80;
		}
	}
}

/* What falls on one slot with one key does not with another. */
static void test_key(void **state)
{
	unsigned int found = 0;

	assert_true(hash_key() == hash_key());
	memset(slots, 0, sizeof(slots));
	for (uint64_t id = 0; found < 2 * FULL; id++) {
		if (hash_word(hash_key(), id) & (SLOTS - 1))
			continue;
		put(hash_word(hash_key() + 1, id));
		found++;
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_secrets),
		cmocka_unit_test(test_spread),
		cmocka_unit_test(test_spread_of_bytes),
		cmocka_unit_test(test_bytes),
		cmocka_unit_test(test_key),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
