// SPDX-License-Identifier: Apache-2.0
/* Opens and reads valid recordings of every kind, and each kind of damage. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <zstd.h>

#include "data-image.h"
#include "data/file/findings.h"
#include "data/open/open.h"
#include "data/open/open_priv.h"
#include "data/scan/scan.h"

/* Results of a whole walk. */
struct walk {
	size_t records, samples;
	uint64_t last_tag, tag_sum;
};

/* Walks all segments, and checks what must hold for every record. */
static struct walk walk(struct data_file *df, unsigned int flags)
{
	struct walk w = {0};

	for (unsigned int s = 0; s < data_segments(df); s++) {
		uint64_t last_place = 0, done, total;
		struct data_record rec;
		struct data_scan *scan;
		int rc;

		assert_int_equal(
			data_scan_new(df, s, 0, DATA_WHOLE, flags | DATA_SCAN_FINDINGS, &scan), 0);
		while ((rc = data_scan_next(scan, &rec)) > 0) {
			assert_int_equal((uintptr_t)rec.hdr % 8, 0);
			assert_true(rec.hdr->size >= 8);
			assert_int_equal(rec.segment, s);
			w.records++;
			/* A container comes before what began in one before it and ends here. */
			if (rec.hdr->type == PERF_RECORD_COMPRESSED ||
			    rec.hdr->type == PERF_RECORD_COMPRESSED2)
				continue;
			assert_true(rec.at.seq > last_place);
			last_place = rec.at.seq;
			if (rec.hdr->type != PERF_RECORD_SAMPLE)
				continue;
			w.samples++;
			w.last_tag = image_tag(&rec);
			w.tag_sum += w.last_tag;
		}
		assert_int_equal(rc, 0);
		data_scan_progress(scan, &done, &total);
		assert_int_equal(done, total);
		data_scan_free(scan);
	}
	return w;
}

/* How often something with @text in it was noted. */
static uint64_t noted(struct data_file *df, enum data_severity severity, const char *text)
{
	const struct data_finding *n;
	uint64_t count = 0;
	size_t nr;

	n = data_findings(df, &nr);
	for (size_t i = 0; i < nr; i++) {
		if (n[i].severity == severity && strstr(n[i].text, text))
			count += n[i].count;
	}
	return count;
}

static void assert_no_notes(struct data_file *df)
{
	size_t nr;
	const struct data_finding *n = data_findings(df, &nr);

	if (nr)
		fail_msg("%s", n[0].text);
}

static void make_samples(struct image *im, unsigned int events, unsigned int nr)
{
	image_begin(im, events, IMAGE_STRIDE);
	for (unsigned int i = 0; i < nr; i++)
		image_sample(im, i % events, 1000 + i, i);
	image_end(im);
}

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

static void test_version1(void **state)
{
	for (int swap = 0; swap < 2; swap++) {
		struct image im = {.swap = swap};
		struct data_file *df;

		make_samples(&im, 2, 10);
		memcpy(im.b.data, "PERFFILE", 8);
		df = image_open(&im);
		assert_int_equal(data_swapped(df), swap);
		assert_int_equal(walk(df, 0).samples, 10);
		assert_no_notes(df);
		data_close(df);
		image_release(&im);
	}
}

/* Truncated anywhere: everything before the end is read, and the end becomes a finding. */
static void test_truncated_anywhere(void **state)
{
	for (int swap = 0; swap < 2; swap++) {
		struct image im = {.swap = swap};
		struct data_file *df;

		make_samples(&im, 2, 12);
		for (size_t len = sizeof(struct pd_header); len < im.b.len; len++) {
			size_t whole = len > im.data_at ? (len - im.data_at) / 40 : 0;

			assert_int_equal(image_open_len(&im, len, &df, NULL), 0);
			assert_int_equal(walk(df, 0).records, whole);
			assert_true(noted(df, DATA_DAMAGED, "expected") > 0);
			data_close(df);
		}
		image_release(&im);
	}
}

static void test_size_zero(void **state)
{
	struct image im = {0};
	struct data_file *df;

	make_samples(&im, 1, 20);
	image_set64(&im, 48, 0);
	df = image_open(&im);
	assert_int_equal(walk(df, 0).samples, 20);
	assert_int_equal(noted(df, DATA_ODD, "killed"), 1);
	assert_int_equal(noted(df, DATA_DAMAGED, ""), 0);
	data_close(df);
	image_release(&im);
}

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

static void test_header_sizes(void **state)
{
	static const uint64_t sizes[] = {72, 104, 112, 4096, 0, 17, UINT64_MAX};

	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		bool known = sizes[i] == 72 || sizes[i] == 104;
		bool usable = sizes[i] >= 72 && sizes[i] <= 4096;
		struct image im = {0};
		struct data_file *df;

		make_samples(&im, 2, 9);
		image_set64(&im, 8, sizes[i]);
		df = image_open(&im);
		assert_int_equal(walk(df, 0).samples, 9);
		assert_int_equal(noted(df, DATA_DAMAGED, "size of header"), !usable);
		assert_int_equal(noted(df, DATA_ODD, "size of header"), usable && !known);
		data_close(df);
		image_release(&im);
	}
}

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

static void test_record_size(void **state)
{
	static const uint16_t sizes[] = {0, 1, 7};

	for (size_t i = 0; i < 3; i++) {
		struct image im = {0};
		struct data_file *df;

		image_begin(&im, 1, IMAGE_STRIDE);
		image_sample(&im, 0, 1, 1);
		image_head(&im, 59500, sizes[i]);
		image_sample(&im, 0, 2, 2);
		image_end(&im);
		df = image_open(&im);
		assert_int_equal(walk(df, 0).records, 1);
		assert_int_equal(noted(df, DATA_DAMAGED, "the last 48 bytes"), 1);
		data_close(df);
		image_release(&im);
	}
}

/* Opens @im and checks that of @nr samples all but the @lost ones from @first on are delivered. */
static void check_resumed(const struct image *im, uint64_t nr, uint64_t first, uint64_t lost,
			  const char *note)
{
	struct data_file *df = image_open(im);
	struct walk w = walk(df, 0);

	assert_int_equal(w.samples, nr - lost);
	assert_int_equal(w.tag_sum, nr * (nr - 1) / 2 - lost * first - lost * (lost - 1) / 2);
	assert_int_equal(noted(df, DATA_DAMAGED, note), 1);
	assert_int_equal(noted(df, DATA_DAMAGED, ""), 1);
	data_close(df);
}

/* Behind what is no record the next run of records counts: zeros, or whatever bytes. */
static void test_resume(void **state)
{
	srand(1);
	for (unsigned int i = 0; i < 8; i++) {
		struct image im = {.swap = i & 1};
		size_t at = 40 * 100;

		make_samples(&im, 1 + i % 3, 1000);
		at += im.data_at;
		for (size_t n = 0; n < 4096; n++)
			im.b.data[at + n] = i & 2 ? (uint8_t)(rand() | 1) : 0;
		/* the record that is damaged last has a good end: 102 whole ones and a part */
		check_resumed(&im, 1000, 100, 103, ": 4120 bytes are skipped, up to offset 0x");
		if (i & 4) /* all behind is gone, too */
			memset(im.b.data + at, 0, im.b.len - at);
		image_end(&im);
		if (i & 4)
			check_resumed(&im, 1000, 100, 900, "the last 36000 bytes");
		image_release(&im);
	}
}

/* A sample of @size bytes that has room behind its fields. */
static void add_long_sample(struct image *im, uint64_t time, uint64_t tag, uint16_t size)
{
	size_t at = im->b.len;

	image_sample(im, 0, time, tag);
	size = im->swap ? __builtin_bswap16(size) : size;
	memcpy(im->b.data + at + 6, &size, 2);
}

/* Old records in the unused part of new ones, as in copies of stacks, are none. */
static void test_resume_stale(void **state)
{
	const uint64_t nr = 200;

	for (unsigned int swap = 0; swap < 2; swap++) {
		struct image im = {.swap = swap};

		image_begin(&im, 1, IMAGE_STRIDE);
		for (uint64_t i = 0; i < nr; i++) {
			add_long_sample(&im, 10000 + i, i, 400);
			assert_int_equal(buf_zero(&im.b, 160), 0);
			add_long_sample(&im, 5000 + i, 1000 + i, 400); /* at 200 */
			assert_int_equal(buf_zero(&im.b, 160), 0);
		}
		memset(im.b.data + im.data_at + 100ul * 400, 0, 100);
		image_end(&im);
		check_resumed(&im, nr, 100, 1, ": 400 bytes are skipped, up to offset 0x");
		image_release(&im);
	}
}

/* A run is RESUME_RECORDS long, or ends where all does; of events that there are, not too far. */
static void test_resume_runs(void **state)
{
	static const struct {
		unsigned int event, nr;
		uint64_t gap; /* ns between its records */
		bool found;
	} tests[] = {
		{1, 5, 1000, true},
		{1, 4, 1000, false},
		{1, 2, 1000, false},
		{7, 5, 1000, false},
		{1, 5, 3600ull * 2000000000, false},
	};

	for (size_t i = 0; i < sizeof(tests) / sizeof(tests[0]); i++) {
		struct image im = {0};
		uint64_t samples = 1 + 2 + (tests[i].found ? tests[i].nr : 0);
		struct data_file *df;

		image_begin(&im, 2, IMAGE_STRIDE);
		image_sample(&im, 0, 1000, 1);
		image_head(&im, PERF_RECORD_SAMPLE, 0);
		for (unsigned int n = 0; n < tests[i].nr; n++)
			image_sample(&im, tests[i].event, 1000 + n * tests[i].gap, 2);
		image_head(&im, PERF_RECORD_SAMPLE, 0);
		image_sample(&im, 0, 3000, 3);
		image_sample(&im, 1, 3000, 4);
		image_end(&im);
		df = image_open(&im);
		assert_int_equal(walk(df, 0).samples, samples);
		assert_int_equal(noted(df, DATA_DAMAGED, "skipped"), tests[i].found ? 2 : 1);
		data_close(df);
		image_release(&im);
	}
}

/* 12 bytes in between: what follows is not aligned in the file, but delivered so. */
static void test_unaligned(void **state)
{
	for (int swap = 0; swap < 2; swap++) {
		struct image im = {.swap = swap};
		struct data_file *df;
		struct walk w;

		image_begin(&im, 1, IMAGE_STRIDE);
		image_head(&im, PERF_RECORD_FINISHED_INIT, 12);
		image_u32(&im, 0);
		for (uint64_t i = 0; i < 50; i++)
			image_sample(&im, 0, i, i);
		image_end(&im);
		df = image_open(&im);
		w = walk(df, 0);
		assert_int_equal(w.samples, 50);
		assert_int_equal(w.tag_sum, 49 * 50 / 2);
		assert_no_notes(df);
		data_close(df);
		image_release(&im);
	}
}

static void test_unknown_types(void **state)
{
	struct image im = {0};
	struct data_file *df;
	const struct data_finding *n;
	uint64_t count = 0;
	size_t nr;

	image_begin(&im, 1, IMAGE_STRIDE);
	for (unsigned int i = 0; i < 200; i++) {
		image_head(&im, 1000 + i / 2, 16);
		image_u64(&im, i);
	}
	image_head(&im, 32769, 8);
	image_end(&im);
	df = image_open(&im);
	assert_int_equal(walk(df, 0).records, 201);
	assert_int_equal(noted(df, DATA_ODD, "type 1000"), 2);
	n = data_findings(df, &nr);
	assert_true(nr <= 64);
	for (size_t i = 0; i < nr; i++) {
		assert_int_equal(n[i].severity, DATA_ODD);
		count += n[i].count;
	}
	assert_int_equal(count, 201);
	data_close(df);
	image_release(&im);
}

static void test_unknown_id(void **state)
{
	struct image im = {0};
	struct data_file *df;

	image_begin(&im, 2, IMAGE_STRIDE);
	image_sample(&im, 5, 1, 1);
	image_end(&im);
	df = image_open(&im);
	assert_int_equal(walk(df, 0).samples, 1);
	assert_int_equal(noted(df, DATA_DAMAGED, "does not name"), 1);
	data_close(df);
	image_release(&im);
}

static void add_auxtrace(struct image *im, uint64_t size)
{
	image_head(im, PERF_RECORD_AUXTRACE, 48);
	image_u64(im, size);
	for (int i = 0; i < 4; i++)
		image_u64(im, 0);
}

static void check_payload(struct data_scan *scan, uint64_t size)
{
	uint64_t *words = malloc(size + 1);

	assert_int_equal(data_scan_payload(scan, words, size), 0);
	for (uint64_t i = 0; i < size / 8; i++)
		assert_int_equal(words[i], 8 * i);
	/* what is not there is not made up */
	assert_int_equal(data_scan_payload(scan, words, size + 1), -ENODATA);
	free(words);
}

/* In the window, behind it, truncated. */
static void test_auxtrace(void **state)
{
	static const uint64_t sizes[] = {8, 4096, 3 << 20};
	struct data_record rec;
	struct data_scan *scan;
	struct data_file *df;

	for (size_t i = 0; i < 3; i++) {
		struct image im = {0};

		image_begin(&im, 1, IMAGE_STRIDE);
		add_auxtrace(&im, sizes[i]);
		for (uint64_t at = 0; at < sizes[i]; at += 8)
			image_u64(&im, at);
		image_sample(&im, 0, 1, 77);
		image_end(&im);
		df = image_open(&im);
		assert_int_equal(data_scan_new(df, 0, 0, DATA_WHOLE, DATA_SCAN_FINDINGS, &scan), 0);
		assert_int_equal(data_scan_next(scan, &rec), 1);
		assert_int_equal(rec.payload_size, sizes[i]);
		check_payload(scan, sizes[i]);
		assert_int_equal(data_scan_next(scan, &rec), 1);
		assert_int_equal(image_tag(&rec), 77);
		data_scan_free(scan);
		assert_no_notes(df);
		data_close(df);

		assert_int_equal(image_open_len(&im, im.b.len - 44, &df, NULL), 0);
		assert_int_equal(data_scan_new(df, 0, 0, DATA_WHOLE, DATA_SCAN_FINDINGS, &scan), 0);
		assert_int_equal(data_scan_next(scan, &rec), 1);
		assert_int_equal(rec.payload_size, sizes[i] - 4);
		assert_int_equal(data_scan_next(scan, &rec), 0);
		assert_int_equal(noted(df, DATA_DAMAGED, "AUXTRACE"), 1);
		data_scan_free(scan);
		data_close(df);
		image_release(&im);
	}
}

/* Puts the next output of a compressor over @src into a container of @type. */
static void add_container(struct image *im, uint32_t type, ZSTD_CCtx *ctx, const void *src,
			  size_t len, bool end)
{
	static uint8_t out[60000];
	ZSTD_inBuffer in = {src, len, 0};
	ZSTD_outBuffer o = {out, sizeof(out), 0};
	size_t left = ZSTD_compressStream2(ctx, &o, &in, end ? ZSTD_e_end : ZSTD_e_flush);
	size_t pad = type == PERF_RECORD_COMPRESSED2 ? -o.pos & 7 : 0;

	assert_int_equal(left, 0);
	image_head(im, type,
		   (uint16_t)(8 + (type == PERF_RECORD_COMPRESSED2 ? 8 : 0) + o.pos + pad));
	if (type == PERF_RECORD_COMPRESSED2)
		image_u64(im, o.pos);
	assert_int_equal(buf_append(&im->b, out, o.pos), 0);
	assert_int_equal(buf_zero(&im->b, pad), 0);
}

/*
 * @nr samples in containers of @piece bytes of theirs, which need not end with a record; one zstd
 * stream through all, or a frame for each.
 */
static void make_compressed(struct image *im, uint32_t type, unsigned int nr, size_t piece,
			    bool frames)
{
	ZSTD_CCtx *ctx = ZSTD_createCCtx();
	struct image inner = {.swap = im->swap};

	assert_non_null(ctx);
	for (uint64_t i = 0; i < nr; i++)
		image_sample(&inner, 0, 1000 + i, i);
	image_begin(im, 1, IMAGE_STRIDE);
	for (size_t at = 0; at < inner.b.len; at += piece) {
		size_t n = inner.b.len - at < piece ? inner.b.len - at : piece;

		add_container(im, type, ctx, inner.b.data + at, n, frames);
	}
	image_end(im);
	ZSTD_freeCCtx(ctx);
	image_release(&inner);
}

static void test_compressed(void **state)
{
	static const size_t pieces[] = {4000, 4001, 13, 39};

	for (unsigned int i = 0; i < 32; i++) {
		uint32_t type = i & 1 ? PERF_RECORD_COMPRESSED2 : PERF_RECORD_COMPRESSED;
		struct image im = {.swap = i & 2};
		size_t containers = (1000 * 40 + pieces[i / 8] - 1) / pieces[i / 8];
		struct data_file *df;
		struct walk w;

		make_compressed(&im, type, 1000, pieces[i / 8], i & 4);
		df = image_open(&im);
		w = walk(df, 0);
		assert_int_equal(w.records, 1000);
		assert_int_equal(w.tag_sum, 999 * 1000 / 2);
		assert_int_equal(w.last_tag, 999);
		assert_int_equal(walk(df, DATA_SCAN_CONTAINERS).records, 1000 + containers);
		assert_no_notes(df);
		data_close(df);
		image_release(&im);
	}
}

/* Frames of their own: one that is damaged costs itself only. */
static void test_compressed_damage(void **state)
{
	struct image im = {0};
	struct data_file *df;
	size_t second;

	make_compressed(&im, PERF_RECORD_COMPRESSED, 300, 4000, true);
	second = im.data_at + (im.b.data[im.data_at + 6] | im.b.data[im.data_at + 7] << 8);
	memset(im.b.data + second + 8 + 10, 0xff, 8);
	df = image_open(&im);
	assert_int_equal(walk(df, 0).samples, 200);
	assert_int_equal(noted(df, DATA_DAMAGED, "zstd says"), 1);
	data_close(df);
	image_release(&im);

	/* and a stream that ends within a record */
	make_compressed(&im, PERF_RECORD_COMPRESSED, 1, 39, true);
	image_set64(&im, 48, 8 + (im.b.data[im.data_at + 6] - 8));
	df = image_open(&im);
	assert_int_equal(walk(df, 0).records, 0);
	assert_int_equal(noted(df, DATA_DAMAGED, "after 39 bytes of it"), 1);
	data_close(df);
	image_release(&im);
}

/* 300 samples with holes, in the middle and three before the end, in containers of @piece bytes. */
static void make_holes(struct image *im, size_t piece, bool frames)
{
	ZSTD_CCtx *ctx = ZSTD_createCCtx();
	struct image inner = {.swap = im->swap};

	for (uint64_t n = 0; n < 300; n++)
		image_sample(&inner, 0, 1000 + n, n);
	memset(inner.b.data + 40ul * 100, 0, 100);
	memset(inner.b.data + 40ul * 296, 0, 8);
	image_begin(im, 1, IMAGE_STRIDE);
	for (size_t at = 0; at < inner.b.len; at += piece) {
		size_t n = inner.b.len - at < piece ? inner.b.len - at : piece;

		add_container(im, PERF_RECORD_COMPRESSED, ctx, inner.b.data + at, n, frames);
	}
	image_end(im);
	ZSTD_freeCCtx(ctx);
	image_release(&inner);
}

/* What is no record in there, whatever containers the records around it are in. */
static void test_resume_compressed(void **state)
{
	static const size_t pieces[] = {4000, 333, 39};

	for (unsigned int i = 0; i < 12; i++) {
		struct image im = {.swap = i & 1};
		struct data_file *df;
		struct walk w;

		make_holes(&im, pieces[i % 3], i / 3 % 2);
		df = image_open(&im);
		w = walk(df, 0);
		assert_int_equal(w.samples, 300 - 4);
		assert_int_equal(w.tag_sum, 300 * 299 / 2 - 100 - 101 - 102 - 296);
		assert_int_equal(w.last_tag, 299);
		assert_int_equal(noted(df, DATA_DAMAGED, "of compressed data: 120 bytes"), 1);
		assert_int_equal(noted(df, DATA_DAMAGED, "of compressed data: 40 bytes"), 1);
		data_close(df);
		image_release(&im);
	}
}

static void add_raw_container(struct image *im, const uint8_t *p, size_t len)
{
	image_head(im, PERF_RECORD_COMPRESSED, (uint16_t)(8 + len));
	assert_int_equal(buf_append(&im->b, p, len), 0);
}

/* The decoders of zstd before 1.0 see nothing of a file, also when a header was begun before. */
static void test_compressed_legacy(void **state)
{
	static const uint8_t begun[] = {0x28};
	uint8_t frame[64] = {0x25, 0xb5, 0x2f, 0xfd};

	for (unsigned int i = 0; i < 6; i++) {
		struct image im = {0}, good = {0};
		struct data_file *df;

		frame[0] = (uint8_t)(0x25 + i % 3);
		make_compressed(&im, PERF_RECORD_COMPRESSED, 100, 4000, true);
		make_compressed(&good, PERF_RECORD_COMPRESSED, 100, 4000, true);
		if (i >= 3)
			add_raw_container(&im, begun, sizeof(begun));
		add_raw_container(&im, frame, sizeof(frame));
		assert_int_equal(
			buf_append(&im.b, good.b.data + good.data_at, good.b.len - good.data_at),
			0);
		image_end(&im);
		df = image_open(&im);
		assert_int_equal(walk(df, 0).samples, 200);
		assert_int_equal(noted(df, DATA_DAMAGED, "version before 1.0"), 1);
		data_close(df);
		image_release(&good);
		image_release(&im);
	}
}

static size_t resident(void)
{
	unsigned long size = 0, rss = 0;
	FILE *f = fopen("/proc/self/statm", "r");

	assert_non_null(f);
	assert_int_equal(fscanf(f, "%lu %lu", &size, &rss), 2);
	fclose(f);
	return rss * (size_t)sysconf(_SC_PAGESIZE);
}

/* 64 MB in a few KB: memory must not follow. */
static void test_compressed_bomb(void **state)
{
	struct image im = {0}, inner = {0};
	ZSTD_CCtx *ctx = ZSTD_createCCtx();
	struct data_file *df;
	size_t before;

	/* Where huge pages are made unasked, a few of them are more than what is looked for. */
	prctl(PR_SET_THP_DISABLE, 1, 0, 0, 0);
	assert_non_null(ctx);
	for (unsigned int i = 0; i < 256; i++) {
		image_head(&inner, PERF_RECORD_FINISHED_INIT, 65528);
		assert_int_equal(buf_zero(&inner.b, 65520), 0);
	}
	image_begin(&im, 1, IMAGE_STRIDE);
	for (unsigned int i = 0; i < 4; i++)
		add_container(&im, PERF_RECORD_COMPRESSED, ctx, inner.b.data, inner.b.len, false);
	image_end(&im);
	image_release(&inner);
	ZSTD_freeCCtx(ctx);
	df = image_open(&im);
	before = resident();
	assert_int_equal(walk(df, 0).records, 4 * 256);
	assert_true(resident() < before + (16 << 20));
	assert_no_notes(df);
	data_close(df);
	image_release(&im);
}

/* What a container expands to has a bound of its own, and the next one is read. */
static void test_compressed_far_too_much(void **state)
{
	struct image im = {0}, inner = {0};
	ZSTD_CCtx *ctx = ZSTD_createCCtx();
	struct data_file *df;
	size_t records;

	(void)state;
	assert_non_null(ctx);
	for (unsigned int i = 0; i < 1600; i++) {
		image_head(&inner, PERF_RECORD_FINISHED_INIT, 65528);
		assert_int_equal(buf_zero(&inner.b, 65520), 0);
	}
	image_begin(&im, 1, IMAGE_STRIDE);
	add_container(&im, PERF_RECORD_COMPRESSED, ctx, inner.b.data, inner.b.len, true);
	add_container(&im, PERF_RECORD_COMPRESSED, ctx, inner.b.data, 10 * 65528, true);
	image_end(&im);
	image_release(&inner);
	ZSTD_freeCCtx(ctx);
	df = image_open(&im);
	records = walk(df, 0).records;
	assert_uint_in_range(records, 1000 + 10, 1024 + 10);
	assert_int_equal(noted(df, DATA_DAMAGED, "it expands to more than 64 MB"), 1);
	data_close(df);
	image_release(&im);
}

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

static void write_file(const char *dir, const char *name, const uint8_t *p, size_t len)
{
	char path[256];
	int fd;

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
	assert_true(fd >= 0);
	assert_int_equal(write(fd, p, len), len);
	close(fd);
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

static void test_directory(void **state)
{
	static const char *const names[] = {"data.0", "data.2", "data.10", "data.old", "data.01"};
	char dir[] = "/tmp/ringtail-test-XXXXXX", path[256];
	struct image im = {0}, raw = {0};
	struct error err = ERROR_INIT;
	struct data_file *df;

	assert_non_null(mkdtemp(dir));
	assert_int_equal(data_open(dir, false, &df, &err), -ENOENT);
	assert_non_null(strstr(err.text, "\"data\""));

	make_samples(&im, 1, 4);
	write_file(dir, "data", im.b.data, im.b.len);
	for (uint64_t i = 0; i < 5; i++) {
		raw.b.len = 0;
		image_sample(&raw, 0, 10, 100 + i);
		write_file(dir, names[i], raw.b.data, raw.b.len);
	}
	assert_int_equal(data_open(dir, false, &df, &err), 0);
	assert_int_equal(data_kind(df), DATA_DIRECTORY);
	assert_int_equal(data_segments(df), 4);
	assert_non_null(strstr(data_segment_path(df, 3), "/data.10"));
	assert_int_equal(walk(df, 0).samples, 7);
	assert_int_equal(walk(df, 0).last_tag, 102);
	assert_int_equal(noted(df, DATA_ODD, "data.1 is missing"), 1);
	assert_int_equal(noted(df, DATA_ODD, "data.3 is missing"), 1);
	data_close(df);
	for (size_t i = 0; i < 5; i++) {
		snprintf(path, sizeof(path), "%s/%s", dir, names[i]);
		unlink(path);
	}
	snprintf(path, sizeof(path), "%s/data", dir);
	if (!geteuid()) {
		assert_int_equal(chown(path, 12345, 12345), 0);
		assert_int_equal(data_open(dir, false, &df, &err), -EPERM);
		assert_int_equal(data_open(path, false, &df, &err), -EPERM);
		assert_int_equal(data_open(path, true, &df, &err), 0);
		data_close(df);
	}
	unlink(path);
	rmdir(dir);
	image_release(&im);
	image_release(&raw);
}

/* Damage in one file of a directory costs nothing of the others, and little of its own. */
static void test_resume_directory(void **state)
{
	char dir[] = "/tmp/ringtail-test-XXXXXX", path[256];
	struct image im = {0}, raw = {0};
	struct error err = ERROR_INIT;
	struct data_file *df;

	assert_non_null(mkdtemp(dir));
	make_samples(&im, 1, 4);
	write_file(dir, "data", im.b.data, im.b.len);
	for (uint64_t i = 0; i < 50; i++)
		image_sample(&raw, 0, 10 + i, 100 + i);
	write_file(dir, "data.0", raw.b.data, raw.b.len);
	memset(raw.b.data + 40ul * 20, 0, 80);
	write_file(dir, "data.1", raw.b.data, raw.b.len);
	assert_int_equal(data_open(dir, false, &df, &err), 0);
	assert_int_equal(walk(df, 0).samples, 4 + 50 + 48);
	assert_int_equal(noted(df, DATA_DAMAGED, "80 bytes are skipped, up to offset 0x370"), 1);
	assert_int_equal(noted(df, DATA_DAMAGED, ""), 1);
	data_close(df);
	for (int i = 0; i < 3; i++) {
		snprintf(path, sizeof(path), i ? "%s/data.%d" : "%s/data", dir, i - 1);
		unlink(path);
	}
	rmdir(dir);
	image_release(&im);
	image_release(&raw);
}

/* The file becomes shorter under a scan: the walk ends early instead of the process. */
static void test_shrinks(void **state)
{
	char path[] = "/tmp/ringtail-test-XXXXXX";
	struct image im = {0};
	struct data_file *df;
	struct data_record rec;
	struct data_scan *scan;
	int fd = mkstemp(path);
	size_t nr = 0;

	assert_true(fd >= 0);
	make_samples(&im, 1, 100000);
	assert_int_equal(write(fd, im.b.data, im.b.len), im.b.len);
	assert_int_equal(data_open(path, false, &df, NULL), 0);
	assert_int_equal(data_scan_new(df, 0, 0, DATA_WHOLE, DATA_SCAN_FINDINGS, &scan), 0);
	assert_int_equal(data_scan_next(scan, &rec), 1);
	assert_int_equal(ftruncate(fd, (off_t)im.b.len / 2), 0);
	while (data_scan_next(scan, &rec) > 0)
		nr++;
	assert_true(nr > 10000 && nr < 60000);
	assert_int_equal(noted(df, DATA_DAMAGED, "shorter"), 1);
	data_scan_free(scan);
	data_close(df);
	close(fd);
	unlink(path);
	image_release(&im);
}

/* What follows a record goes while the record is in hand: an error, and no signal. */
static void test_shrinks_in_payload(void **state)
{
	const uint64_t size = 3 << 20;
	char path[] = "/tmp/ringtail-test-XXXXXX";
	uint8_t *payload = malloc(size);
	struct image im = {0};
	struct data_file *df;
	struct data_record rec;
	struct data_scan *scan;
	int fd = mkstemp(path);

	assert_true(fd >= 0);
	image_begin(&im, 1, IMAGE_STRIDE);
	add_auxtrace(&im, size);
	assert_int_equal(buf_zero(&im.b, size), 0);
	image_sample(&im, 0, 1, 77);
	image_end(&im);
	assert_int_equal(write(fd, im.b.data, im.b.len), im.b.len);
	assert_int_equal(data_open(path, false, &df, NULL), 0);
	assert_int_equal(data_scan_new(df, 0, 0, DATA_WHOLE, DATA_SCAN_FINDINGS, &scan), 0);
	assert_int_equal(data_scan_next(scan, &rec), 1);
	assert_int_equal(rec.payload_size, size);
	assert_int_equal(ftruncate(fd, 1 << 20), 0);
	assert_int_equal(data_scan_payload(scan, payload, size), -ENODATA);
	assert_int_equal(data_scan_next(scan, &rec), 0);
	assert_int_equal(noted(df, DATA_DAMAGED, "shorter"), 1);
	data_scan_free(scan);
	data_close(df);
	close(fd);
	unlink(path);
	free(payload);
	image_release(&im);
}

/* What is written to a header after it was read is noticed, in either half of a flush. */
static void test_flushed_meanwhile(void **state)
{
	char path[] = "/tmp/ringtail-test-XXXXXX";
	struct image im = {0};
	struct data_file *df;
	int fd = mkstemp(path);

	assert_true(fd >= 0);
	make_samples(&im, 1, 10);
	assert_int_equal(write(fd, im.b.data, im.b.len), im.b.len);
	assert_int_equal(data_open(path, false, &df, NULL), 0);
	assert_false(header_changed(df));
	for (size_t at = 0; at < sizeof(struct pd_header); at++) {
		im.b.data[at] ^= 1;
		assert_int_equal(pwrite(fd, im.b.data + at, 1, (off_t)at), 1);
		assert_true(header_changed(df));
		im.b.data[at] ^= 1;
		assert_int_equal(pwrite(fd, im.b.data + at, 1, (off_t)at), 1);
		assert_false(header_changed(df));
	}
	assert_int_equal(ftruncate(fd, 50), 0);
	assert_true(header_changed(df));
	data_close(df);
	close(fd);
	unlink(path);
	image_release(&im);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_plain),
		cmocka_unit_test(test_no_recording),
		cmocka_unit_test(test_version1),
		cmocka_unit_test(test_truncated_anywhere),
		cmocka_unit_test(test_size_zero),
		cmocka_unit_test(test_features),
		cmocka_unit_test(test_features_overlap),
		cmocka_unit_test(test_header_sizes),
		cmocka_unit_test(test_attr_sizes),
		cmocka_unit_test(test_attr_lies),
		cmocka_unit_test(test_record_size),
		cmocka_unit_test(test_resume),
		cmocka_unit_test(test_resume_stale),
		cmocka_unit_test(test_resume_runs),
		cmocka_unit_test(test_unaligned),
		cmocka_unit_test(test_unknown_types),
		cmocka_unit_test(test_unknown_id),
		cmocka_unit_test(test_auxtrace),
		cmocka_unit_test(test_compressed),
		cmocka_unit_test(test_compressed_damage),
		cmocka_unit_test(test_resume_compressed),
		cmocka_unit_test(test_compressed_legacy),
		cmocka_unit_test(test_compressed_bomb),
		cmocka_unit_test(test_compressed_far_too_much),
		cmocka_unit_test(test_pipe_stream),
		cmocka_unit_test(test_endless_input),
		cmocka_unit_test(test_directory),
		cmocka_unit_test(test_resume_directory),
		cmocka_unit_test(test_shrinks),
		cmocka_unit_test(test_shrinks_in_payload),
		cmocka_unit_test(test_flushed_meanwhile),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
