// SPDX-License-Identifier: Apache-2.0
/*
 * Latencies from rings that are read one after the other while threads move between CPUs, and
 * limits of rates: against what really happened.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "record/trigger/latency.h"
#include "record/trigger/rate.h"

#define CPUS	3
#define THREADS 20
#define SAMPLES 4000
#define SLOW	400

/* --- what happens --------------------------------------------------------------------------------
 */

/* All samples in the order of time, and which of them end something slow. */
struct world {
	struct latency_sample samples[SAMPLES];
	uint64_t took[SAMPLES]; /* of an end; 0: not reported, as it was fast or had no start */
	bool told[SAMPLES];
	size_t read[CPUS]; /* index of the first that this ring has not given */
	size_t told_nr;
	bool stay;     /* threads, on a CPU each */
	uint32_t full; /* CPUs from 0 on whose rings may be full */
};

static void make_world(struct world *w, bool stay, uint32_t full)
{
	uint64_t since[THREADS] = {0}, now = 1;

	*w = (struct world){.stay = stay, .full = full};
	for (size_t i = 0; i < SAMPLES; i++) {
		struct latency_sample *s = &w->samples[i];
		uint32_t tid = (uint32_t)rand() % THREADS;

		now += 1 + (uint64_t)rand() % 30;
		*s = (struct latency_sample){.time = now,
					     .cpu = (stay ? tid : (uint32_t)rand()) % CPUS,
					     .pid = 1,
					     .tid = tid};
		/* A thread may start twice, or end without a start. */
		s->ends = (since[tid] && rand() % 10) || rand() % 50 == 0;
		if (s->ends && since[tid] && now - since[tid] > SLOW)
			w->took[i] = now - since[tid];
		since[tid] = s->ends ? 0 : now;
	}
}

static void slow(const struct latency_sample *end, uint64_t took, bool sure, void *arg)
{
	struct world *w = arg;
	size_t i = 0;

	while (i < SAMPLES && w->samples[i].time != end->time)
		i++;
	assert_true(i < SAMPLES && !w->told[i]);
	assert_true(took == w->took[i] || (!sure && !w->stay && took > w->took[i]));
	assert_int_equal(end->tid, w->samples[i].tid);
	w->told[i] = true;
	w->told_nr++;
}

/*
 * Everything of one ring up to @upto samples from the beginning, or only the first of them: the
 * ring was full then.
 */
static void read_ring(struct world *w, struct latency *l, uint32_t cpu, size_t upto, size_t room)
{
	for (; w->read[cpu] < upto; w->read[cpu]++) {
		const struct latency_sample *s = &w->samples[w->read[cpu]];

		if (s->cpu != cpu)
			continue;
		if (room && room--)
			assert_int_equal(latency_add(l, s), 0);
		else
			latency_lost(l, cpu);
	}
}

/* Time goes on while rings are read. */
static void run(struct world *w, size_t room)
{
	struct latency *l = latency_new(SLOW);
	size_t now = 0, rooms[CPUS];

	for (uint32_t cpu = 0; cpu < CPUS; cpu++)
		rooms[cpu] = cpu < w->full ? room : SAMPLES;
	while (now < SAMPLES) {
		for (uint32_t cpu = 0; cpu < CPUS; cpu++) {
			now += (size_t)rand() % 8;
			read_ring(w, l, cpu, now < SAMPLES ? now : SAMPLES, rooms[cpu]);
		}
		if (rand() % 4 == 0)
			now += (size_t)rand() % 100;
		assert_int_equal(latency_pass(l, slow, w), 0);
	}
	for (uint32_t cpu = 0; cpu < CPUS; cpu++)
		read_ring(w, l, cpu, SAMPLES, rooms[cpu]);
	assert_int_equal(latency_finish(l, slow, w), 0);
	assert_false(latency_waits(l));
	latency_free(l);
}

static void test_all_are_told_once(void **state)
{
	srand(1);
	for (int round = 0; round < 60; round++) {
		struct world w;
		size_t all = 0;

		make_world(&w, round % 2, 0);
		run(&w, SAMPLES);
		for (size_t i = 0; i < SAMPLES; i++)
			all += w.took[i] != 0;
		assert_true(all > 100);
		assert_int_equal(w.told_nr, all);
	}
}

/* slow() checks that each reported latency took place, or less where that is reported. */
static void test_losses_make_no_pairs(void **state)
{
	static const size_t rooms[] = {2, 10, 20, 35};
	size_t told = 0;

	srand(2);
	for (int round = 0; round < 200; round++) {
		struct world w;

		make_world(&w, false, CPUS);
		run(&w, rooms[round % 4]);
		told += w.told_nr;
	}
	assert_true(told > 1000);
}

static void count(const struct latency_sample *end, uint64_t took, bool sure, void *arg)
{
	++*(size_t *)arg;
}

/* Whose ring is full all the time hides nothing of the others. */
static void test_other_cpus_are_told(void **state)
{
	srand(4);
	for (int round = 0; round < 60; round++) {
		struct world w;
		size_t all = 0;

		make_world(&w, true, 1);
		run(&w, 1);
		for (size_t i = 0; i < SAMPLES; i++) {
			all += w.took[i] && w.samples[i].cpu;
			assert_true(w.told[i] || !w.took[i] || !w.samples[i].cpu);
		}
		assert_true(all > 100);
	}
}

/* Latencies of threads from or to a CPU with losses are not reported either. */
static void test_to_and_from_a_full_ring(void **state)
{
	static const uint32_t cpus[][2] = {{0, 0}, {0, 1}, {1, 0}, {1, 1}};

	for (size_t i = 0; i < 4; i++) {
		struct latency *l = latency_new(10);
		struct latency_sample s = {.time = 1000, .cpu = cpus[i][0], .tid = 7};
		size_t slow_ones = 0;

		assert_int_equal(latency_add(l, &s), 0);
		assert_int_equal(latency_pass(l, count, &slow_ones), 0);
		latency_lost(l, 0);
		assert_int_equal(latency_pass(l, count, &slow_ones), 0);
		assert_int_equal(latency_pass(l, count, &slow_ones), 0);
		s = (struct latency_sample){
			.time = 2000, .cpu = cpus[i][1], .tid = 7, .ends = true};
		assert_int_equal(latency_add(l, &s), 0);
		assert_int_equal(latency_finish(l, count, &slow_ones), 0);
		assert_int_equal(slow_ones, i == 3);
		assert_int_equal(latency_forgotten(l), i != 3);
		latency_free(l);
	}
}

/* As if all threads of a machine were under way, and more. */
static void test_the_first_are_forgotten(void **state)
{
	struct latency *l = latency_new(10);
	struct latency_sample s = {0};
	size_t more = 1000, slow_ones = 0;

	for (s.tid = 1; s.tid <= LATENCY_THREADS + more; s.tid++) {
		s.time++;
		assert_int_equal(latency_add(l, &s), 0);
	}
	assert_int_equal(latency_finish(l, count, &slow_ones), 0);
	assert_int_equal(latency_forgotten(l), more);
	s.ends = true;
	s.time += 100;
	for (s.tid = 1; s.tid <= LATENCY_THREADS + more; s.tid++)
		assert_int_equal(latency_add(l, &s), 0);
	assert_int_equal(latency_finish(l, count, &slow_ones), 0);
	assert_int_equal(slow_ones, LATENCY_THREADS);
	latency_free(l);
}

/* --- how often -----------------------------------------------------------------------------------
 */

static void test_rate(void **state)
{
	static const size_t limits[] = {1, 2, 7, 1000};
	uint64_t allowed[20000], now = 0;
	struct rate r;

	srand(3);
	for (size_t i = 0; i < sizeof(limits) / sizeof(limits[0]); i++) {
		size_t nr = 0, limit = limits[i];

		assert_int_equal(rate_init(&r, limit, 1000), 0);
		for (int step = 0; step < 20000; step++) {
			bool full = nr >= limit && now - allowed[nr - limit] < 1000;

			/* Never more than it, and whenever it may be. */
			assert_int_equal(rate_allows(&r, now), !full);
			if (!full)
				allowed[nr++] = now;
			now += rand() % 3 ? (uint64_t)rand() % 4 : (uint64_t)rand() % 900;
		}
		rate_release(&r);
	}
	assert_int_equal(rate_init(&r, 0, 0), 0);
	for (int step = 0; step < 100; step++)
		assert_true(rate_allows(&r, 5));
	rate_release(&r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_all_are_told_once),
		cmocka_unit_test(test_losses_make_no_pairs),
		cmocka_unit_test(test_other_cpus_are_told),
		cmocka_unit_test(test_to_and_from_a_full_ring),
		cmocka_unit_test(test_the_first_are_forgotten),
		cmocka_unit_test(test_rate),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
