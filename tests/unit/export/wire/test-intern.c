// SPDX-License-Identifier: Apache-2.0
/* Equal keys have equal numbers, in the order of arrival, and stay readable. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <string.h>

#include "export/wire/intern.h"

#define KEYS 5000

static void test_keys(void **state)
{
	struct intern in = {.size = sizeof(uint64_t)};

	for (uint64_t round = 0; round < 2; round++)
		for (uint64_t i = 0; i < KEYS; i++) {
			uint64_t key = i * i, got;

			assert_int_equal(intern_find(&in, &key), round ? i : INTERN_NONE);
			assert_int_equal(intern_put(&in, &key), i);
			assert_int_equal(intern_find(&in, &key), i);
			memcpy(&got, intern_at(&in, (uint32_t)i), sizeof(got));
			assert_int_equal(got, key);
		}
	assert_int_equal(intern_count(&in), KEYS);
	intern_release(&in);
	assert_int_equal(intern_count(&in), 0);
}

static void test_strings(void **state)
{
	static const char nuls[] = "a\0b";
	struct intern_strings in = {0};
	char text[32];
	size_t len;

	assert_int_equal(intern_string(&in, "", 0), 0);
	assert_int_equal(intern_string(&in, nuls, sizeof(nuls)), 1);
	assert_int_equal(intern_string(&in, nuls, 1), 2);
	for (uint32_t i = 3; i < KEYS; i++) {
		snprintf(text, sizeof(text), "text %u", i);
		assert_int_equal(intern_string(&in, text, strlen(text)), i);
		assert_int_equal(intern_string(&in, text, strlen(text)), i);
	}
	assert_int_equal(intern_string(&in, "", 0), 0);
	assert_memory_equal(intern_string_at(&in, 1, &len), nuls, sizeof(nuls));
	assert_int_equal(len, sizeof(nuls));
	intern_string_at(&in, 0, &len);
	assert_int_equal(len, 0);
	intern_strings_release(&in);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_keys),
		cmocka_unit_test(test_strings),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
