// SPDX-License-Identifier: Apache-2.0
/* Completion of words from a table of options that the test has made up. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "cli/complete/complete.h"

static const struct argp_option child_options[] = {
	{NULL, 0, NULL, 0, "A heading:", 1},
	{"when", 'w', "always|never[,N]|in-time", 0, "When; and more", 1},
	{"secret", 0x200, "N", OPTION_HIDDEN, "not shown", 1},
	{0},
};
static const struct argp child = {.options = child_options};
static const struct argp_option options[] = {
	{"output", 'o', "FILE", 0, "Write to FILE (default x)", 1},
	{"directory", 0x201, "DIR", 0, "Write below DIR", 1},
	{"verbose", 'v', NULL, 0,
	 "Say more, in a text that has many more characters than any terminal has columns for it",
	 1},
	{"chatty", 'v', NULL, OPTION_ALIAS, NULL, 1},
	{"colour", 'c', "WHEN", OPTION_ARG_OPTIONAL, "Colours", 1},
	{"sort", 's', "KEYS", 0, "Order", 1},
	{0},
};
static const struct argp_child children[] = {{&child, 0, NULL, 0}, {0}};
static const struct argp command = {
	.options = options, .children = children, .args_doc = "[-- COMMAND [ARG...]]"};
static const struct argp verbs = {.options = options, .args_doc = "show|table [FILE]"};
/* As argp_parse() makes it of a command's table. */
static const struct argp_child wrapped[] = {{&command, 0, NULL, 0}, {0}};
static const struct argp wrapper = {.children = wrapped};

/* Compares the completions of the last word; the words stand in @line with a space between them. */
static void check(const struct argp *root, const char *line, const char *expected)
{
	char copy[256], *words[16], *out = NULL, *s = copy;
	size_t nr = 0, size = 0;
	FILE *f = open_memstream(&out, &size);

	assert_non_null(f);
	snprintf(copy, sizeof(copy), "%s", line);
	while ((words[nr] = strsep(&s, " ")))
		nr++;
	complete_word(root, words, nr, f);
	fclose(f);
	assert_string_equal(out, expected);
	free(out);
}

static void test_options(void **state)
{
	check(&command, "--o", "--output=\tWrite to FILE\n");
	check(&command, "--v",
	      "--verbose\tSay more, in a text that has many more characters than any\n");
	check(&command, "--ch",
	      "--chatty\tSay more, in a text that has many more characters than any\n");
	check(&command, "--col", "--colour\tColours\n");
	check(&command, "--w", "--when=\tWhen\n");
	check(&command, "--se", "");
	check(&command, "-w", "-w\tWhen\n");
	check(&command, "-o x --o", "--output=\tWrite to FILE\n");
	check(&wrapper, "--o", "--output=\tWrite to FILE\n");
}

static void test_values(void **state)
{
	check(&command, "--output x", ":files\t\n");
	check(&command, "--output=x", ":files\t--output=\n");
	check(&command, "-vo x", ":files\t\n");
	check(&command, "--directory ", ":directories\t\n");
	check(&command, "--when ", "always\t\nnever\t\nin-time\t\n");
	check(&command, "--when=n", "--when=never\t\n");
	check(&command, "-w i", "in-time\t\n");
	check(&command, "--sort comm,dso_f", "comm,dso_from\tSource Shared Object\n");
	check(&command, "--colour=a", "");
	check(&command, "--nosuch=a", "");
}

static void test_arguments(void **state)
{
	check(&command, "", ":command\t0\n");
	check(&command, "-v -o x ls", ":command\t3\n");
	check(&command, "-v ls -", ":command\t1\n");
	check(&command, "-- ls --o", ":command\t1\n");
	/* What an option may have is never in the next word, unless it must. */
	check(&command, "--colour ls --o", ":command\t1\n");
	check(&command, "-ofile ls --o", ":command\t1\n");
	check(&wrapper, "-v ls -", ":command\t1\n");
	check(&verbs, "s", "show\t\n");
	check(&verbs, "show x", ":files\t\n");
	check(&verbs, "show --v",
	      "--verbose\tSay more, in a text that has many more characters than any\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_options),
		cmocka_unit_test(test_values),
		cmocka_unit_test(test_arguments),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
