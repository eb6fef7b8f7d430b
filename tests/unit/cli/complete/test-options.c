// SPDX-License-Identifier: Apache-2.0
/* The nearest option to a misspelt one, from a table that the test has made up. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "cli/complete/options.h"

static const struct argp_option child_options[] = {
	{NULL, 0, NULL, 0, "A heading:", 1},
	{"sort", 's', "KEYS", 0, "Order", 1},
	{"sorts", 0x200, "N", OPTION_HIDDEN, "not shown", 1},
	{0},
};
static const struct argp child = {.options = child_options};
static const struct argp_option options[] = {
	{"output", 'o', "FILE", 0, "Write to FILE", 1},
	{"call-graph", 0x201, "HOW", 0, "Record callers", 1},
	{"chains", 0x201, NULL, OPTION_ALIAS, NULL, 1},
	{NULL, 'h', NULL, 0, "No name", 1},
	{0},
};
static const struct argp_child children[] = {{&child, 0, NULL, 0}, {0}};
static const struct argp command = {.options = options, .children = children};

static void test_misspelt(void **state)
{
	static const struct {
		const char *word, *text;
	} tests[] = {
		{"--srot", "; did you mean '--sort'?"}, /* of a child, not the hidden one */
		{"--srot=comm", "; did you mean '--sort'?"},
		{"--outptu", "; did you mean '--output'?"},
		{"--call-graf", "; did you mean '--call-graph'?"},
		{"--chain-s", "; did you mean '--chains'?"}, /* an alias */
		{"--xyzzy", ""},
		{"--x", ""},
	};
	char out[128];

	(void)state;
	for (size_t i = 0; i < sizeof(tests) / sizeof(tests[0]); i++) {
		assert_true(option_suggest(&command, tests[i].word, out, sizeof(out)));
		assert_string_equal(out, tests[i].text);
	}
}

/* What getopt takes, or refuses for another reason. */
static void test_known(void **state)
{
	static const char *const words[] = {"--sort",  "--sort=x", "--so",
					    "--sorts", "--chains", "--"};
	char out[128];

	(void)state;
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		assert_false(option_suggest(&command, words[i], out, sizeof(out)));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_misspelt),
		cmocka_unit_test(test_known),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
