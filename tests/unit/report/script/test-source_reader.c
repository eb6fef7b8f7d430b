// SPDX-License-Identifier: Apache-2.0
/* A line is that of the file, and comes once in sequence for each thread; files beyond those kept
 * are read again. */
#include "report/script/source_reader.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

static char dir[] = "/tmp/ringtail-lines-XXXXXX";

static const char *file(unsigned int number, const char *text)
{
	static char path[64];
	FILE *f;

	snprintf(path, sizeof(path), "%s/%u", dir, number);
	f = fopen(path, "w");
	assert_non_null(f);
	fputs(text, f);
	assert_int_equal(fclose(f), 0);
	return path;
}

static void expect(struct source_reader *s, uint32_t tid, const char *path, unsigned int line,
		   const char *text)
{
	size_t len = 0;
	const char *found = source_reader_next(s, tid, path, line, &len);

	if (!text) {
		assert_null(found);
		return;
	}
	assert_non_null(found);
	assert_int_equal(len, strlen(text));
	assert_memory_equal(found, text, len);
}

static void test_lines(void **state)
{
	struct source_reader *s;
	char path[64];

	(void)state;
	snprintf(path, sizeof(path), "%s", file(0, "one\n\n\tthree\nlast"));
	assert_int_equal(source_reader_new(&s), 0);
	expect(s, 7, path, 1, "one");
	expect(s, 7, path, 1, NULL);  /* the same again */
	expect(s, 8, path, 1, "one"); /* of another thread */
	expect(s, 7, path, 2, "");
	expect(s, 7, path, 3, "\tthree");
	expect(s, 7, path, 4, "last");
	expect(s, 7, path, 5, NULL);
	expect(s, 7, path, 0, NULL);
	expect(s, 7, path, 4, NULL); /* a line that is not there changes nothing */
	expect(s, 7, "/nonexistent/file", 4, NULL);
	expect(s, 7, dir, 1, NULL);
	expect(s, 8, path, 2, "");
	source_reader_free(s);
}

/* More files than are kept. */
static void test_many_files(void **state)
{
	struct source_reader *s;
	char text[32];

	(void)state;
	assert_int_equal(source_reader_new(&s), 0);
	for (unsigned int i = 0; i < 80; i++) {
		char line[16];
		const char *path;

		snprintf(line, sizeof(line), "file %u", i % 40);
		snprintf(text, sizeof(text), "x\n%s\n", line);
		path = file(i % 40, text);
		expect(s, 1, path, 2, line);
	}
	source_reader_free(s);
}

static int make_folder(void **state)
{
	(void)state;
	return mkdtemp(dir) ? 0 : -1;
}

static int remove_folder(void **state)
{
	char path[64];

	(void)state;
	for (unsigned int i = 0; i < 40; i++) {
		snprintf(path, sizeof(path), "%s/%u", dir, i);
		unlink(path);
	}
	return rmdir(dir);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_lines),
		cmocka_unit_test(test_many_files),
	};

	return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
