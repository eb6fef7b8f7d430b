// SPDX-License-Identifier: Apache-2.0
/* Which texts are given to libtraceevent as formats of tracepoints. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "data/tracing_check.h"

#define HEAD	    "name: x\nID: 5\nformat:\n"
#define FIELD(decl) "\tfield:" decl ";\toffset:8;\tsize:4;\tsigned:1;\n"
#define PRINT	    "\nprint fmt: \"%d\", REC->a\n"

static void test_good(void **state)
{
	static const char *const good[] = {
		HEAD FIELD("int a") PRINT,
		HEAD FIELD("const char * name[16]") FIELD("u64 a") PRINT,
		HEAD FIELD("__data_loc char[] name") FIELD("u64 a") PRINT,
		HEAD FIELD("__u8 saddr[sizeof(struct sockaddr_in6)]") FIELD("int *a") PRINT,
		HEAD "\tfield:int a;\toffset:8;\tsize:4;\n" PRINT,
		HEAD FIELD("int a[4]") "\n" FIELD("int b") PRINT,
	};

	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
		const char *print = tracing_fields_end(good[i]);

		assert_non_null(print);
		assert_memory_equal(print, "print fmt:", 10);
		assert_true(tracing_print_is_good(good[i], print));
	}
}

static void test_bad_fields(void **state)
{
	static const char *const bad[] = {
		"",
		"name: x\n",
		"name: \nID: 5\nformat:\n" FIELD("int a") PRINT,
		"name: x\nID: 99999999999\nformat:\n" FIELD("int a") PRINT,
		HEAD,
		HEAD FIELD("int a"),
		HEAD FIELD("a") PRINT,
		HEAD FIELD("") PRINT,
		HEAD FIELD("int a[4") PRINT,
		HEAD FIELD("int [4]") PRINT,
		HEAD FIELD("int a]") PRINT,
		HEAD FIELD("int a\"b") PRINT,
		HEAD FIELD("int a *") PRINT,
		HEAD "\tfield:int a;\toffset:;\tsize:4;\n" PRINT,
		HEAD "\tfield:int a;\toffset:99999999999;\tsize:4;\n" PRINT,
		HEAD "\tfield:int a;\toffset:1;\tsize:4;",
	};

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		if (tracing_fields_end(bad[i]))
			fail_msg("taken for a format: %s", bad[i]);
	}
}

static void test_bad_print(void **state)
{
	static const char *const bad[] = {
		HEAD FIELD("int ab") PRINT,
		HEAD FIELD("int a") "print fmt: \"%d\", REC->\n",
		HEAD FIELD("int a") "print fmt: \"%d\", REC->a + REC->b\n",
	};

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		const char *print = tracing_fields_end(bad[i]);

		assert_non_null(print);
		assert_false(tracing_print_is_good(bad[i], print));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_good),
		cmocka_unit_test(test_bad_fields),
		cmocka_unit_test(test_bad_print),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
