// SPDX-License-Identifier: Apache-2.0
/* Loops of branch histories, and callers that a history shows already. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

#include "unwind/branch_history.h"

#define MAX	  64
#define CYCLES(n) ((uint64_t)(n) << 4)

/* Makes a history of one letter for each branch; branch i has the cycles i + 1. */
static size_t steps_of(const char *letters, struct branch_step *ret)
{
	struct pd_branch b[MAX];
	size_t nr = 0;

	for (; letters[nr]; nr++)
		b[nr] = (struct pd_branch){
			.from = (uint64_t)letters[nr] * 16,
			.to = (uint64_t)letters[nr] * 16 + 8,
			.flags = CYCLES(nr + 1),
		};
	return branch_history_steps(b, nr, ret);
}

static void check(const char *letters, const char *expected)
{
	struct branch_step step[MAX];
	size_t nr = steps_of(letters, step);
	char text[MAX] = "";

	for (size_t i = 0; i < nr; i++)
		text[i] = (char)(step[i].from / 16);
	assert_string_equal(text, expected);
}

static void repeated_iterations_are_left_out(void **state)
{
	check("", "");
	check("a", "a");
	check("abc", "abc");
	check("aaaa", "a");
	check("ababab", "ab");
	check("xabababy", "xaby");
	check("abcabcabx", "abcabx"); /* the oldest iteration is cut off */
	check("abacab", "abacab");
	check("aabaab", "abab"); /* one pass: the loop inside hides the other */
}

static void what_is_left_out_is_counted(void **state)
{
	struct branch_step step[MAX];

	assert_int_equal(steps_of("xabababy", step), 4);
	assert_int_equal(step[3].iterations, 2); /* the branch behind the loop */
	assert_int_equal(step[3].iteration_cycles, 4 + 5 + 6 + 7);
	assert_int_equal(step[3].cycles, 8);
	assert_int_equal(step[1].iterations, 0);

	assert_int_equal(steps_of("aaa", step), 1); /* nothing is behind */
	assert_int_equal(step[0].iterations, 2);
	assert_int_equal(step[0].iteration_cycles, 2 + 3);
}

/* The same place may be left for another one. */
static void other_targets_are_other_branches(void **state)
{
	const struct pd_branch b[] = {{.from = 1, .to = 5}, {.from = 1, .to = 6}};
	struct branch_step step[2];

	assert_int_equal(branch_history_steps(b, 2, step), 2);
}

static void flags_are_kept(void **state)
{
	const struct pd_branch b[] = {
		{.from = 1, .to = 2, .flags = PD_BRANCH_PREDICTED | CYCLES(7)},
		{.from = 3, .to = 4, .flags = PD_BRANCH_MISPREDICTED | PD_BRANCH_ABORT},
		{.from = 5, .to = 6},
	};
	struct branch_step step[3];

	assert_int_equal(branch_history_steps(b, 3, step), 3);
	assert_true(step[0].known && step[0].predicted && !step[0].aborted);
	assert_int_equal(step[0].cycles, 7);
	assert_true(step[1].known && !step[1].predicted && step[1].aborted);
	assert_false(step[2].known);
}

static void callers_in_the_history_overlap(void **state)
{
	/* Behind calls at 100, 200 and 300. */
	const uint64_t ips[] = {50, 105, 205, 305};
	struct branch_step step[] = {
		{.from = 60, .to = 40}, {.from = 100, .to = 10}, {.from = 200, .to = 90}};

	assert_int_equal(branch_history_overlap(step, 0, ips, 4), 0);
	assert_int_equal(branch_history_overlap(step, 1, ips, 4), 1); /* the sampled address */
	assert_int_equal(branch_history_overlap(step, 2, ips, 4), 2);
	assert_int_equal(branch_history_overlap(step, 3, ips, 4), 3);
	assert_int_equal(branch_history_overlap(step, 3, ips, 2), 2);
	assert_int_equal(branch_history_overlap(step, 3, ips, 0), 0);
	step[1].from = 96; /* no call is so long */
	assert_int_equal(branch_history_overlap(step, 3, ips, 4), 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(repeated_iterations_are_left_out),
		cmocka_unit_test(what_is_left_out_is_counted),
		cmocka_unit_test(other_targets_are_other_branches),
		cmocka_unit_test(flags_are_kept),
		cmocka_unit_test(callers_in_the_history_overlap),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
