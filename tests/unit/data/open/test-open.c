// SPDX-License-Identifier: Apache-2.0
/* Opens recordings that are valid, and what is none: files, and input that cannot seek. */
#include <errno.h>
#include <signal.h>
#include <sys/resource.h>

#include "data-walk.h"

static void check_plain(bool swap)
{
	struct image im = {.swap = swap};
	struct data_file *df;
	struct data_record rec;
	struct data_scan *scan;

	make_samples(&im, 3, 100);
	df = image_open(&im);
	assert_int_equal(data_kind(df), DATA_FILE);
	assert_int_equal(data_swapped(df), swap);
	assert_int_equal(data_segments(df), 1);
	assert_int_equal(pd_evlist_count(data_evlist(df)), 3);
	assert_int_equal(data_scan_new(df, 0, 0, DATA_WHOLE, DATA_SCAN_FINDINGS, &scan), 0);
	for (uint64_t i = 0; i < 100; i++) {
		assert_int_equal(data_scan_next(scan, &rec), 1);
		assert_int_equal(rec.offset, im.data_at + i * 40);
		assert_int_equal(rec.inner, 0);
		assert_int_equal(image_tag(&rec), i);
		assert_int_equal(rec.time, 1000 + i);
		assert_ptr_equal(rec.evsel, pd_evlist_at(data_evlist(df), i % 3));
		assert_int_equal(rec.payload_size, 0);
	}
	assert_int_equal(data_scan_next(scan, &rec), 0);
	assert_int_equal(data_scan_next(scan, &rec), 0);
	data_scan_free(scan);

	/* a part of it */
	assert_int_equal(data_scan_new(df, 0, im.data_at + 400, im.data_at + 800, 0, &scan), 0);
	for (uint64_t i = 10; i < 20; i++) {
		assert_int_equal(data_scan_next(scan, &rec), 1);
		assert_int_equal(image_tag(&rec), i);
	}
	assert_int_equal(data_scan_next(scan, &rec), 0);
	data_scan_free(scan);
	assert_no_notes(df);
	data_close(df);
	image_release(&im);
}

static void test_plain(void **state)
{
	check_plain(false);
	check_plain(true);
}

static void test_no_recording(void **state)
{
	struct error err = ERROR_INIT;
	struct image im = {0};
	struct data_file *df;

	assert_int_equal(image_open_len(&im, 0, &df, &err), -ENODATA);
	make_samples(&im, 1, 1);
	assert_int_equal(image_open_len(&im, 15, &df, &err), -ENODATA);
	assert_int_equal(image_open_len(&im, 103, &df, &err), -ENODATA);
	im.b.data[0] = 'X';
	assert_int_equal(image_open_len(&im, im.b.len, &df, &err), -EBADMSG);
	assert_non_null(strstr(err.text, "PERFILE2"));
	assert_int_equal(data_open("/nonexistent/x", false, &df, &err), -ENOENT);
	image_release(&im);
}

/* What does not begin as a recording is not copied: TMPDIR would be full before it ends. */
static void test_endless_input(void **state)
{
	struct rlimit was, small = {1 << 20, 1 << 20};
	struct error err = ERROR_INIT;
	struct data_file *df = NULL;

	(void)state;
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &was), 0);
	small.rlim_max = was.rlim_max;
	signal(SIGXFSZ, SIG_IGN);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
	assert_int_equal(data_open("/dev/zero", true, &df, &err), -EBADMSG);
	assert_non_null(strstr(err.text, "no perf.data file"));
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &was), 0);
	signal(SIGXFSZ, SIG_DFL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_plain),
		cmocka_unit_test(test_no_recording),
		cmocka_unit_test(test_endless_input),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
