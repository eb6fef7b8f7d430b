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

/* Some writers put the place of the ids behind the attribute's own size. */
static void test_ids_behind_the_attribute(void **state)
{
	struct image im = {0};
	struct data_file *df;
	size_t attrs = sizeof(struct pd_header) + 8;

	make_samples(&im, 1, 3);
	image_set64(&im, attrs, PERF_TYPE_SOFTWARE | 96ULL << 32);
	image_set64(&im, attrs + 96, sizeof(struct pd_header));
	image_set64(&im, attrs + 104, 8);
	image_set64(&im, im.data_at - 16, 0);
	image_set64(&im, im.data_at - 8, 0);
	df = image_open(&im);
	assert_int_equal(pd_evlist_at(data_evlist(df), 0)->nr_ids, 1);
	assert_int_equal(pd_evlist_at(data_evlist(df), 0)->ids[0], IMAGE_ID);
	assert_no_notes(df);
	data_close(df);
	/* not in the file: then there are none, as the end of the entry has it */
	image_set64(&im, attrs + 96, UINT64_MAX - 7);
	df = image_open(&im);
	assert_int_equal(pd_evlist_at(data_evlist(df), 0)->nr_ids, 0);
	assert_no_notes(df);
	data_close(df);
	image_release(&im);
}

/* All events claim the whole file as their ids: the work stays within its size. */
static void test_ids_overlap(void **state)
{
	struct image im = {0};
	struct data_file *df;
	size_t ids = 0, len;

	make_samples(&im, 50, 50);
	len = im.b.len / 8 * 8;
	for (unsigned int i = 0; i < 50; i++) {
		image_set64(&im, im.data_at - 16 - i * IMAGE_STRIDE, 0);
		image_set64(&im, im.data_at - 8 - i * IMAGE_STRIDE, len);
	}
	df = image_open(&im);
	assert_int_equal(pd_evlist_count(data_evlist(df)), 50);
	for (unsigned int i = 0; i < 50; i++)
		ids += pd_evlist_at(data_evlist(df), i)->nr_ids;
	assert_true(ids <= len / 8);
	assert_int_equal(noted(df, DATA_DAMAGED, "ids of the events overlap"), 49);
	data_close(df);
	image_release(&im);
}

/* Before perf 3.10 a table had the names of tracepoints; other numbers are not unique. */
static void test_event_types(void **state)
{
	for (unsigned int i = 0; i < 4; i++) {
		struct image im = {.swap = i & 1};
		bool tracepoint = i & 2;
		struct data_file *df;
		const char *name;
		size_t at;

		make_samples(&im, 1, 3);
		at = sizeof(struct pd_header) + 8;
		if (tracepoint) { /* the type is the first half of the first word */
			memset(im.b.data + at, 0, 4);
			im.b.data[at + (im.swap ? 3 : 0)] = PERF_TYPE_TRACEPOINT;
		}
		image_set64(&im, at + 8, 77);
		image_set64(&im, 56, im.b.len);
		image_set64(&im, 64, 2 * 72);
		for (unsigned int n = 0; n < 2; n++) {
			char text[64] = "sched:sched_switch";

			text[0] = n ? 's' : 'x';
			image_u64(&im, n ? 77 : 76);
			assert_int_equal(buf_append(&im.b, text, 64), 0);
		}
		df = image_open(&im);
		name = pd_evlist_at(data_evlist(df), 0)->name;
		assert_int_equal(name && !strcmp(name, "sched:sched_switch"), tracepoint);
		assert_no_notes(df);
		data_close(df);
		image_set64(&im, 56, UINT64_MAX);
		df = image_open(&im);
		assert_int_equal(noted(df, DATA_DAMAGED, "names of events"), 1);
		data_close(df);
		image_release(&im);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_attr_sizes),
		cmocka_unit_test(test_attr_lies),
		cmocka_unit_test(test_ids_behind_the_attribute),
		cmocka_unit_test(test_ids_overlap),
		cmocka_unit_test(test_event_types),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
