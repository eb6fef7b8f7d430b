// SPDX-License-Identifier: Apache-2.0
/* What is extracted of AUXTRACE records that overlap, are padded, out of order or damaged. */
#include <errno.h>
#include <fcntl.h>

#include "data-image.h"
#include "data/file/findings.h"
#include "perfdata/aux_record.h"
#include "perfdata/snapshot_log.h"
#include "report/aux/extract.h"

struct fixture {
	struct image im;
	char dir[32];
};

static int setup(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));

	assert_non_null(f);
	strcpy(f->dir, "/tmp/extract-XXXXXX");
	assert_non_null(mkdtemp(f->dir));
	image_begin(&f->im, 1, IMAGE_STRIDE);
	*state = f;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(rmdir(f->dir), 0);
	image_release(&f->im);
	free(f);
	return 0;
}

static void put_aux(struct image *im, uint64_t flags)
{
	image_head(im, PERF_RECORD_AUX, 56);
	image_u64(im, 0);
	image_u64(im, 8);
	image_u64(im, flags);
	image_u32(im, 7);
	image_u32(im, 8);
	image_u64(im, 1000);
	image_u64(im, IMAGE_ID);
}

/* Appends @trace, padded, as the trace of a ring of CPU 3 at @offset. */
static void put_trace(struct image *im, uint64_t offset, const char *trace)
{
	const struct pd_auxtrace a = {
		.size = strlen(trace), .offset = offset, .idx = 1, .tid = UINT32_MAX, .cpu = 3};
	struct pd_auxtrace_record r;

	pd_auxtrace_encode(&a, &r);
	assert_int_equal(buf_append(&im->b, &r, sizeof(r)), 0);
	assert_int_equal(buf_append(&im->b, trace, a.size), 0);
	assert_int_equal(buf_zero(&im->b, r.size - a.size), 0);
}

/* Appends the log's record of the ring. */
static void put_log(struct image *im, uint64_t position, uint64_t written)
{
	const struct pd_snapshot_log log = {
		.kind = PD_SNAPSHOT_AUX_RING,
		.number = 1,
		.aux = {.idx = 1,
			.cpu = 3,
			.tid = UINT32_MAX,
			.mode = PD_AUX_SNAPSHOT,
			.position = position,
			.written = written},
	};
	struct pd_snapshot_record r;

	pd_snapshot_encode(&log, &r);
	assert_int_equal(buf_append(&im->b, &r, r.header.size), 0);
}

/* Extracts and compares, NULL: there is no file. Returns the number of findings. */
static size_t extract(struct fixture *f, const char *expected, size_t len)
{
	const struct filter_ranges all = {0};
	const struct aux_extract_opts opts = {.dir = f->dir, .cpus = &all, .tids = &all};
	struct error err = ERROR_INIT;
	struct data_file *df;
	char path[48], found[256];
	size_t findings;
	int fd;

	image_end(&f->im);
	df = image_open(&f->im);
	assert_int_equal(aux_extract(df, &opts, &err), 0);
	data_findings(df, &findings);
	data_close(df);
	snprintf(path, sizeof(path), "%s/cpu3", f->dir);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (!expected) {
		assert_int_equal(fd, -1);
		return findings;
	}
	assert_true(fd >= 0);
	assert_int_equal(read(fd, found, sizeof(found)), len);
	assert_memory_equal(found, expected, len);
	close(fd);
	unlink(path);
	return findings;
}

static void full_trace_is_in_order_and_once(void **state)
{
	struct fixture *f = *state;

	put_aux(&f->im, 0);
	put_trace(&f->im, 16, "cccccccc");
	put_trace(&f->im, 8, "bbbbbbbb");
	put_trace(&f->im, 8, "bbbbbbbbcccccccc"); /* again */
	put_trace(&f->im, 16, "ccccccccdddddddd");
	assert_int_equal(extract(f, "bbbbbbbbccccccccdddddddd", 24), 0);
}

static void padding_goes_where_the_next_offset_shows_it(void **state)
{
	struct fixture *f = *state;

	put_aux(&f->im, 0);
	put_trace(&f->im, 0, "aaa");
	put_trace(&f->im, 3, "bbbbb");
	put_trace(&f->im, 8, "ccccccccc");
	assert_int_equal(extract(f, "aaabbbbbccccccccc\0\0\0\0\0\0\0", 24), 0);
}

static void an_event_that_was_opened_again_begins_at_0(void **state)
{
	struct fixture *f = *state;

	put_aux(&f->im, 0);
	put_trace(&f->im, 0, "aaaaaaaa");
	put_trace(&f->im, 8, "bbbbbbbb");
	put_trace(&f->im, 0, "cccccccc");
	assert_int_equal(extract(f, "aaaaaaaabbbbbbbbcccccccc", 24), 0);
}

/* Offsets of perf's snapshots may lie in the buffer. */
static void snapshots_of_unknown_place_are_not_compared(void **state)
{
	struct fixture *f = *state;

	put_aux(&f->im, PERF_AUX_FLAG_OVERWRITE);
	put_trace(&f->im, 64, "aaaaaaaaaaaaaaaa");
	put_trace(&f->im, 32, "bbbbbbbbbbbbbbbb");
	put_trace(&f->im, 32, "cccccccc");
	assert_int_equal(extract(f, "aaaaaaaaaaaaaaaabbbbbbbbbbbbbbbbcccccccc", 40), 0);
}

static void the_log_gives_place_and_size_of_a_snapshot(void **state)
{
	struct fixture *f = *state;

	put_aux(&f->im, PERF_AUX_FLAG_OVERWRITE);
	put_log(&f->im, 20, 20);
	put_trace(&f->im, 0, "aaaaaaaaaabbbbbbbbbb");
	put_log(&f->im, 31, 21);
	put_trace(&f->im, 10, "bbbbbbbbbbccccccccccc");
	assert_int_equal(extract(f, "aaaaaaaaaabbbbbbbbbbccccccccccc", 31), 0);
}

static void damaged_records_are_counted(void **state)
{
	struct fixture *f = *state;
	size_t at;

	put_aux(&f->im, 0);
	put_trace(&f->im, 0, "");
	assert_int_equal(extract(f, NULL, 0), 1);
	put_trace(&f->im, 0, "aaaaaaaa");
	at = f->im.b.len;
	put_trace(&f->im, 8, "bbbbbbbb");
	image_set64(&f->im, at + 8, UINT64_MAX - 7); /* its size */
	assert_int_equal(extract(f, "aaaaaaaabbbbbbbb", 16), 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(full_trace_is_in_order_and_once, setup, teardown),
		cmocka_unit_test_setup_teardown(padding_goes_where_the_next_offset_shows_it, setup,
						teardown),
		cmocka_unit_test_setup_teardown(an_event_that_was_opened_again_begins_at_0, setup,
						teardown),
		cmocka_unit_test_setup_teardown(snapshots_of_unknown_place_are_not_compared, setup,
						teardown),
		cmocka_unit_test_setup_teardown(the_log_gives_place_and_size_of_a_snapshot, setup,
						teardown),
		cmocka_unit_test_setup_teardown(damaged_records_are_counted, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
