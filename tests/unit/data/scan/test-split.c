// SPDX-License-Identifier: Apache-2.0
/*
 * Places to split a file at: wherever the search begins, what is found is the beginning of a
 * record, behind that place; where too little follows, or no records do, nothing is found.
 */
#include "data-walk.h"

#include "data/file/file_priv.h"
#include "data/scan/split.h"

#define RECORDS 2000

/* Samples of two events, with names in between. @at gets the places of all. */
static void make(struct image *im, bool swap, size_t at[RECORDS])
{
	*im = (struct image){.swap = swap};
	image_begin(im, 2, IMAGE_STRIDE);
	for (unsigned int i = 0; i < RECORDS; i++) {
		at[i] = im->b.len;
		if (i % 5 == 3)
			image_comm(im, 1000 + i, "name");
		else
			image_sample(im, i % 2, 1000 + i, 0x401000 + i);
	}
	image_end(im);
}

static uint64_t find(const struct data_file *df, uint64_t from)
{
	const struct segment *seg = &df->segments[0];

	return split_find(df, seg, seg->fd, from);
}

static bool is_record(const size_t at[RECORDS], uint64_t offset)
{
	for (unsigned int i = 0; i < RECORDS; i++)
		if (at[i] == offset)
			return true;
	return false;
}

static void test_finds_records(void **state)
{
	static size_t at[RECORDS];

	(void)state;
	for (unsigned int swap = 0; swap < 2; swap++) {
		struct data_file *df;
		struct image im;

		make(&im, swap, at);
		df = image_open(&im);
		for (uint64_t from = im.data_at; from < im.b.len - 10000; from += 97) {
			uint64_t found = find(df, from);

			assert_true(found > from && found < from + 5000);
			assert_true(is_record(at, found));
		}
		data_close(df);
		image_release(&im);
	}
}

/* Near the end there is too little for a thread of its own; behind it there is nothing. */
static void test_end(void **state)
{
	static size_t at[RECORDS];
	struct data_file *df;
	struct image im;

	(void)state;
	make(&im, false, at);
	df = image_open(&im);
	for (uint64_t from = im.b.len - 1000; from < im.b.len + 100; from += 13)
		assert_true(find(df, from) == UINT64_MAX);
	assert_true(find(df, UINT64_MAX - 10) == UINT64_MAX);
	data_close(df);
	image_release(&im);
}

/* Zeros, or noise, longer than the search: nothing is found in there, and records behind it are. */
static void test_damage(void **state)
{
	static size_t at[RECORDS];

	(void)state;
	srand(1);
	for (unsigned int noise = 0; noise < 2; noise++) {
		struct data_file *df;
		struct image im;
		uint64_t found;

		make(&im, false, at);
		for (size_t i = at[500]; i < at[1000]; i++)
			im.b.data[i] = noise ? (uint8_t)(rand() | 0x80) : 0;
		df = image_open(&im);
		found = find(df, at[600]);
		assert_true(found > at[1000]);
		assert_true(is_record(at, found));
		data_close(df);
		memset(im.b.data + at[500], 0, im.b.len - at[500]);
		df = image_open(&im);
		assert_true(find(df, at[600]) == UINT64_MAX);
		data_close(df);
		image_release(&im);
	}
}

#define STACK_RECORD 16384
#define STACK_HEAD   2048 /* of a record, which the kernel writes; behind that is what was there */

/* Samples with copies of stacks, and in what the kernel did not write of them those of a lap
 * before. */
static void make_stacks(struct image *im, size_t nr, size_t shift)
{
	static const uint8_t zeros[STACK_HEAD];

	*im = (struct image){0};
	image_begin(im, 1, IMAGE_STRIDE);
	image_set64(im, im->data_at - IMAGE_STRIDE + offsetof(struct perf_event_attr, sample_type),
		    PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME |
			    PERF_SAMPLE_STACK_USER);
	assert_int_equal(buf_zero(&im->b, nr * STACK_RECORD), 0);
	for (size_t lap = 0; lap < 2; lap++)
		for (size_t i = 0; i + 1 < nr + lap; i++) {
			size_t at = im->data_at + i * STACK_RECORD + (lap ? 0 : shift);
			struct image one = {0};

			image_head(&one, PERF_RECORD_SAMPLE, STACK_RECORD);
			image_u64(&one, IMAGE_ID);
			image_u64(&one, 0x401000);
			image_u64(&one, 0);
			image_u64(&one, (lap ? 100000 : 1000) + i);
			memcpy(im->b.data + at, zeros, STACK_HEAD);
			memcpy(im->b.data + at, one.b.data, one.b.len);
			image_release(&one);
		}
	image_end(im);
}

/* Records of the ring's last lap are no records, although they follow one another. */
static void test_old_records(void **state)
{
	(void)state;
	for (size_t shift = STACK_HEAD; shift < STACK_RECORD - STACK_HEAD; shift += 1000) {
		struct data_file *df;
		struct image im;

		make_stacks(&im, 64, shift);
		df = image_open(&im);
		for (uint64_t from = im.data_at; from < im.b.len - 20 * STACK_RECORD;
		     from += 7919) {
			uint64_t found = find(df, from);

			assert_true(found > from && found < im.b.len);
			assert_int_equal((found - im.data_at) % STACK_RECORD, 0);
		}
		data_close(df);
		image_release(&im);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_finds_records),
		cmocka_unit_test(test_end),
		cmocka_unit_test(test_damage),
		cmocka_unit_test(test_old_records),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
