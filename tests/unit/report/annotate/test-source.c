// SPDX-License-Identifier: Apache-2.0
/* The texts of source files: lines, folders to look in, and more files than are kept. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "report/annotate/source.h"

static char dir[] = "/tmp/test-source-XXXXXX";

static const char *path_of(const char *name)
{
	static char path[256];

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	return path;
}

static void write_file(const char *name, const char *text)
{
	FILE *f = fopen(path_of(name), "w");

	assert_non_null(f);
	assert_true(fputs(text, f) >= 0);
	assert_int_equal(fclose(f), 0);
}

static void expect(const struct source_opts *opts, const char *path, uint32_t line,
		   const char *expected)
{
	struct source_files *s;
	const char *text;
	size_t len;

	assert_int_equal(source_new(NULL, opts, &s), 0);
	/* Again, from what is kept. */
	for (int i = 0; i < 2; i++) {
		text = source_text(s, path, line, &len);
		if (!expected) {
			assert_null(text);
			continue;
		}
		assert_non_null(text);
		assert_int_equal(len, strlen(expected));
		assert_memory_equal(text, expected, len);
	}
	source_free(s);
}

static void lines(void **state)
{
	const struct source_opts opts = {0};

	write_file("a.c", "one\n\ntwo\r\nthree");
	expect(&opts, path_of("a.c"), 1, "one");
	expect(&opts, path_of("a.c"), 2, "");
	expect(&opts, path_of("a.c"), 3, "two");
	expect(&opts, path_of("a.c"), 4, "three");
	expect(&opts, path_of("a.c"), 0, NULL);
	expect(&opts, path_of("a.c"), 5, NULL);
	expect(&opts, path_of("a.c"), UINT32_MAX, NULL);
	write_file("empty.c", "");
	expect(&opts, path_of("empty.c"), 1, NULL);
	expect(&opts, path_of("none.c"), 1, NULL);
	expect(&opts, dir, 1, NULL);
	expect(&opts, "/dev/zero", 1, NULL);
	expect(&opts, "", 1, NULL);
}

static void folders(void **state)
{
	const struct source_opts in_dir = {.texts = {.dir = dir}};
	const struct source_opts prefixed = {.texts = {.prefix = dir}};
	const struct source_opts stripped = {.texts = {.prefix = dir, .strip = 2}};
	const struct source_opts too_many = {.texts = {.prefix = dir, .strip = 9}};

	assert_int_equal(mkdir(path_of("src"), 0700), 0);
	write_file("src/b.c", "here\n");
	expect(&in_dir, "/build/x/src/b.c", 1, "here");
	expect(&in_dir, "src/b.c", 1, "here");
	expect(&in_dir, "/build/x/src/c.c", 1, NULL);
	expect(&prefixed, "/src/b.c", 1, "here");
	expect(&prefixed, "/build/x/src/b.c", 1, NULL);
	expect(&stripped, "/build/x/src/b.c", 1, "here");
	expect(&too_many, "/build/x/src/b.c", 1, NULL);
}

/* More files than are kept. */
static void many_files(void **state)
{
	const struct source_opts opts = {0};
	struct source_files *s;

	assert_int_equal(source_new(NULL, &opts, &s), 0);
	for (int i = 0; i < 300; i++) {
		char name[32], text[32];
		const char *found;
		size_t len;

		snprintf(name, sizeof(name), "many-%d.c", i % 100);
		snprintf(text, sizeof(text), "text %d", i % 100);
		if (i < 100)
			write_file(name, text);
		found = source_text(s, path_of(name), 1, &len);
		assert_non_null(found);
		assert_int_equal(len, strlen(text));
		assert_memory_equal(found, text, len);
	}
	source_free(s);
}

static int make_dir(void **state)
{
	return mkdtemp(dir) ? 0 : -1;
}

static int remove_dir(void **state)
{
	char command[64];

	snprintf(command, sizeof(command), "rm -r %s", dir);
	return system(command);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lines),
		cmocka_unit_test(folders),
		cmocka_unit_test(many_files),
	};

	return cmocka_run_group_tests(tests, make_dir, remove_dir);
}
