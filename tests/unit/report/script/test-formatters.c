// SPDX-License-Identifier: Apache-2.0
/* Texts come out in the order of the samples, whoever makes them, and a failure ends all. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "report/script/formatters.h"

#define SAMPLES 20000
#define WORKERS 5

/* A thread's own. */
struct worker {
	uint64_t samples;
	uint64_t fails_at; /* 0: never */
};

static const struct pd_evsel evsel;

/* Writes a number, or nothing; now and then it takes long. */
static int put_number(const struct walk_sample *ws, struct outbuf *out, void *arg)
{
	struct worker *w = arg;

	w->samples++;
	if (w->fails_at && ws->s.ip == w->fails_at)
		return -EIO;
	if (ws->s.ip % 1777 == 0)
		usleep(3000);
	if (ws->s.ip % 5)
		outbuf_format(out, "%" PRIu64 "\n", ws->s.ip);
	return 0;
}

/* Gives all samples, until one fails. Returns as formatters_end(). */
static int format_all(struct worker *workers, size_t nr, FILE *out, uint64_t *ret_bytes)
{
	struct format_out stream = {.file = out};
	void *args[WORKERS];
	struct formatters *f;
	int rc = 0;

	for (size_t i = 0; i < nr; i++)
		args[i] = &workers[i];
	assert_int_equal(formatters_new(put_number, args, nr, &stream, 1, &f), 0);
	for (uint64_t n = 1; n <= SAMPLES && !rc; n++) {
		struct data_record rec = {.offset = n};
		struct walk_sample ws = {.rec = &rec, .evsel = &evsel, .s.ip = n};

		rc = formatters_put(&ws, f);
	}
	if (!rc)
		rc = formatters_end(f);
	*ret_bytes = stream.bytes;
	formatters_free(f);
	return rc;
}

static void test_order(void **state)
{
	(void)state;
	for (size_t nr = 1; nr <= WORKERS; nr++) {
		struct worker workers[WORKERS] = {0};
		uint64_t n = 0, sum = 0, bytes = 0, number;
		char *text = NULL;
		size_t len = 0;
		FILE *out = open_memstream(&text, &len), *in;

		assert_int_equal(format_all(workers, nr, out, &bytes), 0);
		fclose(out);
		assert_int_equal(bytes, len);
		in = fmemopen(text, len, "r");
		while (fscanf(in, "%" SCNu64, &number) == 1) {
			n += 1 + (n % 5 == 4); /* those that write nothing */
			assert_int_equal(number, n);
		}
		assert_int_equal(n, SAMPLES - 1);
		fclose(in);
		free(text);
		for (size_t i = 0; i < nr; i++)
			sum += workers[i].samples;
		assert_int_equal(sum, SAMPLES);
	}
}

/* Writes the numbers of a piece of a thousand. */
static int put_piece(size_t number, struct outbuf *out, void *arg)
{
	struct worker *w = arg;

	w->samples++;
	if (w->fails_at && number == w->fails_at)
		return -EIO;
	if (number % 7 == 0)
		usleep(2000);
	for (size_t i = 0; number % 3 && i < 1000; i++)
		outbuf_format(out, "%zu\n", number * 1000 + i);
	return 0;
}

/* Pieces come out in order, whoever makes them; the failure of one ends all. */
static void test_pieces(void **state)
{
	(void)state;
	for (size_t nr = 1; nr <= WORKERS; nr++) {
		struct worker workers[WORKERS] = {0};
		uint64_t number, last = 0, n = 0;
		struct format_out stream;
		void *args[WORKERS];
		struct formatters *f;
		char *text = NULL;
		size_t len = 0;
		FILE *out = open_memstream(&text, &len), *in;
		int rc = 0;

		for (size_t i = 0; i < nr; i++)
			args[i] = &workers[i];
		stream = (struct format_out){.file = out};
		assert_int_equal(formatters_new_pieces(put_piece, args, nr, &stream, 1, &f), 0);
		for (size_t i = 0; i < 60; i++)
			assert_int_equal(formatters_put_piece(f, i), 0);
		assert_int_equal(formatters_end(f), 0);
		formatters_free(f);
		fclose(out);
		assert_int_equal(stream.bytes, len);
		in = fmemopen(text, len, "r");
		for (; fscanf(in, "%" SCNu64, &number) == 1; last = number, n++)
			assert_true(number > last);
		assert_int_equal(n, 40000);
		fclose(in);
		free(text);

		out = fopen("/dev/null", "w");
		for (size_t i = 0; i < nr; i++)
			workers[i].fails_at = 59;
		stream = (struct format_out){.file = out};
		assert_int_equal(formatters_new_pieces(put_piece, args, nr, &stream, 1, &f), 0);
		for (size_t i = 0; i < 60 && !rc; i++)
			rc = formatters_put_piece(f, i);
		assert_int_equal(rc ? rc : formatters_end(f), -EIO);
		formatters_free(f);
		fclose(out);
	}
}

static int put_parity(const struct walk_sample *ws, struct outbuf *out, void *arg)
{
	outbuf_format(&out[ws->s.ip % 2], "%" PRIu64 "\n", ws->s.ip);
	return 0;
}

/* Each stream has its texts, in order. */
static void test_streams(void **state)
{
	static struct worker workers[WORKERS];
	void *args[] = {&workers[0], &workers[1], &workers[2], &workers[3], &workers[4]};
	char *text[2] = {NULL};
	size_t len[2];
	struct format_out outs[2] = {{.file = open_memstream(&text[0], &len[0])},
				     {.file = open_memstream(&text[1], &len[1])}};
	struct formatters *f;

	(void)state;
	assert_int_equal(formatters_new(put_parity, args, WORKERS, outs, 2, &f), 0);
	for (uint64_t n = 0; n < SAMPLES; n++) {
		struct data_record rec = {.offset = n};
		struct walk_sample ws = {.rec = &rec, .evsel = &evsel, .s.ip = n};

		assert_int_equal(formatters_put(&ws, f), 0);
	}
	assert_int_equal(formatters_end(f), 0);
	formatters_free(f);
	for (uint64_t parity = 0; parity < 2; parity++) {
		uint64_t number, n = parity;
		FILE *in;

		fclose(outs[parity].file);
		assert_int_equal(outs[parity].bytes, len[parity]);
		in = fmemopen(text[parity], len[parity], "r");
		for (; fscanf(in, "%" SCNu64, &number) == 1; n += 2)
			assert_int_equal(number, n);
		assert_int_equal(n, SAMPLES + parity);
		fclose(in);
		free(text[parity]);
	}
}

static void test_no_samples(void **state)
{
	struct worker worker = {0};
	void *arg = &worker;
	struct format_out stream = {.file = stdout};
	struct formatters *f;

	(void)state;
	assert_int_equal(formatters_new(put_number, &arg, 1, &stream, 1, &f), 0);
	assert_int_equal(formatters_end(f), 0);
	assert_int_equal(stream.bytes, 0);
	formatters_free(f);
}

static void test_failures(void **state)
{
	struct worker workers[WORKERS];
	FILE *full = fopen("/dev/full", "w"), *nowhere = fopen("/dev/null", "w");
	uint64_t bytes;

	(void)state;
	assert_non_null(full);
	for (size_t nr = 1; nr <= WORKERS; nr++) {
		memset(workers, 0, sizeof(workers));
		assert_int_equal(format_all(workers, nr, full, &bytes), -ENOSPC);
		for (size_t i = 0; i < nr; i++)
			workers[i].fails_at = SAMPLES / 2;
		assert_int_equal(format_all(workers, nr, nowhere, &bytes), -EIO);
		for (size_t i = 0; i < nr; i++)
			workers[i].fails_at = SAMPLES; /* in the last batch */
		assert_int_equal(format_all(workers, nr, nowhere, &bytes), -EIO);
	}
	fclose(full);
	fclose(nowhere);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_order),	 cmocka_unit_test(test_pieces),
		cmocka_unit_test(test_streams),	 cmocka_unit_test(test_no_samples),
		cmocka_unit_test(test_failures),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
