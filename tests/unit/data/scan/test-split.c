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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_finds_records),
		cmocka_unit_test(test_end),
		cmocka_unit_test(test_damage),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
