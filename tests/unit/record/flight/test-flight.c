// SPDX-License-Identifier: Apache-2.0
/*
 * A recording in memory: where records go, whose losses count when, and that the log of sideband
 * does not grow beyond its share. test-soak.c runs it for a long time.
 */
#include "made-recording.h"
#include "record/flight/flight.h"

#define MEMORY (1u << 20)

static struct flight *make(struct made *m, int compression)
{
	struct flight *f = flight_new(&(struct flight_opts){.bytes = MEMORY,
							    .workers = 2,
							    .compression = compression,
							    .plan = &m->plan,
							    .opened = &m->opened});

	assert_non_null(f);
	return f;
}

/* Writes @im to worker @number as records of @ring. */
static void write_to(struct flight *f, size_t number, unsigned int ring, const struct image *im)
{
	const struct run run = {
		.a = im->b.data, .a_len = im->b.len, .ring = ring, .cpu = (int)ring};

	assert_int_equal(sink_write(flight_sink(f, number), &run, NULL), 0);
}

static struct history_figures figures_of(struct flight *f)
{
	struct history_figures ret;

	history_figures(flight_history(f), &ret);
	return ret;
}

static size_t waiting(struct flight *f)
{
	struct task_table_stats stats;
	size_t ret;

	sideband_stats(flight_log(f), &stats, &ret);
	return ret;
}

/* Samples go to the history, names to the log, and marks of rounds nowhere. */
static void test_records_part(void **state)
{
	struct made *m = *state;
	struct flight *f = make(m, 0);
	struct image im = {0};

	assert_true(flight_worker_of(f, 0) > 1);
	made_samples(m, &im, 0, 10);
	image_comm(&im, 1000, "name");
	image_head(&im, PERF_RECORD_FINISHED_ROUND, 8);
	made_samples(m, &im, 0, 5);
	write_to(f, 1, 0, &im);
	assert_int_equal(figures_of(f).taken, 15);
	assert_int_equal(figures_of(f).held, 15);
	assert_int_equal(waiting(f), 1);
	assert_int_equal(flight_worker_of(f, 0), 1);
	assert_true(flight_worker_of(f, 1) > 1);
	assert_int_equal(sink_flush(flight_sink(f, 1), NULL), 0);
	assert_int_equal(figures_of(f).held, 15);
	flight_free(f);
	image_release(&im);
}

static void add_lost(struct image *im, uint32_t type, uint64_t lost)
{
	image_head(im, type, type == PERF_RECORD_LOST ? 48 : 40);
	if (type == PERF_RECORD_LOST)
		image_u64(im, IMAGE_ID);
	image_u64(im, lost);
	for (unsigned int i = 0; i < 3; i++)
		image_u64(im, i == 2 ? IMAGE_ID : 0);
}

/* Losses are seen after a flush of their worker, and added up once at the end. */
static void test_losses(void **state)
{
	struct made *m = *state;
	struct flight *f = make(m, 0);
	struct image im = {0};
	uint64_t lost, dropped;
	struct run run;

	add_lost(&im, PERF_RECORD_LOST, 7);
	add_lost(&im, PERF_RECORD_LOST_SAMPLES, 5);
	for (size_t i = 0; i < 2; i++)
		write_to(f, i, (unsigned int)i, &im);
	/* What came after an error counts as well. */
	run = (struct run){.a = im.b.data, .a_len = im.b.len, .ring = 1, .cpu = 1};
	flight_discard(flight_intake(f, 1), &run);
	flight_losses(f, &lost, &dropped);
	assert_int_equal(lost + dropped, 0);
	flight_was_flushed(flight_intake(f, 0));
	flight_losses(f, &lost, &dropped);
	assert_int_equal(lost, 7);
	assert_int_equal(dropped, 5);
	flight_was_flushed(flight_intake(f, 1));
	flight_losses(f, &lost, &dropped);
	assert_int_equal(lost, 21);
	assert_int_equal(dropped, 15);
	assert_int_equal(flight_lost_records(f)->total, 0);
	for (unsigned int i = 0; i < 2; i++) {
		assert_int_equal(flight_end(f), 0);
		assert_int_equal(flight_lost_records(f)->total, 21);
		assert_int_equal(flight_dropped(f)->total, 15);
	}
	flight_free(f);
	image_release(&im);
}

/* More sideband than half of the memory: the oldest samples go, and what only they need. */
static void test_log_is_bounded(void **state)
{
	struct made *m = *state;
	struct flight *f = make(m, 0);
	size_t most = 0;

	for (unsigned int i = 0; i < 400; i++) {
		struct image im = {0};

		made_samples(m, &im, 0, 1);
		for (unsigned int n = 0; n < 100; n++)
			image_comm(&im, 1000000000 + m->samples * 1000000 + n, "name");
		write_to(f, 0, 0, &im);
		assert_int_equal(sink_flush(flight_sink(f, 0), NULL), 0);
		assert_int_equal(flight_trim(f, NULL), 0);
		if (sideband_bytes(flight_log(f)) > most)
			most = sideband_bytes(flight_log(f));
		assert_int_equal(figures_of(f).taken, figures_of(f).held + figures_of(f).evicted);
		image_release(&im);
	}
	assert_true(figures_of(f).evicted > 0);
	assert_true(figures_of(f).held > 0);
	assert_uint_in_range(most, MEMORY / 4, MEMORY * 3 / 4);
	flight_free(f);
}

/* Without samples nothing in the log is needed: only what lives stays. */
static void test_settled(void **state)
{
	struct made *m = *state;
	struct flight *f = make(m, 0);
	struct image im = {0};

	for (unsigned int i = 0; i < 100; i++)
		image_comm(&im, 1000000000 + i * 100000000ull, "name");
	write_to(f, 0, 0, &im);
	assert_int_equal(waiting(f), 100);
	/* The first call may not know yet what other rings hold. */
	for (unsigned int i = 0; i < 2; i++)
		assert_int_equal(flight_settle(f, NULL), 0);
	assert_true(waiting(f) <= 1);
	flight_free(f);
	image_release(&im);
}

static void test_compression(void **state)
{
	struct made *m = *state;
	struct flight *f = make(m, 1);
	struct compress_stats stats;
	struct image im = {0};

	assert_true(flight_compression(f, &stats));
	made_samples(m, &im, 0, 200000 / 40);
	for (unsigned int i = 0; i < 10; i++) {
		write_to(f, 0, 0, &im);
		assert_int_equal(sink_flush(flight_sink(f, 0), NULL), 0);
		assert_true(figures_of(f).memory <= MEMORY);
	}
	assert_true(flight_compression(f, &stats));
	assert_true(stats.frames > 0);
	assert_true(flight_overhead(f) > 0);
	flight_free(f);
	f = make(m, 0);
	assert_false(flight_compression(f, &stats));
	assert_int_equal(flight_overhead(f), 0);
	flight_free(f);
	flight_free(NULL);
	image_release(&im);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		MADE_TEST(test_records_part),	MADE_TEST(test_losses),
		MADE_TEST(test_log_is_bounded), MADE_TEST(test_settled),
		MADE_TEST(test_compression),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
