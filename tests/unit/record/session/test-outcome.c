// SPDX-License-Identifier: Apache-2.0
/* Outcomes as errors: one that is not done has a code, even without a reason. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "record/session/outcome.h"

static void test_errors(void **state)
{
	static const enum outcome outcomes[] = {OUTCOME_FLAWED, OUTCOME_UNDONE, OUTCOME_BROKEN};
	struct error err = ERROR_INIT;

	(void)state;
	assert_int_equal(outcome_error(OUTCOME_DONE, &err), 0);
	for (size_t i = 0; i < 3; i++)
		assert_int_equal(outcome_error(outcomes[i], &err), -EIO);
	error_set(&err, -ENOSPC, "full");
	/* an error that was mended on the way is none */
	assert_int_equal(outcome_error(OUTCOME_DONE, &err), 0);
	for (size_t i = 0; i < 3; i++)
		assert_int_equal(outcome_error(outcomes[i], &err), -ENOSPC);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_errors),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
