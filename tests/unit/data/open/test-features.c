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

static void expect_cut(const struct image *im, bool cut)
{
	struct data_file *df = image_open(im);

	assert_int_equal(data_features_cut(df), cut);
	data_close(df);
}

/* The headers while a flush replaces the table of features: of feature 0 alone, and of none. */
static void test_features_in_a_flush(void **state)
{
	(void)state;
	for (int swap = 0; swap < 2; swap++) {
		struct image im = {.swap = swap};
		size_t table;

		make_samples(&im, 1, 5);
		expect_cut(&im, false); /* none, and not by our recorder */
		image_release(&im);

		im = (struct image){.swap = swap};
		image_begin(&im, 1, IMAGE_STRIDE);
		image_head(&im, PERF_RECORD_HEADER_EVENT_TYPE, 64);
		for (unsigned int i = 0; i < 7; i++)
			image_u64(&im, 0);
		image_sample(&im, 0, 1000, 1);
		image_end(&im);
		expect_cut(&im, true);
		table = im.b.len;
		image_set64(&im, 72, 1ULL << HEADER_TOTAL_MEM);
		image_u64(&im, table + 16);
		image_u64(&im, 8);
		image_u64(&im, 4096);
		expect_cut(&im, false);
		image_set64(&im, 72, 1ULL << HEADER_RESERVED);
		expect_cut(&im, true);
		image_release(&im);
	}
}

static void expect_own(const struct image *im, size_t len, bool found, int damaged)
{
	struct data_file *df;
	const uint8_t *p;
	size_t n;

	assert_int_equal(image_open_len(im, len, &df, NULL), 0);
	assert_int_equal(data_feature(df, HEADER_RINGTAIL_SYMBOLS, &p, &n), found ? 0 : -ENOENT);
	if (found) {
		assert_int_equal(n, 7);
		assert_memory_equal(p, "symbols", n);
	}
	assert_int_equal(noted(df, DATA_DAMAGED, ""), damaged);
	assert_int_equal(data_feature(df, HEADER_HOSTNAME, &p, &n), 0);
	data_close(df);
}

/* The own section has no bit in the header. Its place is behind the table, and may be damaged. */
static void test_own_section(void **state)
{
	for (int swap = 0; swap < 2; swap++) {
		struct image im = {.swap = swap};
		size_t table, own;

		make_samples(&im, 1, 5);
		table = im.b.len;
		own = table + 16;
		image_set64(&im, 72, 1ULL << HEADER_HOSTNAME);
		image_u64(&im, own + 24);
		image_u64(&im, 12);
		image_u64(&im, PD_OWN_MAGIC);
		image_u64(&im, own + 36);
		image_u64(&im, 7);
		image_u32(&im, 8);
		assert_int_equal(buf_append(&im.b, "machine\0symbols", 15), 0);
		expect_own(&im, im.b.len, true, 0);

		/* more bytes behind it, an end in it, or before it is whole */
		assert_int_equal(buf_append(&im.b, "more", 4), 0);
		expect_own(&im, im.b.len, true, 0);
		expect_own(&im, im.b.len - 5, false, 1);

		/* the table is found without the size of the data */
		image_set64(&im, 48, 0);
		expect_own(&im, im.b.len, true, 0);
		image_set64(&im, 48, table - im.data_at);

		/* outside of the file; no magic */
		image_set64(&im, own + 8, UINT64_MAX - 4);
		expect_own(&im, im.b.len, false, 1);
		image_set64(&im, own + 8, own + 36);
		image_set64(&im, own + 16, UINT64_MAX);
		expect_own(&im, im.b.len, false, 1);
		image_set64(&im, own + 16, 7);
		image_set64(&im, own, PD_OWN_MAGIC ^ 1);
		expect_own(&im, im.b.len, false, 0);
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

/* Adds @feature with @len bytes as the only one. */
static void add_feature(struct image *im, unsigned int feature, const void *data, size_t len)
{
	image_set64(im, 72 + feature / 64 * 8, 1ULL << feature % 64);
	image_u64(im, im->b.len + 16);
	image_u64(im, len);
	assert_int_equal(buf_append(&im->b, data, len), 0);
}

#define META_INFO 129 /* of simpleperf */

/* Names of tracepoints in simpleperf's pairs of strings; what has no NUL is not read. */
static void test_meta_info(void **state)
{
	static const char info[] = "product\0phone\0"
				   "event_type_info\0"
				   "cpu-clock,1,0\nbad\nsched:sched_switch,2,77\n,2,77\0"
				   "last\0";
	static const char cut[] = "event_type_info\0sched:sched_switch,2,77\n";

	for (unsigned int i = 0; i < 2; i++) {
		struct image im = {0};
		struct data_file *df;
		const char *name;

		make_samples(&im, 1, 5);
		image_set64(&im, sizeof(struct pd_header) + 8,
			    PERF_TYPE_TRACEPOINT | (uint64_t)(IMAGE_STRIDE - 16) << 32);
		image_set64(&im, sizeof(struct pd_header) + 16, 77);
		add_feature(&im, META_INFO, i ? cut : info, i ? sizeof(cut) - 1 : sizeof(info) - 1);
		df = image_open(&im);
		name = pd_evlist_at(data_evlist(df), 0)->name;
		assert_int_equal(name && !strcmp(name, "sched:sched_switch"), !i);
		assert_no_notes(df);
		data_close(df);
		image_release(&im);
	}
}

/* A feature about events that cannot be decoded is damage, and the events stay. */
static void test_damaged_description(void **state)
{
	static const unsigned int features[] = {HEADER_EVENT_DESC, HEADER_GROUP_DESC};

	for (size_t i = 0; i < 2; i++) {
		struct image im = {0};
		struct data_file *df;

		make_samples(&im, 2, 5);
		add_feature(&im, features[i], "\xff\xff\xff\xff\xff", 5);
		df = image_open(&im);
		assert_int_equal(pd_evlist_count(data_evlist(df)), 2);
		assert_int_equal(noted(df, DATA_DAMAGED, "cannot be decoded"), 1);
		assert_int_equal(walk(df, 0).samples, 5);
		data_close(df);
		image_release(&im);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_features),
		cmocka_unit_test(test_own_section),
		cmocka_unit_test(test_features_in_a_flush),
		cmocka_unit_test(test_features_overlap),
		cmocka_unit_test(test_meta_info),
		cmocka_unit_test(test_damaged_description),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
