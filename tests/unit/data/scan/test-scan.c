// SPDX-License-Identifier: Apache-2.0
/* Walks over records of every kind, compressed and not, and over each kind of damage. */
#include <errno.h>
#include <sys/prctl.h>
#include <zstd.h>

#include "data-walk.h"

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

int main(void)
{
	const struct CMUnitTest tests[] = {
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
		cmocka_unit_test(test_shrinks),
		cmocka_unit_test(test_shrinks_in_payload),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
