// SPDX-License-Identifier: Apache-2.0
/* A recording gets, replaces and loses its table of symbols, and keeps all else. */
#include <errno.h>
#include <signal.h>
#include <sys/stat.h>

#include "data-walk.h"
#include "data/edit/edit.h"
#include "perfdata/symbols/symbols.h"

/* Features behind the data (HOSTNAME) and before them (ARCH, the magic number as its bytes). */
static void add_features(struct image *im)
{
	size_t table = im->b.len;

	image_set64(im, 72, 1ULL << HEADER_HOSTNAME | 1ULL << HEADER_ARCH);
	image_u64(im, table + 32);
	image_u64(im, 12);
	image_u64(im, 0);
	image_u64(im, 8);
	image_u32(im, 8);
	assert_int_equal(buf_append(&im->b, "machine", 8), 0);
}

static void save(const struct image *im, const char *path)
{
	FILE *f = fopen(path, "we");

	assert_non_null(f);
	assert_int_equal(fwrite(im->b.data, 1, im->b.len, f), im->b.len);
	assert_int_equal(fclose(f), 0);
}

/* Checks the recording; its table is @text, NULL: it has none. */
static void check(const char *path, const char *text, const uint8_t *arch)
{
	struct data_file *df;
	const uint8_t *p;
	size_t n;

	assert_int_equal(data_open(path, true, &df, NULL), 0);
	assert_int_equal(walk(df, 0).records, 5);
	if (arch) {
		assert_int_equal(data_feature(df, HEADER_HOSTNAME, &p, &n), 0);
		assert_string_equal((const char *)p + 4, "machine");
		assert_int_equal(data_feature(df, HEADER_ARCH, &p, &n), 0);
		assert_memory_equal(p, arch, 8);
	}
	assert_int_equal(data_feature(df, HEADER_RINGTAIL_SYMBOLS, &p, &n), text ? 0 : -ENOENT);
	if (text) {
		assert_int_equal(n, strlen(text));
		assert_memory_equal(p, text, n);
	}
	assert_int_equal(noted(df, DATA_DAMAGED, ""), 0);
	data_close(df);
}

/* Expects @rc, and that the recording stays as it is. @walked: its records were read before. */
static void refuse(const char *path, const char *text, const char *out, bool walked, int rc)
{
	struct data_file *df;
	struct buf table = {0};
	struct stat before, after;

	assert_int_equal(stat(path, &before), 0);
	assert_int_equal(data_open(path, true, &df, NULL), 0);
	if (walked)
		walk(df, 0);
	assert_int_equal(buf_append(&table, text, strlen(text)), 0);
	assert_int_equal(edit_check(df, out, NULL), rc == -EINTR ? 0 : rc);
	assert_int_equal(edit_set_symbols(df, &table, out, NULL), rc);
	buf_release(&table);
	data_close(df);
	assert_int_equal(stat(path, &after), 0);
	assert_int_equal(after.st_ino, before.st_ino);
	assert_int_equal(after.st_size, before.st_size);
}

static void set(const char *path, const char *text, const char *out)
{
	struct data_file *df;
	struct buf table = {0};

	assert_int_equal(data_open(path, true, &df, NULL), 0);
	assert_int_equal(buf_append(&table, text, strlen(text)), 0);
	assert_int_equal(edit_set_symbols(df, &table, out, NULL), 0);
	buf_release(&table);
	data_close(df);
}

static void test_file(void **state)
{
	char dir[] = "/tmp/ringtail-test-XXXXXX", path[64], copy[64];
	struct stat st;

	assert_non_null(mkdtemp(dir));
	snprintf(path, sizeof(path), "%s/p.data", dir);
	snprintf(copy, sizeof(copy), "%s/q.data", dir);
	for (int swap = 0; swap < 2; swap++) {
		struct image im = {.swap = swap};

		make_samples(&im, 1, 5);
		add_features(&im);
		save(&im, path);
		assert_int_equal(chmod(path, 0640), 0);
		set(path, "first", copy);
		check(path, NULL, im.b.data);
		check(copy, "first", im.b.data);
		set(path, "first table", NULL);
		check(path, "first table", im.b.data);
		assert_int_equal(stat(path, &st), 0);
		assert_int_equal(st.st_mode & 0777, 0640);
		set(path, "next", NULL);
		check(path, "next", im.b.data);
		set(path, "", NULL);
		check(path, NULL, im.b.data);
		assert_int_equal(stat(path, &st), 0);
		assert_int_equal(st.st_size, im.b.len); /* nothing of a table is left */
		image_release(&im);
	}
	unlink(path);
	unlink(copy);
	assert_int_equal(rmdir(dir), 0); /* nor a temporary file */
}

/* Returns whether the header has a bit for the table of symbols. */
static bool has_own_bit(const char *path)
{
	struct pd_header h;
	FILE *f = fopen(path, "re");

	assert_non_null(f);
	assert_int_equal(fread(&h, sizeof(h), 1, f), 1);
	assert_int_equal(fclose(f), 0);
	return h.features[HEADER_RINGTAIL_SYMBOLS / 64];
}

/* An older file has a bit for its table of symbols. A new one has none: perf inject dies of it. */
static void test_older_file(void **state)
{
	char path[] = "/tmp/ringtail-test-XXXXXX";
	int fd = mkstemp(path);

	assert_true(fd >= 0);
	close(fd);
	for (int swap = 0; swap < 2; swap++) {
		struct image im = {.swap = swap};
		size_t table;

		make_samples(&im, 1, 5);
		table = im.b.len;
		image_set64(&im, 72, 1ULL << HEADER_HOSTNAME | 1ULL << HEADER_ARCH);
		image_set64(&im, 96, 1ULL << HEADER_RINGTAIL_SYMBOLS % 64);
		image_u64(&im, table + 48);
		image_u64(&im, 12);
		image_u64(&im, 0);
		image_u64(&im, 8);
		image_u64(&im, table + 60);
		image_u64(&im, 5);
		image_u32(&im, 8);
		assert_int_equal(buf_append(&im.b, "machine\0older", 13), 0);
		save(&im, path);
		assert_true(has_own_bit(path));
		check(path, "older", im.b.data);
		set(path, "newer one", NULL);
		assert_false(has_own_bit(path));
		check(path, "newer one", im.b.data);
		save(&im, path);
		set(path, "", NULL);
		assert_false(has_own_bit(path));
		check(path, NULL, im.b.data);
		image_release(&im);
	}
	unlink(path);
}

static void test_stream(void **state)
{
	char path[] = "/tmp/ringtail-test-XXXXXX";
	struct stat st;
	int fd = mkstemp(path);

	assert_true(fd >= 0);
	close(fd);
	for (int swap = 0; swap < 2; swap++) {
		struct image im = {.swap = swap};
		struct data_file *df;
		const uint8_t *p;
		size_t n;

		image_pipe_begin(&im);
		save(&im, path);
		set(path, "next", NULL);
		set(path, "a longer one", NULL);
		set(path, "next", NULL);
		assert_int_equal(data_open(path, true, &df, NULL), 0);
		assert_int_equal(data_feature(df, HEADER_RINGTAIL_SYMBOLS, &p, &n), 0);
		assert_int_equal(n, 4);
		assert_memory_equal(p, "next", 4);
		data_close(df);
		set(path, "", NULL);
		assert_int_equal(stat(path, &st), 0);
		assert_int_equal(st.st_size, im.b.len); /* nothing of a table is left */
		image_release(&im);
	}
	unlink(path);
}

static void test_writer(void **state)
{
	char path[] = "/tmp/ringtail-test-XXXXXX";
	int fd = mkstemp(path);
	struct image im = {0};

	assert_true(fd >= 0);
	make_samples(&im, 1, 5);
	save(&im, path);
	refuse(path, "table", NULL, true, -EBUSY);
	refuse(path, "table", path, true, -EBUSY);
	close(fd);
	set(path, "table", NULL);
	image_release(&im);
	unlink(path);
}

static void test_damage(void **state)
{
	char path[] = "/tmp/ringtail-test-XXXXXX";
	int fd = mkstemp(path);
	struct image im = {0}, stream = {0};

	assert_true(fd >= 0);
	close(fd);
	make_samples(&im, 1, 5);
	im.b.len -= 4;
	save(&im, path);
	refuse(path, "table", NULL, false, -EBADMSG);
	im.b.len += 4;
	image_set64(&im, 48, im.b.len - im.data_at - 4);
	save(&im, path);
	refuse(path, "table", NULL, true, -EBADMSG);
	image_set64(&im, 48, 0);
	save(&im, path);
	refuse(path, "table", NULL, false, -EBADMSG);
	image_release(&im);
	image_pipe_begin(&stream);
	image_u64(&stream, 77ULL | 64ULL << 48); /* a record without its end */
	save(&stream, path);
	refuse(path, "table", NULL, true, -EBADMSG);
	image_release(&stream);
	unlink(path);
}

static void test_output(void **state)
{
	char dir[] = "/tmp/ringtail-test-XXXXXX", path[64], copy[64], link[64];
	struct image im = {0};
	struct stat st;

	assert_non_null(mkdtemp(dir));
	snprintf(path, sizeof(path), "%s/p.data", dir);
	snprintf(copy, sizeof(copy), "%s/q.data", dir);
	snprintf(link, sizeof(link), "%s/link", dir);
	make_samples(&im, 1, 5);
	add_features(&im);
	save(&im, path);
	assert_int_equal(symlink("/dev/null", link), 0);
	refuse(path, "table", link, true, -EINVAL);
	refuse(path, "table", "-", true, -EINVAL);
	assert_int_equal(mkfifo(copy, 0600), 0);
	refuse(path, "table", copy, true, -EINVAL);
	unlink(copy);
	save(&im, copy);
	unlink(link);
	assert_int_equal(symlink(copy, link), 0);
	set(path, "table", link);
	assert_int_equal(lstat(link, &st), 0);
	assert_true(S_ISLNK(st.st_mode));
	check(copy, "table", im.b.data);
	image_release(&im);
	unlink(path);
	unlink(copy);
	unlink(link);
	assert_int_equal(rmdir(dir), 0);
}

/* A signal that waits ends the program only after the temporary file is gone. */
static void test_signal(void **state)
{
	char dir[] = "/tmp/ringtail-test-XXXXXX", path[64];
	struct image im = {0};
	sigset_t term, old;
	struct timespec now = {0};

	assert_non_null(mkdtemp(dir));
	snprintf(path, sizeof(path), "%s/p.data", dir);
	make_samples(&im, 1, 5);
	save(&im, path);
	sigemptyset(&term);
	sigaddset(&term, SIGTERM);
	sigprocmask(SIG_BLOCK, &term, &old);
	assert_int_equal(raise(SIGTERM), 0);
	refuse(path, "table", NULL, true, -EINTR);
	assert_int_equal(sigtimedwait(&term, NULL, &now), SIGTERM);
	sigprocmask(SIG_SETMASK, &old, NULL);
	image_release(&im);
	unlink(path);
	assert_int_equal(rmdir(dir), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_file),   cmocka_unit_test(test_older_file),
		cmocka_unit_test(test_stream), cmocka_unit_test(test_writer),
		cmocka_unit_test(test_damage), cmocka_unit_test(test_output),
		cmocka_unit_test(test_signal),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
