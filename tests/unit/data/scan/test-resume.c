// SPDX-License-Identifier: Apache-2.0
/*
 * Searches for records behind damage of any place and length, in both byte orders: the walk goes on
 * at the first record that begins a run behind it. A search in part of the bytes never skips that
 * record.
 */
#include "data-image.h"

#include "data/file/file_priv.h"
#include "data/scan/resume.h"

#define RECORDS 40
#define TIME	1000000000ull

struct recording {
	struct image im;
	struct data_file *df;
	size_t at[RECORDS + 1]; /* offset of each record in the image; the last is the end */
	uint8_t *bytes;		/* a copy of the records, to be damaged */
	size_t len;
};

static void begin(struct recording *r, bool swap)
{
	*r = (struct recording){.im.swap = swap};
	image_begin(&r->im, 2, IMAGE_STRIDE);
	for (unsigned int i = 0; i < RECORDS; i++) {
		r->at[i] = r->im.b.len;
		if (i % 7 == 3)
			image_comm(&r->im, TIME + i, "name");
		else
			image_sample(&r->im, i % 2, TIME + i, 0x401000 + i);
	}
	r->at[RECORDS] = r->im.b.len;
	image_end(&r->im);
	r->df = image_open(&r->im);
	r->len = r->at[RECORDS] - r->at[0];
	r->bytes = malloc(r->len);
	assert_non_null(r->bytes);
}

static void end(struct recording *r)
{
	free(r->bytes);
	data_close(r->df);
	image_release(&r->im);
}

/* Writes noise or zeros over @len bytes at @from. */
static void damage(struct recording *r, size_t from, size_t len, bool noise)
{
	memcpy(r->bytes, r->im.b.data + r->at[0], r->len);
	for (size_t i = from; i < from + len && i < r->len; i++)
		r->bytes[i] = noise ? (uint8_t)(rand() | 0x80) : 0;
}

/* The first record that lies behind @end and that another follows; SIZE_MAX: there is none. */
static size_t next_run(const struct recording *r, size_t behind)
{
	for (size_t i = 0; i + 1 < RECORDS; i++)
		if (r->at[i] - r->at[0] >= behind)
			return r->at[i] - r->at[0];
	return SIZE_MAX;
}

static void check_damage(struct recording *r, size_t from, size_t len, bool noise)
{
	size_t want, at = SIZE_MAX;
	int rc;

	damage(r, from, len, noise);
	want = next_run(r, from + len);
	rc = resume_find_in(r->df, r->bytes + from, r->len - from, true, &at);
	assert_int_equal(rc, want != SIZE_MAX);
	assert_int_equal(from + at, want == SIZE_MAX ? r->len : want);
	/* With fewer bytes it finds the same place, or wants more bytes from there or before. */
	for (size_t part = 0; part < r->len - from; part += 24) {
		rc = resume_find_in(r->df, r->bytes + from, part, false, &at);
		assert_true(rc ? from + at == want : at <= part);
		assert_true(want == SIZE_MAX || from + at <= want);
	}
}

static void check_order(bool swap)
{
	struct recording r;

	begin(&r, swap);
	srand(1);
	for (size_t record = 0; record < RECORDS; record += 3)
		/* Whole words: zeros over half of a word may be what was there. */
		for (size_t len = 8; len < 200; len += 12 + 4 * (record % 3)) {
			size_t from = r.at[record] - r.at[0];

			check_damage(&r, from, len, true);
			check_damage(&r, from, len, false);
			check_damage(&r, from + 4, len, true);
		}
	end(&r);
}

static void test_own_order(void **state)
{
	check_order(false);
}

static void test_other_order(void **state)
{
	check_order(true);
}

/* Without damage the first record of a run is the next one that begins. */
static void test_no_damage(void **state)
{
	struct recording r;
	size_t at;

	begin(&r, false);
	for (size_t from = 0; from + 200 < r.len; from++) {
		assert_int_equal(
			resume_find_in(r.df, r.im.b.data + r.at[0] + from, r.len - from, true, &at),
			1);
		assert_int_equal(from + at, next_run(&r, from));
	}
	end(&r);
}

/* Bytes that look like records of a run whose times jump by @jump after three of them. */
static void check_jump(int64_t jump)
{
	struct image im = {0};
	struct data_file *df;
	size_t at, first;

	image_begin(&im, 1, IMAGE_STRIDE);
	first = im.b.len;
	for (unsigned int i = 0; i < 12; i++)
		image_sample(&im, 0, (i < 3 ? 0 : (uint64_t)jump) + 90000 * TIME + i, i);
	image_end(&im);
	df = image_open(&im);
	assert_int_equal(resume_find_in(df, im.b.data + first, im.b.len - first, true, &at), 1);
	/* Rings are written one after the other, so times of true records differ by seconds. */
	assert_int_equal(at, llabs(jump) < 10 * (int64_t)TIME ? 0 : 3 * 40);
	data_close(df);
	image_release(&im);
}

static void test_times(void **state)
{
	check_jump(9 * (int64_t)TIME);
	check_jump(-9 * (int64_t)TIME);
	check_jump(4000 * (int64_t)TIME);
	check_jump(-4000 * (int64_t)TIME);
}

/* In a file: @bytes of damage, of which some are noise. */
static void check_far(size_t bytes)
{
	struct resume *search = NULL;
	struct image im = {0};
	struct data_file *df;
	uint64_t offset = 0;
	size_t gap, behind;
	int fd;

	image_begin(&im, 1, IMAGE_STRIDE);
	image_sample(&im, 0, TIME, 0);
	gap = im.b.len;
	assert_int_equal(buf_zero(&im.b, bytes), 0);
	memset(im.b.data + gap, 0xf5, bytes / 2 & ~7ull);
	behind = im.b.len;
	for (unsigned int i = 0; i < 8; i++)
		image_sample(&im, 0, TIME + i, i);
	image_end(&im);
	df = image_open(&im);
	fd = memfd_create("bytes", MFD_CLOEXEC);
	assert_int_equal(write(fd, im.b.data, im.b.len), im.b.len);
	assert_int_equal(resume_find(&search, df, df->segments, fd, gap, &offset), 1);
	assert_int_equal(offset, behind);
	/* Again, with what was read before. */
	assert_int_equal(resume_find(&search, df, df->segments, fd, behind - 100, &offset), 1);
	assert_int_equal(offset, behind);
	assert_int_equal(resume_find(&search, df, df->segments, fd, im.b.len - 40, &offset), 0);
	/* The file becomes shorter. */
	assert_int_equal(ftruncate(fd, (off_t)gap + 100), 0);
	resume_free(search);
	search = NULL;
	assert_int_equal(resume_find(&search, df, df->segments, fd, gap, &offset), 0);
	resume_free(search);
	resume_free(NULL);
	close(fd);
	data_close(df);
	image_release(&im);
}

/* Longer than what is read at a time, and such that what is read ends within the next run. */
static void test_far(void **state)
{
	check_far(5 << 20);
	check_far((1 << 20) - 80);
	check_far((1 << 20) - 8);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_own_order), cmocka_unit_test(test_other_order),
		cmocka_unit_test(test_no_damage), cmocka_unit_test(test_times),
		cmocka_unit_test(test_far),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
