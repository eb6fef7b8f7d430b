// SPDX-License-Identifier: Apache-2.0
/* Reads the features behind the data: whole, truncated, outside of the file, one over the other. */
#include <errno.h>

#include "data-walk.h"

/* Features behind the data: two of them, HOSTNAME (3) and TOTAL_MEM (10). */
static size_t add_features(struct image *im)
{
	size_t table = im->b.len;

	image_set64(im, 72, 1ULL << HEADER_HOSTNAME | 1ULL << HEADER_TOTAL_MEM);
	image_u64(im, table + 32);
	image_u64(im, 12);
	image_u64(im, table + 44);
	image_u64(im, 8);
	image_u32(im, 8);
	assert_int_equal(buf_append(&im->b, "machine", 8), 0);
	image_u64(im, 4096);
	return table;
}

static void test_features(void **state)
{
	for (int swap = 0; swap < 2; swap++) {
		struct image im = {.swap = swap};
		struct data_file *df;
		const uint8_t *p;
		size_t table, n;

		make_samples(&im, 1, 5);
		table = add_features(&im);
		df = image_open(&im);
		assert_int_equal(data_feature(df, HEADER_HOSTNAME, &p, &n), 0);
		assert_int_equal(n, 12);
		assert_string_equal((const char *)p + 4, "machine");
		assert_int_equal(data_feature(df, HEADER_TOTAL_MEM, &p, &n), 0);
		assert_int_equal(n, 8);
		assert_int_equal(data_feature(df, HEADER_ARCH, &p, &n), -ENOENT);
		assert_int_equal(data_feature(df, 5000, &p, &n), -ENOENT);
		assert_no_notes(df);
		data_close(df);

		/* size of data 0, but the table is where a record should be: it counts as found */
		image_set64(&im, 48, 0);
		df = image_open(&im);
		assert_int_equal(walk(df, 0).records, 5);
		assert_int_equal(data_feature(df, HEADER_HOSTNAME, &p, &n), 0);
		assert_int_equal(noted(df, DATA_DAMAGED, ""), 0);
		data_close(df);

		/* a section outside of the file: the other one is still read */
		image_set64(&im, 48, table - im.data_at);
		image_set64(&im, table, UINT64_MAX - 4);
		df = image_open(&im);
		assert_int_equal(data_feature(df, HEADER_HOSTNAME, &p, &n), -ENOENT);
		assert_int_equal(data_feature(df, HEADER_TOTAL_MEM, &p, &n), 0);
		assert_int_equal(noted(df, DATA_DAMAGED, "feature 3"), 1);
		data_close(df);

		/* a truncated table */
		image_set64(&im, table, table);
		assert_int_equal(image_open_len(&im, table + 16, &df, NULL), 0);
		assert_int_equal(data_feature(df, HEADER_HOSTNAME, &p, &n), 0);
		assert_int_equal(data_feature(df, HEADER_TOTAL_MEM, &p, &n), -ENOENT);
		assert_int_equal(noted(df, DATA_DAMAGED, "table of 2 features"), 1);
		data_close(df);
		image_release(&im);
	}
}

/* Sections that overlap may not cost more memory than the file has bytes. */
static void test_features_overlap(void **state)
{
	struct image im = {0};
	struct data_file *df;
	const uint8_t *p;
	size_t n, total = 0, table, len;

	make_samples(&im, 1, 5);
	table = im.b.len;
	len = table + 200 * 16;
	for (unsigned int i = 0; i < 4; i++)
		image_set64(&im, 72 + i * 8, i < 3 ? UINT64_MAX : 0xff);
	for (unsigned int i = 0; i < 200; i++) {
		image_u64(&im, 0);
		image_u64(&im, len);
	}
	df = image_open(&im);
	for (unsigned int f = 0; f < HEADER_FEAT_BITS; f++) {
		if (!data_feature(df, f, &p, &n))
			total += n;
	}
	assert_true(total <= len);
	/* bit 0 has no contents, the first section is right */
	assert_int_equal(noted(df, DATA_DAMAGED, ""), 198);
	data_close(df);
	image_release(&im);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_features),
		cmocka_unit_test(test_features_overlap),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
