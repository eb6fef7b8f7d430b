// SPDX-License-Identifier: Apache-2.0
/*
 * Compares a sweep with a scan. For any parts, number of threads and damage, a sweep keeps the
 * records that one walk from the beginning delivers, with the same findings; and its runs cover the
 * whole file.
 */
#include <errno.h>
#include <stdatomic.h>
#include <zstd.h>

#include "data-image.h"
#include "data/file/findings.h"
#include "data/order/order.h"
#include "data/scan/sweep.h"

/* A record: enough to distinguish it from any other. */
struct step {
	uint64_t offset, inner, time, place, hash;
	const struct pd_evsel *evsel;
	uint32_t segment;
};

struct trail {
	struct step *steps;
	size_t nr, cap;
	struct data_finding findings[64];
	size_t nr_notes;
};

static uint64_t next_random(uint64_t *state)
{
	*state = *state * 6364136223846793005ULL + 1442695040888963407ULL;
	return *state >> 33;
}

static void add_step(struct trail *t, const struct data_record *rec)
{
	const uint8_t *p = (const uint8_t *)rec->hdr;
	uint64_t hash = 1469598103934665603ULL;

	for (size_t i = 0; i < rec->hdr->size; i++)
		hash = (hash ^ p[i]) * 1099511628211ULL;
	assert_int_equal(array_grow(&t->steps, &t->cap, t->nr + 1, sizeof(*t->steps)), 0);
	t->steps[t->nr++] = (struct step){rec->offset, rec->inner, rec->time,	rec->at.seq,
					  hash,	       rec->evsel, rec->segment};
}

static void scan_run(struct data_file *df, const struct sweep_run *run, unsigned int flags,
		     struct trail *t)
{
	struct data_record rec;
	struct data_scan *scan;

	assert_int_equal(data_scan_new(df, run->segment, run->from, run->to, flags, &scan), 0);
	while (data_scan_next(scan, &rec) > 0)
		add_step(t, &rec);
	data_scan_free(scan);
}

static void take_notes(struct data_file *df, struct trail *t)
{
	const struct data_finding *findings = data_findings(df, &t->nr_notes);

	for (size_t i = 0; i < t->nr_notes; i++)
		t->findings[i] = findings[i];
}

static void assert_same(const struct trail *a, const struct trail *b)
{
	assert_int_equal(a->nr, b->nr);
	for (size_t i = 0; i < a->nr; i++)
		assert_memory_equal(&a->steps[i], &b->steps[i], offsetof(struct step, evsel));
}

static void assert_same_notes(const struct trail *a, const struct trail *b)
{
	assert_int_equal(a->nr_notes, b->nr_notes);
	for (size_t i = 0; i < a->nr_notes; i++) {
		assert_string_equal(a->findings[i].text, b->findings[i].text);
		assert_int_equal(a->findings[i].count, b->findings[i].count);
		assert_int_equal(a->findings[i].offset, b->findings[i].offset);
		assert_int_equal(a->findings[i].severity, b->findings[i].severity);
	}
}

/* Parts count their records; what is valid is added up, and all are freed. */
struct counts {
	atomic_uint alive;
	size_t records;
	bool keep_none;
};

struct part {
	struct counts *counts;
	size_t records;
};

static void *part_new(void *arg)
{
	struct part *p = malloc(sizeof(*p));

	*p = (struct part){arg, 0};
	atomic_fetch_add(&p->counts->alive, 1);
	return p;
}

static int part_take(const struct data_record *rec, void *part)
{
	struct part *p = part;

	p->records++;
	if (rec->time == 0xdeadbeef)
		return -EINTR;
	return !p->counts->keep_none;
}

static int part_end(void *part, bool valid, void *arg)
{
	struct part *p = part;
	struct counts *c = arg;

	if (valid)
		c->records += p->records;
	atomic_fetch_sub(&c->alive, 1);
	free(p);
	return 0;
}

/* Returns the number of runs. */
static size_t sweep_file(struct data_file *df, unsigned int workers, uint64_t part_bytes,
			 bool keep_none, struct trail *ret)
{
	struct counts c = {.keep_none = keep_none};
	struct sweep_opts opts = {
		.workers = workers,
		.scan_flags = DATA_SCAN_FINDINGS | DATA_SCAN_CONTAINERS,
		.part_bytes = part_bytes,
		.part_new = part_new,
		.take = part_take,
		.part_end = part_end,
		.arg = &c,
	};
	uint64_t newest = 0, expected = 0;
	const struct sweep_run *runs;
	struct trail again = {0};
	struct data_record rec;
	struct sweep *sw;
	size_t nr;

	assert_int_equal(sweep_new(df, &opts, &sw), 0);
	while (sweep_next(sw, &rec, &newest) > 0) {
		add_step(ret, &rec);
		if (rec.time > expected)
			expected = rec.time;
		assert_int_equal(newest, expected);
	}
	take_notes(df, ret);
	runs = sweep_runs(sw, &nr);
	for (size_t i = 0; i < nr; i++)
		scan_run(df, &runs[i], DATA_SCAN_CONTAINERS, &again);
	assert_int_equal(c.records, again.nr);
	if (!keep_none)
		assert_same(ret, &again);
	sweep_free(sw);
	assert_int_equal(c.alive, 0);
	free(again.steps);
	return nr;
}

/* Returns the largest number of runs that any sweep made of it. */
static size_t check(const struct image *im)
{
	static const uint64_t sizes[] = {0, 50000, 3000, 700, 64};
	static const unsigned int workers[] = {1, 2, 5};
	struct trail serial = {0};
	struct data_file *df;
	size_t runs = 0;

	if (image_open_len(im, im->b.len, &df, NULL))
		return 0;
	for (unsigned int i = 0; i < data_segments(df); i++)
		scan_run(df, &(struct sweep_run){i, 0, DATA_WHOLE},
			 DATA_SCAN_FINDINGS | DATA_SCAN_CONTAINERS, &serial);
	take_notes(df, &serial);
	data_close(df);
	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		struct trail t = {0};
		size_t n;

		df = image_open(im);
		n = sweep_file(df, workers[i % 3], sizes[i], false, &t);
		runs = n > runs ? n : runs;
		assert_same(&serial, &t);
		assert_same_notes(&serial, &t);
		data_close(df);
		free(t.steps);
	}
	free(serial.steps);
	return runs;
}

static void add_record(struct image *im, uint64_t i, uint64_t *seed)
{
	if (next_random(seed) % 7 == 0)
		image_comm(im, 100 + i, "name");
	else
		image_sample(im, next_random(seed) % 2, 100 + i, i);
	if (next_random(seed) % 50 == 0)
		image_head(im, PERF_RECORD_FINISHED_ROUND, 8);
}

static void test_plain(void **state)
{
	for (uint64_t seed = 1; seed <= 4; seed++) {
		struct image im = {.swap = seed == 2};
		uint64_t random = seed;

		image_begin(&im, 2, IMAGE_STRIDE);
		for (uint64_t i = 0; i < 8000; i++)
			add_record(&im, i, &random);
		image_end(&im);
		assert_true(check(&im) > 50);
		/* with nothing kept, and so with nothing that anyone waits for */
		for (unsigned int workers = 1; workers < 4; workers++) {
			struct data_file *df = image_open(&im);
			struct trail none = {0};

			assert_true(sweep_file(df, workers, 500, true, &none) > 50);
			assert_int_equal(none.nr, 0);
			data_close(df);
		}
		image_release(&im);
	}
}

/* More than two batches a part are kept: workers wait for their turn. */
static void test_batches(void **state)
{
	struct image im = {0};
	uint64_t random = 3;
	struct data_file *df;
	struct trail t = {0};

	image_begin(&im, 2, IMAGE_STRIDE);
	for (uint64_t i = 0; i < 60000; i++)
		add_record(&im, i, &random);
	image_end(&im);
	for (unsigned int workers = 1; workers <= 8; workers += 7) {
		df = image_open(&im);
		t.nr = 0;
		assert_true(sweep_file(df, workers, 700000, false, &t) > 2);
		data_close(df);
	}
	free(t.steps);
	image_release(&im);
}

/* What follows an AUXTRACE record looks like records from end to end, and is none. */
static void test_payload_of_records(void **state)
{
	struct image im = {0}, fake = {0};
	uint64_t random = 5;

	for (uint64_t i = 0; i < 3000; i++)
		add_record(&fake, i, &random);
	image_begin(&im, 2, IMAGE_STRIDE);
	for (uint64_t i = 0; i < 4000; i++) {
		add_record(&im, i, &random);
		if (i % 1500 != 700)
			continue;
		image_head(&im, PERF_RECORD_AUXTRACE, 48);
		image_u64(&im, fake.b.len);
		assert_int_equal(buf_zero(&im.b, 32), 0);
		assert_int_equal(buf_append(&im.b, fake.b.data, fake.b.len), 0);
	}
	image_end(&im);
	assert_true(check(&im) > 3);
	image_release(&im);
	image_release(&fake);
}

enum frames {
	FRAMES_ALONE,	   /* one a record, of whole records */
	FRAMES_TWO,	   /* two a record */
	FRAMES_CONTINUED,  /* one for all, as perf does it */
	FRAMES_IN_BETWEEN, /* one a record, which split records in two */
};

/* Appends one container. */
static void add_container(struct image *im, ZSTD_CCtx *ctx, const uint8_t *p, size_t len,
			  enum frames how)
{
	size_t half = how == FRAMES_TWO ? len / 80 * 40 : 0;
	ZSTD_EndDirective end = how == FRAMES_CONTINUED ? ZSTD_e_flush : ZSTD_e_end;
	ZSTD_inBuffer first = {p, half, 0}, in = {p, len, half};
	uint8_t bytes[16384];
	ZSTD_outBuffer out = {bytes, sizeof(bytes), 0};

	if (half)
		assert_int_equal(ZSTD_compressStream2(ctx, &out, &first, ZSTD_e_end), 0);
	assert_int_equal(ZSTD_compressStream2(ctx, &out, &in, end), 0);
	image_head(im, PERF_RECORD_COMPRESSED, (uint16_t)(8 + out.pos));
	assert_int_equal(buf_append(&im->b, bytes, out.pos), 0);
	/* ours are padded by a skippable frame or not at all; perf's are not aligned */
}

static void make_compressed(struct image *im, enum frames how, uint64_t seed)
{
	ZSTD_CCtx *ctx = ZSTD_createCCtx();
	size_t piece = how == FRAMES_IN_BETWEEN ? 1234 : 2000;
	struct image raw = {0};

	for (uint64_t i = 0; i < 40000; i++)
		image_sample(&raw, i % 2, 100 + i, next_random(&seed) << 20 ^ i);
	image_begin(im, 2, IMAGE_STRIDE);
	for (size_t at = 0; at < raw.b.len; at += piece) {
		size_t n = raw.b.len - at < piece ? raw.b.len - at : piece;

		add_container(im, ctx, raw.b.data + at, n, how);
		/* records that are not compressed in between, a multiple of 8 again */
		if (next_random(&seed) % 20 == 0)
			image_sample(im, 0, 50, at);
	}
	image_end(im);
	ZSTD_freeCCtx(ctx);
	image_release(&raw);
}

static void test_compressed(void **state)
{
	for (enum frames how = FRAMES_ALONE; how <= FRAMES_IN_BETWEEN; how++) {
		struct image im = {0};
		size_t runs;

		make_compressed(&im, how, 7);
		runs = check(&im);
		if (how == FRAMES_CONTINUED)
			assert_int_equal(runs, 1);
		else
			assert_true(runs > 5);
		image_release(&im);
	}
}

/* Bytes changed, removed or inserted, anywhere: a walk and a sweep deliver the same. */
static void test_damaged(void **state)
{
	for (uint64_t seed = 1; seed <= 72; seed++) {
		struct image im = {.swap = seed % 9 == 8};
		uint64_t random = seed;

		if (seed % 3 && !im.swap) {
			make_compressed(&im, (enum frames)(seed / 3 % 4), seed);
		} else {
			image_begin(&im, 2, IMAGE_STRIDE);
			for (uint64_t i = 0; i < 1500; i++)
				add_record(&im, i, &random);
			image_end(&im);
		}
		for (unsigned int n = 1 + seed % 6; n; n--) {
			size_t room = im.b.len - im.data_at - 16;
			size_t at = im.data_at + next_random(&random) % room;
			size_t cut = 1 + next_random(&random) % (seed % 2 ? 12 : 4096);

			cut = cut < room - (at - im.data_at) ? cut : 1;
			switch (next_random(&random) % 3) {
			case 0: im.b.data[at] ^= 1 << next_random(&random) % 8; break;
			case 1: memset(im.b.data + at, 0, cut); break;
			case 2:
				memmove(im.b.data + at, im.b.data + at + cut, im.b.len - at - cut);
				im.b.len -= cut;
				break;
			}
		}
		image_end(&im);
		check(&im);
		image_release(&im);
	}
}

/* A callback's error ends the sweep, after what came before. */
static void test_callback_ends(void **state)
{
	for (unsigned int workers = 1; workers < 4; workers += 2) {
		struct counts c = {0};
		struct sweep_opts opts = {.workers = workers,
					  .part_bytes = 1000,
					  .part_new = part_new,
					  .take = part_take,
					  .part_end = part_end,
					  .arg = &c};
		struct image im = {0};
		struct data_record rec;
		struct data_file *df;
		uint64_t newest = 0;
		struct sweep *sw;
		size_t n = 0;
		int rc;

		image_begin(&im, 1, IMAGE_STRIDE);
		for (uint64_t i = 0; i < 2000; i++)
			image_sample(&im, 0, i == 777 ? 0xdeadbeef : i + 1, i);
		image_end(&im);
		df = image_open(&im);
		assert_int_equal(sweep_new(df, &opts, &sw), 0);
		while ((rc = sweep_next(sw, &rec, &newest)) > 0)
			n++;
		assert_int_equal(rc, -EINTR);
		assert_int_equal(n, 777);
		sweep_free(sw);
		assert_int_equal(c.alive, 0);
		data_close(df);
		image_release(&im);
	}
}

static int take_comms(const struct data_record *rec, void *part)
{
	return rec->hdr->type != PERF_RECORD_SAMPLE;
}

/* In time order: the times of records that were not kept still end rounds. */
static void test_order(void **state)
{
	for (unsigned int workers = 1; workers < 4; workers += 2) {
		struct counts c = {0};
		struct sweep_opts opts = {.workers = workers,
					  .part_bytes = 400,
					  .part_new = part_new,
					  .take = take_comms,
					  .part_end = part_end,
					  .arg = &c};
		struct order_opts order = {.memory = 1};
		struct image im = {0};
		struct data_record rec;
		struct data_file *df;
		uint64_t last = 0;
		struct order *o;
		size_t comms = 0;

		image_begin(&im, 1, IMAGE_STRIDE);
		for (uint64_t round = 1; round <= 300; round++) {
			image_comm(&im, 1000 * round - 10, "b");
			image_comm(&im, 1000 * round - 500, "a");
			image_sample(&im, 0, 1000 * round, round);
			image_head(&im, PERF_RECORD_FINISHED_ROUND, 8);
		}
		image_comm(&im, 0, "none");
		image_end(&im);
		df = image_open(&im);
		assert_int_equal(sweep_new(df, &opts, &order.sweep), 0);
		assert_int_equal(order_new(df, &order, &o, NULL), 0);
		while (order_next(o, &rec, NULL) > 0) {
			assert_int_not_equal(rec.hdr->type, PERF_RECORD_SAMPLE);
			if (rec.hdr->type != PERF_RECORD_COMM)
				continue;
			assert_true(rec.at.time >= last);
			/* the last but one round is out when the last has ended */
			if (!rec.time)
				assert_int_equal(rec.at.time, 299 * 1000 - 10);
			last = rec.at.time;
			comms++;
		}
		assert_int_equal(comms, 601);
		order_free(o);
		sweep_free(order.sweep);
		data_close(df);
		image_release(&im);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_plain),	   cmocka_unit_test(test_batches),
		cmocka_unit_test(test_compressed), cmocka_unit_test(test_payload_of_records),
		cmocka_unit_test(test_damaged),	   cmocka_unit_test(test_callback_ends),
		cmocka_unit_test(test_order),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
