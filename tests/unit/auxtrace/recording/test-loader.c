// SPDX-License-Identifier: Apache-2.0
/*
 * Stretches of random trace: together they are the trace from its first synchronisation point on,
 * whatever the order in which they are loaded, and wherever the trace lies.
 *
 * The trace of these tests has a synchronisation point at each 'S' that an 'Y' follows.
 */
#include <fcntl.h>
#include <zstd.h>

#include "aux-image.h"
#include "auxtrace/recording/loader.h"
#include "data-walk.h"

#define NONE UINT32_MAX

static size_t find_sy(const struct aux_setup *s, const uint8_t *data, size_t len, size_t from)
{
	(void)s;
	for (size_t i = from; i + 1 < len; i++)
		if (data[i] == 'S' && data[i + 1] == 'Y')
			return i;
	return len;
}

static const struct aux_decoder_ops ops = {.name = "test", .sync = find_sy};

static void make_trace(uint8_t *p, size_t len, unsigned int rarity)
{
	for (size_t i = 0; i < len; i++)
		p[i] = (uint8_t)('a' + rand() % 26);
	for (size_t i = 0; i + 1 < len; i++)
		if (rand() % rarity == 0) {
			p[i] = 'S';
			p[++i] = 'Y';
		}
}

/* Loads all stretches, the last one first, and compares them with @trace. */
static void check(struct data_file *df, uint64_t chunk, const uint8_t *trace, size_t len,
		  bool whole)
{
	struct aux_stretch s;
	struct aux_loader *l;
	struct aux_index x;
	struct error err = ERROR_INIT;
	uint64_t end;

	assert_int_equal(aux_index_read(df, chunk, DATA_SCAN_FINDINGS, &x, &err), 0);
	assert_int_equal(x.nr_runs, 1);
	assert_int_equal(x.runs[0].len, len);
	assert_int_equal(aux_loader_new(&x, &ops, whole, &l), 0);
	end = x.runs[0].offset + len;
	for (uint64_t i = x.nr_chunks; i--;) {
		int rc = aux_loader_load(l, i, &s);

		assert_true(rc >= 0);
		if (!rc)
			continue;
		assert_int_equal(s.offset + s.len, end);
		assert_true(s.len);
		assert_memory_equal(s.data, trace + (s.offset - x.runs[0].offset), s.len);
		end = s.offset;
	}
	assert_int_equal(end - x.runs[0].offset, whole ? 0 : find_sy(NULL, trace, len, 0));
	aux_loader_free(l);
	aux_index_release(&x);
	assert_no_notes(df);
}

static void stretches_are_the_trace(void **state)
{
	(void)state;
	for (unsigned int round = 0; round < 100; round++) {
		size_t len = 64 + (size_t)rand() % 20000;
		uint8_t *trace = malloc(len);
		struct image im = {0};
		struct data_file *df;

		make_trace(trace, len, 1 + (unsigned int)rand() % 2000);
		aux_image_begin(&im);
		aux_image_aux(&im, 0, 8, 0, 8, 0);
		for (size_t at = 0, n; at < len; at += n) {
			n = 8 * (1 + (size_t)rand() % 400);
			if (n > len - at)
				n = len - at;
			aux_image_trace(&im, 0, NONE, 5000 + at, trace + at, n);
		}
		/* The last record's padding cannot be told from trace. */
		trace = realloc(trace, len + 8);
		memset(trace + len, 0, 8);
		len = pd_auxtrace_padded(len);
		image_end(&im);
		df = image_open(&im);
		check(df, 64u << round % 8, trace, len, round & 1);
		data_close(df);
		image_release(&im);
		free(trace);
	}
}

static void trace_lies_in_files_of_a_directory(void **state)
{
	char dir[] = "/tmp/ringtail-test-XXXXXX", path[64];
	struct error err = ERROR_INIT;
	struct image im = {0}, part;
	uint8_t trace[4096];
	struct data_file *df;

	(void)state;
	assert_non_null(mkdtemp(dir));
	make_trace(trace, sizeof(trace), 100);
	aux_image_begin(&im);
	aux_image_aux(&im, 0, 8, 0, 8, 0);
	image_end(&im);
	for (unsigned int i = 0; i < 3; i++) {
		int fd;

		part = i ? (struct image){0} : im;
		for (size_t at = 2048 * (i - 1); i && at < 2048 * i; at += 1024)
			aux_image_trace(&part, 0, NONE, at, trace + at, 1024);
		snprintf(path, sizeof(path), i ? "%s/data.%u" : "%s/data", dir, i - 1);
		fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
		assert_int_equal(write(fd, part.b.data, part.b.len), part.b.len);
		close(fd);
		image_release(&part);
	}
	assert_int_equal(data_open(dir, false, &df, &err), 0);
	check(df, 256, trace, sizeof(trace), false);
	data_close(df);
	for (unsigned int i = 0; i < 3; i++) {
		snprintf(path, sizeof(path), i ? "%s/data.%u" : "%s/data", dir, i - 1);
		unlink(path);
	}
	rmdir(dir);
}

/* Samples that lie in one zstd context, with AUXTRACE records of another ring between them. */
static void samples_may_be_compressed(void **state)
{
	ZSTD_CCtx *ctx = ZSTD_createCCtx();
	struct image im = {0}, inner = {0};
	struct error err = ERROR_INIT;
	uint8_t trace[10][512], out[2048];
	struct aux_loader *l;
	struct aux_stretch s;
	struct data_file *df;
	struct aux_index x;

	(void)state;
	make_trace(trace[0], sizeof(trace), 5);
	aux_image_begin(&im);
	aux_image_aux(&im, 0, 8, 0, 8, 0);
	for (unsigned int i = 0; i < 10; i++) {
		ZSTD_outBuffer o = {out, sizeof(out), 0};
		ZSTD_inBuffer in;

		inner.b.len = 0;
		aux_image_sample(&inner, 100 - i, 3, 8, trace[i], sizeof(trace[i]));
		in = (ZSTD_inBuffer){inner.b.data, inner.b.len, 0};
		assert_int_equal(ZSTD_compressStream2(ctx, &o, &in, ZSTD_e_flush), 0);
		image_head(&im, PERF_RECORD_COMPRESSED, (uint16_t)(8 + o.pos));
		assert_int_equal(buf_append(&im.b, out, o.pos), 0);
		aux_image_trace(&im, 5, NONE, i * sizeof(trace[i]), trace[i], sizeof(trace[i]));
	}
	image_end(&im);
	df = image_open(&im);
	assert_int_equal(aux_index_read(df, 128, DATA_SCAN_FINDINGS, &x, &err), 0);
	assert_int_equal(x.nr_runs, 11);
	assert_int_equal(x.rings[0].nr_runs, 1);
	assert_int_equal(aux_loader_new(&x, &ops, true, &l), 0);
	for (unsigned int i = 0; i < 10; i++) {
		const struct aux_run *run = &x.runs[1 + i];

		assert_int_equal(aux_loader_load(l, run->first_chunk, &s), 1);
		assert_int_equal(s.cpu, 3);
		assert_int_equal(s.tid, 8);
		assert_int_equal(s.to, 91 + i);
		assert_int_equal(s.offset, i * sizeof(trace[i]));
		assert_memory_equal(s.data, trace[9 - i], s.len);
	}
	assert_no_notes(df);
	aux_loader_free(l);
	aux_index_release(&x);
	data_close(df);
	image_release(&im);
	image_release(&inner);
	ZSTD_freeCCtx(ctx);
}

/* A record within a compressed one has no trace behind it, whatever it says. */
static void a_size_within_a_compressed_record_is_no_trace(void **state)
{
	const struct pd_auxtrace a = {.size = 1ull << 62, .idx = 1, .tid = NONE};
	struct image im = {0};
	struct pd_auxtrace_record r;
	struct error err = ERROR_INIT;
	uint8_t out[256];
	struct data_file *df;
	struct aux_index x;
	size_t n;

	(void)state;
	pd_auxtrace_encode(&a, &r);
	n = ZSTD_compress(out, sizeof(out), &r, sizeof(r), 1);
	assert_false(ZSTD_isError(n));
	aux_image_begin(&im);
	image_head(&im, PERF_RECORD_COMPRESSED, (uint16_t)(8 + n));
	assert_int_equal(buf_append(&im.b, out, n), 0);
	image_end(&im);
	df = image_open(&im);
	assert_int_equal(aux_index_read(df, 0, DATA_SCAN_FINDINGS, &x, &err), 0);
	assert_int_equal(x.nr_chunks, 0);
	assert_int_equal(noted(df, DATA_DAMAGED, "not in the file, or compressed"), 1);
	aux_index_release(&x);
	data_close(df);
	image_release(&im);
}

/* A file that has shrunk since it was indexed: its last records are not there any more. */
static void what_is_behind_a_hole_is_loaded(void **state)
{
	char dir[] = "/tmp/ringtail-test-XXXXXX", path[64];
	struct findings *findings = findings_new();
	struct error err = ERROR_INIT;
	struct image parts[4] = {0};
	struct aux_loader *l;
	struct aux_stretch s;
	struct data_file *df;
	struct aux_index x;
	uint8_t trace[3072];

	(void)state;
	assert_non_null(mkdtemp(dir));
	make_trace(trace, sizeof(trace), 50);
	memcpy(trace + 2048, "SY", 2);
	aux_image_begin(&parts[0]);
	aux_image_aux(&parts[0], 0, 8, 0, 8, 0);
	image_end(&parts[0]);
	for (unsigned int i = 0; i < 4; i++) {
		int fd;

		if (i)
			aux_image_trace(&parts[i], 0, NONE, 1024 * (i - 1), trace + 1024 * (i - 1),
					1024);
		snprintf(path, sizeof(path), i ? "%s/data.%u" : "%s/data", dir, i - 1);
		fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
		assert_int_equal(write(fd, parts[i].b.data, parts[i].b.len), parts[i].b.len);
		close(fd);
		image_release(&parts[i]);
	}
	assert_int_equal(data_open(dir, false, &df, &err), 0);
	assert_int_equal(aux_index_read(df, 1024, DATA_SCAN_FINDINGS, &x, &err), 0);
	assert_int_equal(x.nr_runs, 1);
	snprintf(path, sizeof(path), "%s/data.1", dir);
	assert_int_equal(truncate(path, 64), 0);
	assert_int_equal(aux_loader_new(&x, &ops, false, &l), 0);
	aux_loader_note_to(l, findings);
	assert_int_equal(aux_loader_load(l, 0, &s), 1);
	assert_int_equal(s.offset + s.len, 1024);
	assert_int_equal(aux_loader_load(l, 1, &s), 0);
	assert_int_equal(aux_loader_load(l, 2, &s), 1);
	assert_int_equal(s.offset, 2048);
	assert_memory_equal(s.data, trace + 2048, 1024);
	assert_no_notes(df);
	findings_merge(findings, df);
	assert_true(noted(df, DATA_DAMAGED, "cannot be read") > 0);
	findings_free(findings);
	aux_loader_free(l);
	aux_index_release(&x);
	data_close(df);
	for (unsigned int i = 0; i < 4; i++) {
		snprintf(path, sizeof(path), i ? "%s/data.%u" : "%s/data", dir, i - 1);
		unlink(path);
	}
	rmdir(dir);
}

static void a_stretch_has_a_limit(void **state)
{
	const size_t len = 3 * (size_t)AUX_STRETCH_MAX / 2;
	uint8_t *trace = malloc(len);
	struct error err = ERROR_INIT;
	struct image im = {0};
	struct aux_loader *l;
	struct aux_stretch s;
	struct data_file *df;
	struct aux_index x;

	(void)state;
	memset(trace, 'a', len);
	memcpy(trace + 100, "SY", 2);
	memcpy(trace + len - 100, "SY", 2);
	aux_image_begin(&im);
	aux_image_aux(&im, 0, 8, 0, 8, 0);
	aux_image_trace(&im, 0, NONE, 0, trace, len);
	image_end(&im);
	df = image_open(&im);
	assert_int_equal(aux_index_read(df, 0, DATA_SCAN_FINDINGS, &x, &err), 0);
	assert_int_equal(aux_loader_new(&x, &ops, false, &l), 0);
	assert_int_equal(aux_loader_load(l, 0, &s), 1);
	assert_int_equal(s.offset, 100);
	assert_int_equal(s.len, AUX_STRETCH_MAX - 100);
	for (uint64_t i = 1; i + 1 < x.nr_chunks; i++)
		assert_int_equal(aux_loader_load(l, i, &s), 0);
	assert_int_equal(aux_loader_load(l, x.nr_chunks - 1, &s), 1);
	assert_int_equal(s.len, 100);
	assert_int_equal(noted(df, DATA_DAMAGED, "without a synchronisation point in 80 MB"), 1);
	aux_loader_free(l);
	aux_index_release(&x);
	data_close(df);
	image_release(&im);
	free(trace);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(stretches_are_the_trace),
		cmocka_unit_test(trace_lies_in_files_of_a_directory),
		cmocka_unit_test(samples_may_be_compressed),
		cmocka_unit_test(a_size_within_a_compressed_record_is_no_trace),
		cmocka_unit_test(what_is_behind_a_hole_is_loaded),
		cmocka_unit_test(a_stretch_has_a_limit),
	};

	srand(1);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
