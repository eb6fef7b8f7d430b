// SPDX-License-Identifier: Apache-2.0
/* Strings come back as they were from jansson, whatever is in them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "export/wire/json_out.h"

static void check_string(const char *s, size_t len)
{
	char *bytes = NULL;
	size_t n;
	struct out o = {.f = open_memstream(&bytes, &n)};
	json_t *back;

	json_out_string(&o, s, len);
	assert_int_equal(out_flush(&o), 0);
	back = json_loadb(bytes, n, JSON_DECODE_ANY | JSON_ALLOW_NUL, NULL);
	assert_non_null(back);
	assert_int_equal(json_string_length(back), len);
	assert_memory_equal(json_string_value(back), s, len);
	for (size_t i = 0; i < n; i++) /* one line, so that lines can be counted */
		assert_true((unsigned char)bytes[i] >= 0x20);
	json_decref(back);
	fclose(o.f);
	free(bytes);
}

static void test_strings(void **state)
{
	static char all[0x80 + 8], large[1 << 20];

	for (int i = 0; i < 0x80; i++)
		all[i] = (char)i;
	memcpy(all + 0x80, "\xc3\xb6\xf0\x9f\x98\x80", 6);
	check_string(all, 0x86);
	check_string("", 0);
	check_string("\"", 1);
	check_string("\\\\\"", 3);
	memset(large, '"', sizeof(large));
	check_string(large, sizeof(large));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_strings),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
