// SPDX-License-Identifier: Apache-2.0
/*
 * Reads headers: both versions, truncated, with sizes that are wrong, and while a recorder flushes.
 */
#include <errno.h>

#include "data-walk.h"
#include "data/open/open_priv.h"

static void test_version1(void **state)
{
	for (int swap = 0; swap < 2; swap++) {
		struct image im = {.swap = swap};
		struct data_file *df;

		make_samples(&im, 2, 10);
		memcpy(im.b.data, "PERFFILE", 8);
		df = image_open(&im);
		assert_int_equal(data_swapped(df), swap);
		assert_int_equal(walk(df, 0).samples, 10);
		assert_no_notes(df);
		data_close(df);
		image_release(&im);
	}
}

/* Truncated anywhere: everything before the end is read, and the end becomes a finding. */
static void test_truncated_anywhere(void **state)
{
	for (int swap = 0; swap < 2; swap++) {
		struct image im = {.swap = swap};
		struct data_file *df;

		make_samples(&im, 2, 12);
		for (size_t len = sizeof(struct pd_header); len < im.b.len; len++) {
			size_t whole = len > im.data_at ? (len - im.data_at) / 40 : 0;

			assert_int_equal(image_open_len(&im, len, &df, NULL), 0);
			assert_int_equal(walk(df, 0).records, whole);
			assert_true(noted(df, DATA_DAMAGED, "expected") > 0);
			data_close(df);
		}
		image_release(&im);
	}
}

static void test_size_zero(void **state)
{
	struct image im = {0};
	struct data_file *df;

	make_samples(&im, 1, 20);
	image_set64(&im, 48, 0);
	df = image_open(&im);
	assert_int_equal(walk(df, 0).samples, 20);
	assert_int_equal(noted(df, DATA_ODD, "killed"), 1);
	assert_int_equal(noted(df, DATA_DAMAGED, ""), 0);
	data_close(df);
	image_release(&im);
}

static void test_header_sizes(void **state)
{
	static const uint64_t sizes[] = {72, 104, 112, 4096, 0, 17, UINT64_MAX};

	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		bool known = sizes[i] == 72 || sizes[i] == 104;
		bool usable = sizes[i] >= 72 && sizes[i] <= 4096;
		struct image im = {0};
		struct data_file *df;

		make_samples(&im, 2, 9);
		image_set64(&im, 8, sizes[i]);
		df = image_open(&im);
		assert_int_equal(walk(df, 0).samples, 9);
		assert_int_equal(noted(df, DATA_DAMAGED, "size of header"), !usable);
		assert_int_equal(noted(df, DATA_ODD, "size of header"), usable && !known);
		data_close(df);
		image_release(&im);
	}
}

/* What is written to a header after it was read is noticed, in either half of a flush. */
static void test_flushed_meanwhile(void **state)
{
	char path[] = "/tmp/ringtail-test-XXXXXX";
	struct image im = {0};
	struct data_file *df;
	int fd = mkstemp(path);

	assert_true(fd >= 0);
	make_samples(&im, 1, 10);
	assert_int_equal(write(fd, im.b.data, im.b.len), im.b.len);
	assert_int_equal(data_open(path, false, &df, NULL), 0);
	assert_false(header_changed(df));
	for (size_t at = 0; at < sizeof(struct pd_header); at++) {
		im.b.data[at] ^= 1;
		assert_int_equal(pwrite(fd, im.b.data + at, 1, (off_t)at), 1);
		assert_true(header_changed(df));
		im.b.data[at] ^= 1;
		assert_int_equal(pwrite(fd, im.b.data + at, 1, (off_t)at), 1);
		assert_false(header_changed(df));
	}
	assert_int_equal(ftruncate(fd, 50), 0);
	assert_true(header_changed(df));
	data_close(df);
	close(fd);
	unlink(path);
	image_release(&im);
}

/* The data lie where the header says, or as near as the file allows. */
static void test_place_of_data(void **state)
{
	static const struct {
		uint64_t offset; /* 0: the right one */
		uint64_t samples;
		const char *text;
	} tests[] = {
		{0, 5, NULL},
		{UINT64_MAX, 0, "the file ends at"},
		{8, 5, "data expected behind the header"},
	};

	for (size_t i = 0; i < sizeof(tests) / sizeof(tests[0]); i++) {
		struct image im = {.swap = i & 1};
		struct data_file *df;

		make_samples(&im, 1, 5);
		if (tests[i].offset) {
			image_set64(&im, 40, tests[i].offset);
			image_set64(&im, 48, im.b.len - 8);
		}
		df = image_open(&im);
		assert_int_equal(walk(df, 0).samples, tests[i].samples);
		assert_int_equal(noted(df, DATA_DAMAGED, tests[i].text ?: ""), !!tests[i].text);
		data_close(df);
		image_release(&im);
	}
}

/* Written by 32 bits of the other byte order: the halves of the feature bits change places. */
static void test_feature_bits_of_32_bits(void **state)
{
	for (unsigned int narrow = 0; narrow < 2; narrow++) {
		uint64_t bits = 1ULL << HEADER_HOSTNAME | 1ULL << HEADER_TOTAL_MEM;
		struct image im = {.swap = true};
		struct data_file *df;
		const uint8_t *p;
		size_t table, n;

		make_samples(&im, 1, 5);
		table = im.b.len;
		image_set64(&im, 72, bits);
		if (narrow && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__)
			image_set64(&im, 72, bits << 32);
		for (unsigned int i = 0; i < 2; i++) {
			image_u64(&im, table + 32 + 8 * i);
			image_u64(&im, 8);
		}
		image_u64(&im, 1);
		image_u64(&im, 4096);
		df = image_open(&im);
		assert_int_equal(data_feature(df, HEADER_HOSTNAME, &p, &n), 0);
		assert_int_equal(data_feature(df, HEADER_TOTAL_MEM, &p, &n), 0);
		assert_int_equal(n, 8);
		assert_int_equal(p[__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? 6 : 1], 16);
		assert_int_equal(data_feature(df, HEADER_HOSTNAME + 32, &p, &n), -ENOENT);
		assert_no_notes(df);
		data_close(df);
		image_release(&im);
	}
}

/* Of another file only the beginning is read, and said. */
static void test_magic(void **state)
{
	struct error err = ERROR_INIT;

	assert_int_equal(header_check_magic("name", (const uint8_t *)"PERFFILE", NULL), 0);
	assert_int_equal(header_check_magic("name", (const uint8_t *)"PERFILE2", NULL), 0);
	assert_int_equal(header_check_magic("name", (const uint8_t *)"2ELIFREP", NULL), 0);
	assert_int_equal(header_check_magic("name", (const uint8_t *)"PERFILE3", &err), -EBADMSG);
	assert_non_null(strstr(err.text, "name"));
	assert_non_null(strstr(err.text, "no perf.data file"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_version1),
		cmocka_unit_test(test_truncated_anywhere),
		cmocka_unit_test(test_size_zero),
		cmocka_unit_test(test_header_sizes),
		cmocka_unit_test(test_flushed_meanwhile),
		cmocka_unit_test(test_place_of_data),
		cmocka_unit_test(test_feature_bits_of_32_bits),
		cmocka_unit_test(test_magic),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
