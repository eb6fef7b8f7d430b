// SPDX-License-Identifier: Apache-2.0
/*
 * Opens directories of perf record --threads: whole, with files missing, damaged, of another user.
 */
#include <errno.h>
#include <fcntl.h>

#include "data-walk.h"

static void write_file(const char *dir, const char *name, const uint8_t *p, size_t len)
{
	char path[256];
	int fd;

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
	assert_true(fd >= 0);
	assert_int_equal(write(fd, p, len), len);
	close(fd);
}

static void test_directory(void **state)
{
	static const char *const names[] = {"data.0", "data.2", "data.10", "data.old", "data.01"};
	char dir[] = "/tmp/ringtail-test-XXXXXX", path[256];
	struct image im = {0}, raw = {0};
	struct error err = ERROR_INIT;
	struct data_file *df;

	assert_non_null(mkdtemp(dir));
	assert_int_equal(data_open(dir, false, &df, &err), -ENOENT);
	assert_non_null(strstr(err.text, "\"data\""));

	make_samples(&im, 1, 4);
	write_file(dir, "data", im.b.data, im.b.len);
	for (uint64_t i = 0; i < 5; i++) {
		raw.b.len = 0;
		image_sample(&raw, 0, 10, 100 + i);
		write_file(dir, names[i], raw.b.data, raw.b.len);
	}
	assert_int_equal(data_open(dir, false, &df, &err), 0);
	assert_int_equal(data_kind(df), DATA_DIRECTORY);
	assert_int_equal(data_segments(df), 4);
	assert_non_null(strstr(data_segment_path(df, 3), "/data.10"));
	assert_int_equal(walk(df, 0).samples, 7);
	assert_int_equal(walk(df, 0).last_tag, 102);
	assert_int_equal(noted(df, DATA_ODD, "data.1 is missing"), 1);
	assert_int_equal(noted(df, DATA_ODD, "data.3 is missing"), 1);
	data_close(df);
	for (size_t i = 0; i < 5; i++) {
		snprintf(path, sizeof(path), "%s/%s", dir, names[i]);
		unlink(path);
	}
	snprintf(path, sizeof(path), "%s/data", dir);
	if (!geteuid()) {
		assert_int_equal(chown(path, 12345, 12345), 0);
		assert_int_equal(data_open(dir, false, &df, &err), -EPERM);
		assert_int_equal(data_open(path, false, &df, &err), -EPERM);
		assert_int_equal(data_open(path, true, &df, &err), 0);
		data_close(df);
	}
	unlink(path);
	rmdir(dir);
	image_release(&im);
	image_release(&raw);
}

/* Damage in one file of a directory costs nothing of the others, and little of its own. */
static void test_resume_directory(void **state)
{
	char dir[] = "/tmp/ringtail-test-XXXXXX", path[256];
	struct image im = {0}, raw = {0};
	struct error err = ERROR_INIT;
	struct data_file *df;

	assert_non_null(mkdtemp(dir));
	make_samples(&im, 1, 4);
	write_file(dir, "data", im.b.data, im.b.len);
	for (uint64_t i = 0; i < 50; i++)
		image_sample(&raw, 0, 10 + i, 100 + i);
	write_file(dir, "data.0", raw.b.data, raw.b.len);
	memset(raw.b.data + 40ul * 20, 0, 80);
	write_file(dir, "data.1", raw.b.data, raw.b.len);
	assert_int_equal(data_open(dir, false, &df, &err), 0);
	assert_int_equal(walk(df, 0).samples, 4 + 50 + 48);
	assert_int_equal(noted(df, DATA_DAMAGED, "80 bytes are skipped, up to offset 0x370"), 1);
	assert_int_equal(noted(df, DATA_DAMAGED, ""), 1);
	data_close(df);
	for (int i = 0; i < 3; i++) {
		snprintf(path, sizeof(path), i ? "%s/data.%d" : "%s/data", dir, i - 1);
		unlink(path);
	}
	rmdir(dir);
	image_release(&im);
	image_release(&raw);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_directory),
		cmocka_unit_test(test_resume_directory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
