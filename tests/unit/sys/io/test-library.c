// SPDX-License-Identifier: Apache-2.0
/* Libraries that are loaded on demand: their functions, and what is said without them. */
#include "sys/io/library.h"

#include <errno.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

/* clang-format off */
struct functions {
	LIBRARY_POINTER(cos)
	LIBRARY_POINTER(fabs)
};
/* clang-format on */

static void test_functions(void **state)
{
	static const char *const names[] = {LIBRARY_NAME(cos) LIBRARY_NAME(fabs)};
	struct functions f;

	assert_int_equal(library_load("libm.so.6", "libc6", names, 2, &f, NULL), 0);
	assert_true(f.cos(0) == 1 && f.fabs(-2) == 2);
}

/* The message says which file and which package. */
static void test_missing(void **state)
{
	static const char *const names[] = {"cos", "no_such_function"};
	struct error err = ERROR_INIT;
	struct functions f;

	assert_int_equal(library_load("libno-such.so.4", "libno-such4", names, 2, &f, &err),
			 -ELIBACC);
	assert_non_null(strstr(err.text, "libno-such.so.4"));
	assert_non_null(strstr(err.text, "install the Debian package libno-such4"));
	assert_int_equal(library_load("libm.so.6", "libc6", names, 2, &f, &err), -ELIBACC);
	assert_non_null(strstr(err.text, "libm.so.6 has no function no_such_function"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_functions),
		cmocka_unit_test(test_missing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
