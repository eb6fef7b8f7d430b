// SPDX-License-Identifier: Apache-2.0
/* Counts and sizes as messages have them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "base/human.h"

static void test_counts(void **state)
{
	static const struct {
		uint64_t n;
		const char *text;
	} tests[] = {
		{0, "0"},
		{999, "999"},
		{1000, "1,000"},
		{12345678, "12,345,678"},
		{UINT64_MAX, "18,446,744,073,709,551,615"},
	};
	char out[HUMAN_COUNT_SIZE];

	(void)state;
	for (size_t i = 0; i < sizeof(tests) / sizeof(tests[0]); i++)
		assert_string_equal(human_count(tests[i].n, out), tests[i].text);
}

static void test_sizes(void **state)
{
	static const struct {
		uint64_t bytes;
		const char *text;
	} tests[] = {
		{0, "0 B"},
		{1023, "1023 B"},
		{1024, "1.0 KB"},
		{1572864, "1.5 MB"},
		{5ull << 30, "5.0 GB"},
		{1ull << 50, "1024.0 TB"},
		{UINT64_MAX, "16777216.0 TB"},
	};
	char out[HUMAN_SIZE_SIZE];

	(void)state;
	for (size_t i = 0; i < sizeof(tests) / sizeof(tests[0]); i++)
		assert_string_equal(human_size(tests[i].bytes, out), tests[i].text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_counts),
		cmocka_unit_test(test_sizes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
