// SPDX-License-Identifier: Apache-2.0
/*
 * Compares time order with a sort of all records: random rings, with or without rounds, with memory
 * for everything and for almost nothing.
 */
#include <errno.h>
#include <inttypes.h>

#include "data-image.h"
#include "data/file/findings.h"
#include "data/order/order.h"

struct expected {
	uint64_t time, tag;
};

static int compare(const void *a, const void *b)
{
	const struct expected *x = a, *y = b;

	if (x->time != y->time)
		return x->time < y->time ? -1 : 1;
	return x->tag < y->tag ? -1 : x->tag > y->tag;
}

static uint64_t next_random(uint64_t *state)
{
	*state = *state * 6364136223846793005ULL + 1442695040888963407ULL;
	return *state >> 33;
}

/*
 * @nr samples of @rings rings, each of which is in order. The rings are drained one after the
 * other while the clock goes on, so that what a round leaves behind is newer than what the round
 * before ended with, and no more than that. Tags number the samples as they stand in the file.
 */
static struct expected *make_rings(struct image *im, size_t nr, unsigned int rings, bool rounds,
				   uint64_t seed)
{
	struct expected *e = calloc(nr, sizeof(*e));
	uint64_t clock = 1000, drained[8];
	size_t at = 0;

	assert_non_null(e);
	assert_true(rings <= 8);
	for (unsigned int ring = 0; ring < rings; ring++)
		drained[ring] = clock;
	image_begin(im, 1, IMAGE_STRIDE);
	while (at < nr) {
		for (unsigned int ring = 0; ring < rings && at < nr; ring++) {
			uint64_t time = drained[ring];

			clock += next_random(&seed) % 100;
			while (at < nr && time < clock) {
				e[at] = (struct expected){time, at};
				image_sample(im, 0, time, at++);
				time += next_random(&seed) % 40;
			}
			drained[ring] = time > clock ? time : clock;
		}
		if (rounds)
			image_head(im, PERF_RECORD_FINISHED_ROUND, 8);
	}
	image_end(im);
	qsort(e, nr, sizeof(*e), compare);
	return e;
}

/* Delivers everything and compares; the invariant holds at each step, not only at the end. */
static void check_order(struct data_file *df, const struct expected *e, size_t nr, size_t memory)
{
	struct order_opts opts = {.memory = memory, .scan_flags = DATA_SCAN_FINDINGS};
	struct moment last = {0, 0};
	struct data_record rec;
	struct order *o;
	size_t at = 0, findings;
	int rc;

	assert_int_equal(order_new(df, &opts, &o, NULL), 0);
	while ((rc = order_next(o, &rec, NULL)) > 0) {
		assert_false(moment_before(rec.at, last));
		last = rec.at;
		if (rec.hdr->type != PERF_RECORD_SAMPLE)
			continue;
		assert_true(at < nr);
		assert_int_equal(rec.time, e[at].time);
		assert_int_equal(image_tag(&rec), e[at].tag);
		assert_int_equal(rec.hdr->size, 40);
		assert_ptr_equal(rec.evsel, pd_evlist_at(data_evlist(df), 0));
		at++;
	}
	assert_int_equal(rc, 0);
	assert_int_equal(at, nr);
	assert_int_equal(order_next(o, &rec, NULL), 0);
	order_free(o);
	data_findings(df, &findings);
	assert_int_equal(findings, 0);
}

static void test_rings(void **state)
{
	static const size_t memories[] = {1, 2000, 20000, 0};

	for (uint64_t seed = 1; seed <= 12; seed++) {
		size_t nr = 50 + seed * 300;
		struct image im = {.swap = seed % 4 == 3};
		struct expected *e = make_rings(&im, nr, 1 + seed % 5, seed % 2, seed);
		struct data_file *df = image_open(&im);

		for (size_t i = 0; i < 4; i++)
			check_order(df, e, nr, memories[i]);
		data_close(df);
		free(e);
		image_release(&im);
	}
}

/* So many runs that levels of them are merged. */
static void test_many_runs(void **state)
{
	struct image im = {0};
	size_t nr = 40000;
	struct expected *e = make_rings(&im, nr, 3, false, 5);
	struct data_file *df = image_open(&im);

	check_order(df, e, nr, 1);
	check_order(df, e, nr, 1000);
	data_close(df);
	free(e);
	image_release(&im);
}

/* With rounds, records come out before all is read: progress() reports how far the reading is. */
static void note_progress(uint64_t done, uint64_t total, void *arg)
{
	uint64_t *last = arg;

	*last = done;
}

static void test_rounds_deliver_early(void **state)
{
	uint64_t done = 0;
	struct order_opts opts = {.progress = note_progress, .arg = &done};
	struct image im = {0};
	struct expected *e = make_rings(&im, 50000, 3, true, 9);
	struct data_file *df = image_open(&im);
	struct data_record rec;
	struct order *o;

	assert_int_equal(order_new(df, &opts, &o, NULL), 0);
	do
		assert_int_equal(order_next(o, &rec, NULL), 1);
	while (rec.hdr->type != PERF_RECORD_SAMPLE);
	assert_true(done < im.b.len / 2);
	order_free(o);
	data_close(df);
	free(e);
	image_release(&im);
}

/* Untimed records stay where they are met, with a moment behind what was delivered. */
static void test_untimed(void **state)
{
	struct order_opts opts = {0};
	struct image im = {0};
	struct data_file *df;
	struct data_record rec;
	struct order *o;
	uint64_t place;

	image_begin(&im, 1, IMAGE_STRIDE);
	image_comm(&im, 0, "first");
	image_sample(&im, 0, 50, 1);
	image_sample(&im, 0, 40, 2);
	image_head(&im, PERF_RECORD_FINISHED_ROUND, 8);
	image_head(&im, PERF_RECORD_FINISHED_ROUND, 8);
	image_comm(&im, 0, "second");
	image_sample(&im, 0, 60, 3);
	image_comm(&im, UINT64_MAX, "third"); /* perf takes this for no time, too */
	image_end(&im);
	df = image_open(&im);
	assert_int_equal(order_new(df, &opts, &o, NULL), 0);

	assert_int_equal(order_next(o, &rec, NULL), 1);
	assert_int_equal(rec.hdr->type, PERF_RECORD_COMM);
	assert_int_equal(rec.at.time, 0);
	place = rec.at.seq;
	assert_int_equal(order_next(o, &rec, NULL), 1);
	assert_int_equal(rec.hdr->type, PERF_RECORD_FINISHED_ROUND);
	assert_true(rec.at.seq > place);
	assert_int_equal(order_next(o, &rec, NULL), 1);
	assert_int_equal(rec.hdr->type, PERF_RECORD_FINISHED_ROUND);
	assert_int_equal(rec.at.time, 0);
	for (unsigned int i = 0; i < 2; i++) {
		assert_int_equal(order_next(o, &rec, NULL), 1);
		assert_int_equal(rec.time, 40 + i * 10);
	}
	for (unsigned int i = 0; i < 2; i++) {
		assert_int_equal(order_next(o, &rec, NULL), 1);
		assert_int_equal(rec.hdr->type, PERF_RECORD_COMM);
		assert_int_equal(rec.at.time, 50);
		assert_int_equal(rec.at.seq, UINT64_MAX);
	}
	assert_int_equal(order_next(o, &rec, NULL), 1);
	assert_int_equal(rec.time, 60);
	assert_int_equal(order_next(o, &rec, NULL), 0);
	order_free(o);
	data_close(df);
	image_release(&im);
}

/* What a round promised and a later one broke is delivered all the same, and counted. */
static void test_late(void **state)
{
	struct order_opts opts = {.scan_flags = DATA_SCAN_FINDINGS};
	const struct data_finding *findings;
	struct image im = {0};
	struct data_file *df;
	struct data_record rec;
	struct order *o;
	size_t samples = 0, nr;

	image_begin(&im, 1, IMAGE_STRIDE);
	image_sample(&im, 0, 50, 1);
	image_head(&im, PERF_RECORD_FINISHED_ROUND, 8);
	image_head(&im, PERF_RECORD_FINISHED_ROUND, 8);
	image_sample(&im, 0, 30, 2);
	image_sample(&im, 0, 20, 3);
	image_end(&im);
	df = image_open(&im);
	assert_int_equal(order_new(df, &opts, &o, NULL), 0);
	while (order_next(o, &rec, NULL) > 0)
		samples += rec.hdr->type == PERF_RECORD_SAMPLE;
	order_free(o);
	assert_int_equal(samples, 3);
	findings = data_findings(df, &nr);
	assert_int_equal(nr, 1);
	assert_int_equal(findings[0].severity, DATA_ODD);
	assert_non_null(strstr(findings[0].text, "2 records"));
	data_close(df);
	image_release(&im);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_rings),
		cmocka_unit_test(test_many_runs),
		cmocka_unit_test(test_rounds_deliver_early),
		cmocka_unit_test(test_untimed),
		cmocka_unit_test(test_late),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
