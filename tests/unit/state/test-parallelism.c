// SPDX-License-Identifier: Apache-2.0
/* How many threads ran as of any time, from recordings of threads and of CPUs. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "state/parallelism.h"

#define NO_CPU UINT32_MAX

static void take(struct parallelism *p, uint64_t time, uint32_t type, uint16_t misc, uint32_t cpu,
		 uint32_t tid, uint32_t other)
{
	struct perf_event_header hdr = {.type = type, .misc = misc};
	struct pd_record rec = {.hdr = &hdr, .id = {.pid = 1, .tid = tid, .cpu = cpu}};

	rec.cswitch = (struct pd_switch){.out = misc & PERF_RECORD_MISC_SWITCH_OUT,
					 .next_prev_pid = other,
					 .next_prev_tid = other};
	if (type == PERF_RECORD_EXIT)
		rec.task = (struct pd_task){.pid = 1, .tid = tid};
	assert_int_equal(parallelism_take(p, &rec, time), 0);
}

static void in(struct parallelism *p, uint64_t time, uint32_t cpu, uint32_t tid)
{
	take(p, time, PERF_RECORD_SWITCH, 0, cpu, tid, UINT32_MAX);
}

static void out(struct parallelism *p, uint64_t time, uint32_t cpu, uint32_t tid)
{
	take(p, time, PERF_RECORD_SWITCH, PERF_RECORD_MISC_SWITCH_OUT, cpu, tid, UINT32_MAX);
}

static void exits(struct parallelism *p, uint64_t time, uint32_t cpu, uint32_t tid)
{
	take(p, time, PERF_RECORD_EXIT, 0, cpu, tid, 0);
}

/* A switch on a CPU, by both of its records. */
static void wide(struct parallelism *p, uint64_t time, uint32_t cpu, uint32_t prev, uint32_t next)
{
	take(p, time, PERF_RECORD_SWITCH_CPU_WIDE, PERF_RECORD_MISC_SWITCH_OUT, cpu, prev, next);
	take(p, time + 1, PERF_RECORD_SWITCH_CPU_WIDE, 0, cpu, next, prev);
}

/* A command, which runs when its event begins, and two threads that it makes. */
static void test_threads(void **state)
{
	static const uint32_t cpus[] = {NO_CPU, 0};

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		bool known = cpus[i] != NO_CPU;
		struct parallelism p = {0};

		in(&p, 200, known ? 1 : NO_CPU, 11);
		in(&p, 300, known ? 2 : NO_CPU, 12);
		out(&p, 400, known ? 0 : NO_CPU, 10);
		exits(&p, 500, known ? 1 : NO_CPU, 11);
		exits(&p, 600, known ? 2 : NO_CPU, 12);
		in(&p, 700, known ? 1 : NO_CPU, 10);
		exits(&p, 800, known ? 1 : NO_CPU, 10);
		assert_int_equal(parallelism_freeze(&p), 0);
		for (uint64_t t = 0; t < 900; t++) {
			uint32_t expected = t < 200   ? 1
					    : t < 300 ? 2
					    : t < 400 ? 3
					    : t < 500 ? 2
					    : t < 600 ? 1
					    : t < 700 ? 0
					    : t < 800 ? 1
						      : 0;

			assert_int_equal(parallelism_at(&p, t), expected);
		}
		parallelism_release(&p);
	}
}

/* CPU 0 runs a thread from the beginning, CPU 1 idles; thread 0 does not count. */
static void test_cpus(void **state)
{
	struct parallelism p = {0};

	(void)state;
	wide(&p, 100, 1, 0, 21);
	wide(&p, 200, 0, 20, 22);
	wide(&p, 300, 0, 22, 0);
	exits(&p, 350, 1, 21); /* its switch follows */
	wide(&p, 400, 1, 21, 0);
	assert_int_equal(parallelism_freeze(&p), 0);
	assert_int_equal(p.cpus, 2);
	assert_int_equal(parallelism_at(&p, 99), 1);
	assert_int_equal(parallelism_at(&p, 100), 2);
	assert_int_equal(parallelism_at(&p, 250), 2);
	assert_int_equal(parallelism_at(&p, 300), 1);
	assert_int_equal(parallelism_at(&p, 360), 1);
	assert_int_equal(parallelism_at(&p, 400), 0);
	parallelism_release(&p);
}

/* Threads and CPUs without any switch are known from samples. */
static void test_steady(void **state)
{
	struct parallelism threads = {0}, cpus = {0}, none = {0};

	(void)state;
	for (int i = 0; i < 2; i++) {
		assert_int_equal(parallelism_take_sample(&threads, NO_CPU, 30), 0);
		assert_int_equal(parallelism_take_sample(&threads, NO_CPU, 31), 0);
		assert_int_equal(parallelism_take_sample(&threads, NO_CPU, 32), 0);
	}
	in(&threads, 100, NO_CPU, 32);
	assert_int_equal(parallelism_freeze(&threads), 0);
	assert_int_equal(parallelism_at(&threads, 50), 2);
	assert_int_equal(parallelism_at(&threads, 150), 3);
	parallelism_release(&threads);

	assert_int_equal(parallelism_take_sample(&cpus, 0, 40), 0);
	assert_int_equal(parallelism_take_sample(&cpus, 1, 0), 0);
	wide(&cpus, 100, 2, 0, 41);
	assert_int_equal(parallelism_freeze(&cpus), 0);
	assert_int_equal(cpus.cpus, 3);
	assert_int_equal(parallelism_at(&cpus, 50), 1);
	assert_int_equal(parallelism_at(&cpus, 150), 2);
	parallelism_release(&cpus);

	assert_int_equal(parallelism_freeze(&none), 0);
	assert_int_equal(parallelism_at(&none, 0), 0);
	parallelism_release(&none);
}

/* A CPU runs one thread, and a thread runs on one CPU: what was lost is repaired by what follows.
 */
static void test_losses(void **state)
{
	struct parallelism p = {0};

	(void)state;
	in(&p, 100, 0, 50);
	in(&p, 200, 0, 51); /* 50 has left */
	in(&p, 300, 1, 51); /* 51 has left CPU 0 */
	in(&p, 400, 1, 51);
	out(&p, 500, 1, 51);
	out(&p, 600, 1, 51);
	assert_int_equal(parallelism_freeze(&p), 0);
	for (uint64_t t = 100; t < 500; t += 50)
		assert_int_equal(parallelism_at(&p, t), 1);
	assert_int_equal(parallelism_at(&p, 650), 0);
	parallelism_release(&p);
}

/* Parts in any order give the same as one. */
static void test_merge(void **state)
{
	struct parallelism all = {0}, merged = {0}, parts[4];

	(void)state;
	for (size_t i = 0; i < 4; i++)
		parts[i] = (struct parallelism){0};
	for (uint32_t i = 0; i < 3000; i++) {
		struct parallelism *part = &parts[3 - i / 750];
		uint32_t tid = 100 + i % 7, cpu = i % 7 == 3 ? NO_CPU : i % 5;
		uint64_t time = 1000 + 3 * i;

		if (i * 7919u % 3) {
			in(&all, time, cpu, tid);
			in(part, time, cpu, tid);
		} else {
			out(&all, time, cpu, tid);
			out(part, time, cpu, tid);
		}
	}
	for (size_t i = 0; i < 4; i++) {
		assert_int_equal(parallelism_merge(&merged, &parts[i]), 0);
		parallelism_release(&parts[i]);
	}
	assert_int_equal(parallelism_freeze(&all), 0);
	assert_int_equal(parallelism_freeze(&merged), 0);
	for (uint64_t t = 990; t < 10100; t++)
		assert_int_equal(parallelism_at(&merged, t), parallelism_at(&all, t));
	assert_true(parallelism_at(&all, 5000) > 0);
	parallelism_release(&all);
	parallelism_release(&merged);
}

/* Damaged records may name anything. */
static void test_damaged(void **state)
{
	struct parallelism p = {0};

	(void)state;
	in(&p, 0, 0, 60);
	in(&p, 100, 1u << 30, 61);
	in(&p, 100, 0, UINT32_MAX);
	assert_int_equal(parallelism_freeze(&p), 0);
	assert_true(parallelism_memory(&p) < 1u << 16);
	assert_int_equal(parallelism_at(&p, 100), 1);
	parallelism_release(&p);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_threads), cmocka_unit_test(test_cpus),
		cmocka_unit_test(test_steady),	cmocka_unit_test(test_losses),
		cmocka_unit_test(test_merge),	cmocka_unit_test(test_damaged),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
