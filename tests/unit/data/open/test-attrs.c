// SPDX-License-Identifier: Apache-2.0
/*
 * Reads attributes and their ids, where their sizes and places are right, and where they are not.
 */
#include "data-walk.h"

static void test_attr_sizes(void **state)
{
	static const size_t strides[] = {80, 88, 112, 152, 160, 216};

	for (size_t i = 0; i < sizeof(strides) / sizeof(strides[0]); i++) {
		struct image im = {.swap = i % 2};
		struct data_file *df;

		image_begin(&im, 2, strides[i]);
		image_sample(&im, 1, 5, 6);
		image_end(&im);
		df = image_open(&im);
		assert_int_equal(pd_evlist_count(data_evlist(df)), 2);
		assert_int_equal(pd_evlist_at(data_evlist(df), 1)->nr_ids, 1);
		assert_int_equal(pd_evlist_at(data_evlist(df), 1)->ids[0], IMAGE_ID + 1);
		assert_int_equal(walk(df, 0).last_tag, 6);
		assert_no_notes(df);
		data_close(df);
		image_release(&im);
	}
}

/* The header or the attribute gives a wrong size: events are found all the same. */
static void test_attr_lies(void **state)
{
	struct image im = {0};
	struct data_file *df;
	size_t attrs = sizeof(struct pd_header) + 8;

	make_samples(&im, 1, 3);

	image_set64(&im, 16, 0);
	df = image_open(&im);
	assert_int_equal(pd_evlist_at(data_evlist(df), 0)->nr_ids, 1);
	assert_int_equal(noted(df, DATA_DAMAGED, "size of attributes"), 1);
	data_close(df);

	image_set64(&im, 16, IMAGE_STRIDE);
	image_set64(&im, attrs, PERF_TYPE_SOFTWARE | 60000ULL << 32);
	df = image_open(&im);
	assert_int_equal(pd_evlist_count(data_evlist(df)), 1);
	assert_int_equal(noted(df, DATA_DAMAGED, "size of attribute"), 1);
	data_close(df);

	/* smaller than its room: the ids are still at the end of the entry */
	image_set64(&im, attrs, PERF_TYPE_SOFTWARE | 96ULL << 32);
	df = image_open(&im);
	assert_int_equal(pd_evlist_at(data_evlist(df), 0)->nr_ids, 1);
	assert_no_notes(df);
	data_close(df);

	/* 2^60 ids, ids outside, attributes outside, no end of attributes */
	image_set64(&im, im.data_at - 8, 1ULL << 63);
	df = image_open(&im);
	assert_int_equal(pd_evlist_at(data_evlist(df), 0)->nr_ids, 0);
	assert_int_equal(noted(df, DATA_DAMAGED, "ids of an event"), 1);
	data_close(df);
	image_set64(&im, 24, UINT64_MAX - 7);
	df = image_open(&im);
	assert_int_equal(pd_evlist_count(data_evlist(df)), 0);
	assert_int_equal(walk(df, 0).records, 3);
	data_close(df);
	image_set64(&im, 24, attrs);
	image_set64(&im, 32, UINT64_MAX);
	df = image_open(&im);
	assert_true(pd_evlist_count(data_evlist(df)) >= 1);
	assert_true(noted(df, DATA_DAMAGED, "bytes of attributes") == 1);
	data_close(df);
	image_release(&im);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_attr_sizes),
		cmocka_unit_test(test_attr_lies),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
