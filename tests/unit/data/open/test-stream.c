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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_pipe_stream),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
