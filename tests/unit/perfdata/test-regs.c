// SPDX-License-Identifier: Apache-2.0
/* Names of registers, and lists of them. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "perfdata/regs.h"

/* The numbers of <asm/perf_regs.h>. */
static void test_names(void **state)
{
	assert_string_equal(pd_reg_name("x86_64", 0), "AX");
	assert_string_equal(pd_reg_name("x86_64", 8), "IP");
	assert_string_equal(pd_reg_name("x86_64", 23), "R15");
	assert_string_equal(pd_reg_name("aarch64", 32), "pc");
	assert_string_equal(pd_reg_name("riscv64", 31), "t6");
	assert_null(pd_reg_name("x86_64", 24));
	assert_null(pd_reg_name("x86_64", 64));
	assert_null(pd_reg_name("vax", 0));
	assert_string_equal(pd_reg_name("i686", 8), "IP");
	assert_null(pd_reg_name("ia64", 0));
	assert_int_equal(pd_regs_general("vax"), 0);
	for (unsigned int bit = 0; bit < 64; bit++)
		if (pd_regs_general("x86_64") & 1ull << bit)
			assert_non_null(pd_reg_name("x86_64", bit));
}

static void test_lists(void **state)
{
	static const char *const wrong[] = {"", "ax,", ",ax", "axx", "a", "ax,,bx", "frob"};
	struct error err = ERROR_INIT;
	uint64_t mask = 77;

	assert_int_equal(pd_regs_parse("x86_64", "ax,IP", &mask, &err), 0);
	assert_int_equal(mask, 0x101);
	assert_int_equal(pd_regs_parse("x86_64", "xmm1", &mask, &err), 0);
	assert_int_equal(mask, 3ull << 34);
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		mask = 77;
		assert_int_equal(pd_regs_parse("x86_64", wrong[i], &mask, &err), -EINVAL);
		assert_int_equal(mask, 77);
	}
	assert_non_null(strstr(err.text, "there are AX, BX"));
	assert_int_equal(pd_regs_parse("vax", "ax", &mask, &err), -EINVAL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_names),
		cmocka_unit_test(test_lists),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
