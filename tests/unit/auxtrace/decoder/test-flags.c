// SPDX-License-Identifier: Apache-2.0
/* Names of the flags of branches, as perf script prints them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "auxtrace/decoder/decoder.h"

static void test_names(void **state)
{
	static const struct {
		uint32_t flags;
		const char *name;
	} cases[] = {
		{0, ""},
		{AUX_BRANCH, "jmp"},
		{AUX_BRANCH | AUX_CALL, "call"},
		{AUX_BRANCH | AUX_RETURN, "return"},
		{AUX_BRANCH | AUX_CONDITIONAL | AUX_IN_TX, "jcc (x)"},
		{AUX_BRANCH | AUX_CALL | AUX_ASYNC | AUX_INTERRUPT, "hw int"},
		{AUX_BRANCH | AUX_TRACE_BEGIN, "tr strt"},
		{AUX_TRACE_BEGIN, "tr strt"},
		{AUX_BRANCH | AUX_CALL | AUX_SYSCALLRET | AUX_TRACE_END, "tr end  syscall"},
		{AUX_CONDITIONAL, "?"},
	};
	char buf[32];

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		assert_string_equal(aux_flags_name(cases[i].flags, buf, sizeof(buf)),
				    cases[i].name);
}

static void test_small_buffer(void **state)
{
	char buf[4];

	(void)state;
	assert_string_equal(aux_flags_name(AUX_BRANCH | AUX_RETURN, buf, sizeof(buf)), "ret");
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_names),
		cmocka_unit_test(test_small_buffer),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
