// SPDX-License-Identifier: Apache-2.0
/*
 * Opens directories of perf record --threads: whole, with files missing, damaged, of another user.
 */
#include <errno.h>
#include <fcntl.h>

#include "data-walk.h"
#include "data/file/parts.h"

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

/* What the recorder says of its files, complete or not, beside what is there. */
static void test_parts(void **state)
{
	static const struct {
		uint64_t bytes[3]; /* of data.0 to data.2, of which data.2 is absent */
		size_t nr;
		bool complete;
		enum data_severity severity;
		const char *text; /* NULL: no finding */
	} tests[] = {
		{{400, 400}, 2, true, DATA_ODD, NULL},
		{{400, 400}, 2, false, DATA_ODD, NULL},
		{{400, 360}, 2, false, DATA_ODD, NULL},
		{{400, 360}, 2, true, DATA_ODD, "360 bytes expected, found 400"},
		{{440, 400}, 2, true, DATA_DAMAGED, "440 bytes (11 records) expected, found 400"},
		{{400, 400, 80}, 3, true, DATA_DAMAGED, "data.2 is missing: 80 bytes (2 records)"},
		{{400}, 1, true, DATA_ODD, "the recorder wrote no data.1"},
	};
	char dir[] = "/tmp/ringtail-test-XXXXXX", path[256];

	assert_non_null(mkdtemp(dir));
	for (size_t i = 0; i < sizeof(tests) / sizeof(tests[0]); i++) {
		struct part part[3];
		const struct parts parts = {
			.complete = tests[i].complete, .nr = tests[i].nr, .part = part};
		struct image im = {0}, raw = {0};
		struct buf list = {0};
		struct data_file *df;

		for (size_t n = 0; n < 3; n++)
			part[n] = (struct part){tests[i].bytes[n], tests[i].bytes[n] / 40};
		assert_int_equal(parts_encode(&parts, &list), 0);
		make_samples(&im, 1, 4);
		image_set64(&im, 72, 1ULL << HEADER_DIR_FORMAT);
		image_u64(&im, im.b.len + 16);
		image_u64(&im, list.len);
		assert_int_equal(buf_append(&im.b, list.data, list.len), 0);
		write_file(dir, "data", im.b.data, im.b.len);
		for (uint64_t n = 0; n < 10; n++)
			image_sample(&raw, 0, 10 + n, n);
		write_file(dir, "data.0", raw.b.data, raw.b.len);
		write_file(dir, "data.1", raw.b.data, raw.b.len);
		assert_int_equal(data_open(dir, false, &df, NULL), 0);
		assert_int_equal(walk(df, 0).samples, 24);
		if (tests[i].text)
			assert_int_equal(noted(df, tests[i].severity, tests[i].text), 1);
		else
			assert_no_notes(df);
		data_close(df);
		buf_release(&list);
		image_release(&im);
		image_release(&raw);
	}
	for (int i = 0; i < 3; i++) {
		snprintf(path, sizeof(path), i ? "%s/data.%d" : "%s/data", dir, i - 1);
		unlink(path);
	}
	rmdir(dir);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_directory),
		cmocka_unit_test(test_resume_directory),
		cmocka_unit_test(test_parts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
