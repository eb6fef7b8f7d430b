// SPDX-License-Identifier: Apache-2.0
/* Takes events and features from records, of a pipe stream and of a file. */
#include "data-walk.h"

static void make_pipe(struct image *im)
{
	image_pipe_begin(im);
	image_head(im, PERF_RECORD_HEADER_ATTR, 8 + 112 + 8);
	image_attr(im, 112);
	image_u64(im, IMAGE_ID);
	image_head(im, PERF_RECORD_EVENT_UPDATE, 32);
	image_u64(im, 2);
	image_u64(im, IMAGE_ID);
	assert_int_equal(buf_append(&im->b, "my-name", 8), 0);
	image_head(im, PERF_RECORD_HEADER_FEATURE, 24);
	image_u64(im, HEADER_TOTAL_MEM);
	image_u64(im, 4096);
	image_head(im, PERF_RECORD_HEADER_TRACING_DATA, 12);
	image_u32(im, 5);
	assert_int_equal(buf_append(&im->b, "trace\0\0", 8), 0);
	for (uint64_t i = 0; i < 20; i++)
		image_sample(im, 0, i, i);
	image_head(im, PERF_RECORD_HEADER_BUILD_ID, 48);
	assert_int_equal(buf_zero(&im->b, 40), 0);
	image_head(im, PERF_RECORD_HEADER_BUILD_ID, 48);
	assert_int_equal(buf_zero(&im->b, 40), 0);
}

static void check_pipe(struct data_file *df)
{
	const uint8_t *p;
	size_t n;

	assert_int_equal(data_kind(df), DATA_PIPE);
	assert_int_equal(pd_evlist_count(data_evlist(df)), 1);
	assert_string_equal(pd_evlist_at(data_evlist(df), 0)->name, "my-name");
	assert_int_equal(pd_evlist_at(data_evlist(df), 0)->ids[0], IMAGE_ID);
	assert_int_equal(data_feature(df, HEADER_TOTAL_MEM, &p, &n), 0);
	assert_int_equal(n, 8);
	assert_int_equal(data_feature(df, HEADER_TRACING_DATA, &p, &n), 0);
	assert_int_equal(n, 5);
	assert_memory_equal(p, "trace", 5);
	assert_int_equal(data_feature(df, HEADER_BUILD_ID, &p, &n), 0);
	assert_int_equal(n, 96);
	assert_int_equal(walk(df, 0).samples, 20);
	assert_no_notes(df);
}

static void test_pipe_stream(void **state)
{
	for (int swap = 0; swap < 2; swap++) {
		struct image im = {.swap = swap};
		struct data_file *df;
		int fd[2];
		char path[64];

		make_pipe(&im);
		df = image_open(&im);
		check_pipe(df);
		data_close(df);

		/* one that cannot be seeked */
		assert_int_equal(pipe(fd), 0);
		assert_int_equal(write(fd[1], im.b.data, im.b.len), im.b.len);
		close(fd[1]);
		snprintf(path, sizeof(path), "/proc/self/fd/%d", fd[0]);
		assert_int_equal(data_open(path, false, &df, NULL), 0);
		close(fd[0]);
		check_pipe(df);
		data_close(df);
		image_release(&im);
	}
}

/* What each record lacks or names wrongly is said; all others count. */
static void test_damaged_records(void **state)
{
	static const struct {
		uint32_t type;
		uint16_t size;
		uint64_t words[3];
		enum data_severity severity;
		const char *text;
	} tests[] = {
		{PERF_RECORD_HEADER_ATTR, 32, {0, 0, 0}, DATA_DAMAGED, "HEADER_ATTR"},
		{PERF_RECORD_EVENT_UPDATE, 16, {2}, DATA_DAMAGED, "EVENT_UPDATE"},
		{PERF_RECORD_HEADER_FEATURE, 16, {256}, DATA_ODD, "unknown event or feature"},
		{PERF_RECORD_HEADER_FEATURE, 8, {0}, DATA_DAMAGED, "HEADER_FEATURE"},
	};

	for (size_t i = 0; i < sizeof(tests) / sizeof(tests[0]); i++) {
		struct image im = {.swap = i & 1};
		struct data_file *df;

		make_pipe(&im);
		image_head(&im, tests[i].type, tests[i].size);
		for (size_t n = 0; n + 1 < tests[i].size / 8; n++)
			image_u64(&im, tests[i].words[n]);
		image_sample(&im, 0, 100, 100);
		df = image_open(&im);
		assert_int_equal(pd_evlist_count(data_evlist(df)), 1);
		assert_int_equal(noted(df, tests[i].severity, tests[i].text), 1);
		assert_int_equal(walk(df, 0).samples, 21);
		data_close(df);
		image_release(&im);
	}
}

/* A file has its events in the header; the records count where that has none. */
static void test_events_in_records_of_a_file(void **state)
{
	for (unsigned int i = 0; i < 2; i++) {
		struct image im = {0};
		struct data_file *df;

		image_begin(&im, 1, IMAGE_STRIDE);
		image_head(&im, PERF_RECORD_HEADER_ATTR, 8 + 112 + 16);
		image_attr(&im, 112);
		image_u64(&im, IMAGE_ID);
		image_u64(&im, IMAGE_ID + 7);
		image_sample(&im, 0, 1, 1);
		image_end(&im);
		if (i)
			image_set64(&im, 32, 0);
		df = image_open(&im);
		assert_int_equal(pd_evlist_count(data_evlist(df)), 1);
		assert_int_equal(pd_evlist_at(data_evlist(df), 0)->nr_ids, i ? 2 : 1);
		assert_int_equal(walk(df, 0).samples, 1);
		data_close(df);
		image_release(&im);
	}
}

/* Names behind the first sample of a file are not searched for; a pipe may have them anywhere. */
static void test_names_behind_samples(void **state)
{
	struct image im = {0};
	struct data_file *df;

	image_begin(&im, 1, IMAGE_STRIDE);
	for (unsigned int i = 0; i < 2; i++) {
		if (i)
			image_sample(&im, 0, 1, 1);
		image_head(&im, PERF_RECORD_EVENT_UPDATE, 32);
		image_u64(&im, 2);
		image_u64(&im, IMAGE_ID);
		assert_int_equal(buf_append(&im.b, i ? "behind\0" : "before\0", 8), 0);
	}
	image_end(&im);
	df = image_open(&im);
	assert_string_equal(pd_evlist_at(data_evlist(df), 0)->name, "before");
	data_close(df);
	image_release(&im);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_pipe_stream),
		cmocka_unit_test(test_damaged_records),
		cmocka_unit_test(test_events_in_records_of_a_file),
		cmocka_unit_test(test_names_behind_samples),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
