// SPDX-License-Identifier: Apache-2.0
/* The user's cache: whose directories it uses, how many files it keeps. */
#include <errno.h>
#include <sys/mman.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "sys/io/cache.h"

struct place {
	char dir[64];
};

/* Runs a shell command with $D as the directory. Returns its exit status. */
static int sh(const struct place *p, const char *cmd)
{
	char full[1024];

	snprintf(full, sizeof(full), "D='%s'; { %s; } 2>/dev/null >&2", p->dir, cmd);
	return system(full);
}

static int place_new(void **state)
{
	struct place *p = calloc(1, sizeof(*p));

	strcpy(p->dir, "/tmp/test-cache-XXXXXX");
	*state = p;
	return !mkdtemp(p->dir);
}

static int place_free(void **state)
{
	int rc = sh(*state, "rm -rf \"$D\"");

	free(*state);
	return rc;
}

#define PLACE_TEST(f) cmocka_unit_test_setup_teardown(f, place_new, place_free)

static int put(const struct place *p, const char *name, const char *text)
{
	struct buf b = {(uint8_t *)(uintptr_t)text, strlen(text), 0};
	char base[128];

	snprintf(base, sizeof(base), "%s/.cache", p->dir);
	return cache_write(base, name, &b);
}

/* Returns cache_map(); the file must have @text. */
static int get(const struct place *p, const char *name, size_t max, const char *text)
{
	char base[128];
	size_t size = 0;
	void *bytes;
	int rc;

	snprintf(base, sizeof(base), "%s/.cache", p->dir);
	rc = cache_map(base, name, max, &bytes, &size);
	if (!rc) {
		assert_int_equal(size, strlen(text));
		assert_memory_equal(bytes, text, size);
		munmap(bytes, size);
	}
	return rc;
}

static void test_write_and_read(void **state)
{
	struct place *p = *state;

	assert_int_equal(get(p, "a", 100, ""), -ENOENT);
	assert_int_equal(put(p, "a", "one"), 0);
	assert_int_equal(sh(p, "[ $(stat -c %a $D/.cache/ringtail) = 700 ]"), 0);
	assert_int_equal(sh(p, "[ $(stat -c %a $D/.cache/ringtail/a) = 600 ]"), 0);
	assert_int_equal(get(p, "a", 100, "one"), 0);
	assert_int_equal(get(p, "a", 2, "one"), -EFBIG);
	assert_int_equal(put(p, "a", "two"), 0);
	assert_int_equal(get(p, "a", 100, "two"), 0);
	assert_int_equal(sh(p, "rm -r $D/.cache/ringtail"), 0);
	assert_int_equal(get(p, "a", 100, ""), -ENOENT);
}

static void test_what_others_can_write(void **state)
{
	struct place *p = *state;

	assert_int_equal(put(p, "a", "one"), 0);
	sh(p, "chmod g+w $D/.cache/ringtail/a");
	assert_int_equal(get(p, "a", 100, "one"), -EPERM);
	sh(p, "chmod g-w $D/.cache/ringtail/a; chmod o+w $D/.cache/ringtail");
	assert_int_equal(get(p, "a", 100, "one"), -EPERM);
	assert_int_equal(put(p, "a", "two"), -EPERM);
	sh(p, "chmod o-w $D/.cache/ringtail; ln -s a $D/.cache/ringtail/b");
	assert_int_equal(get(p, "a", 100, "one"), 0);
	assert_int_equal(get(p, "b", 100, "one"), -ELOOP);
	sh(p, "mv $D/.cache/ringtail $D/elsewhere; ln -s $D/elsewhere $D/.cache/ringtail");
	assert_true(get(p, "a", 100, "one") < 0);
	assert_true(put(p, "a", "two") < 0);
}

/* Also of what killed writers leave. */
static void test_bound(void **state)
{
	struct place *p = *state;
	char name[16];

	for (int i = 0; i < 2 * CACHE_FILES; i++) {
		snprintf(name, sizeof(name), "f%d", i);
		assert_int_equal(put(p, name, "x"), 0);
		if (i == 3)
			sh(p, "touch -c -d @0 $D/.cache/ringtail/f3");
	}
	assert_int_equal(sh(p, "[ $(ls -A $D/.cache/ringtail | wc -l) = 512 ]"), 0);
	assert_int_equal(get(p, name, 100, "x"), 0);
	assert_int_equal(get(p, "f0", 100, "x"), -ENOENT);
	assert_int_equal(get(p, "f3", 100, "x"), -ENOENT);
}

/* A file that was read lately stays. */
static void test_bytes(void **state)
{
	struct place *p = *state;

	assert_int_equal(put(p, "a", "a"), 0);
	assert_int_equal(put(p, "b", "b"), 0);
	assert_int_equal(
		sh(p, "cd $D/.cache/ringtail && truncate -s 255M large && touch -d @5 large && "
		      "touch -d @1 a && touch -d @3 b"),
		0);
	assert_int_equal(get(p, "a", 100, "a"), 0);
	assert_int_equal(put(p, "c", "c"), 0);
	assert_int_equal(get(p, "b", 100, "b"), 0);
	sh(p,
	   "cd $D/.cache/ringtail && touch -d @3 b && truncate -s 256M large && touch -d @5 large");
	assert_int_equal(put(p, "d", "d"), 0);
	assert_int_equal(get(p, "b", 100, "b"), -ENOENT);
	assert_int_equal(sh(p, "[ ! -e $D/.cache/ringtail/large ]"), 0);
	assert_int_equal(get(p, "a", 100, "a"), 0);
}

/* A service's home, such as /nonexistent, is not made. */
static void test_no_home(void **state)
{
	const struct place *p = *state;
	struct buf b = {(uint8_t *)"one", 3, 0};
	char home[128], *base;

	snprintf(home, sizeof(home), "%s/home", p->dir);
	unsetenv("XDG_CACHE_HOME");
	setenv("HOME", home, true);
	base = cache_base();
	assert_non_null(base);
	assert_false(cache_writable(base));
	assert_int_equal(cache_write(base, "a", &b), -ENOENT);
	assert_int_equal(sh(p, "[ ! -e $D/home ]"), 0);
	assert_int_equal(sh(p, "mkdir $D/home"), 0);
	assert_int_equal(cache_write(base, "a", &b), 0);
	assert_int_equal(sh(p, "[ -e $D/home/.cache/ringtail/a ]"), 0);
	free(base);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		PLACE_TEST(test_write_and_read), PLACE_TEST(test_what_others_can_write),
		PLACE_TEST(test_bound),		 PLACE_TEST(test_bytes),
		PLACE_TEST(test_no_home),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
