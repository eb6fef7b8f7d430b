// SPDX-License-Identifier: Apache-2.0
/* The thread on a CPU as of any time, from each kind of record that tells it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "state/cpu_tasks.h"
#include "state/state.h"

/* A switch to (or with @out away from) thread @tid on @cpu; @other: the thread on the other side.
 */
static void apply_switch(struct state *s, uint64_t time, uint32_t cpu, uint32_t tid, bool out,
			 uint32_t other)
{
	struct perf_event_header hdr = {
		.type = other == UINT32_MAX ? PERF_RECORD_SWITCH : PERF_RECORD_SWITCH_CPU_WIDE,
		.misc = out ? PERF_RECORD_MISC_SWITCH_OUT : 0,
	};
	struct pd_record rec = {.hdr = &hdr, .id = PD_SAMPLE_ID_NONE};

	rec.id.pid = rec.id.tid = tid;
	rec.id.cpu = cpu;
	rec.cswitch =
		(struct pd_switch){.out = out, .next_prev_pid = other, .next_prev_tid = other};
	assert_int_equal(state_apply(s, &rec, (struct moment){time, 0}), 0);
}

static void apply_start(struct state *s, uint64_t time, uint32_t cpu, uint32_t tid)
{
	struct perf_event_header hdr = {.type = PERF_RECORD_ITRACE_START};
	struct pd_record rec = {.hdr = &hdr, .id = PD_SAMPLE_ID_NONE};

	rec.id.cpu = cpu;
	rec.itrace_start[0] = tid - 1;
	rec.itrace_start[1] = tid;
	assert_int_equal(state_apply(s, &rec, (struct moment){time, 0}), 0);
}

/* 0: nobody is known. */
static uint32_t on(const struct state *s, uint32_t cpu, uint64_t time)
{
	uint32_t pid, tid;

	return state_task_on(s, cpu, time, &pid, &tid) ? tid : 0;
}

static void test_threads_by_time(void **state)
{
	struct state *s = state_new();
	uint32_t pid, tid;

	(void)state;
	state_keep_cpu_tasks(s);
	apply_start(s, 100, 3, 50);
	apply_switch(s, 200, 3, 50, true, 60);	       /* wide: 60 follows */
	apply_switch(s, 201, 3, 60, false, 50);	       /* the same again */
	apply_switch(s, 300, 3, 60, true, UINT32_MAX); /* of one task: who follows is unknown */
	apply_switch(s, 400, 3, 70, false, UINT32_MAX);
	apply_switch(s, 400, 0, 80, false, UINT32_MAX);
	assert_int_equal(state_finish(s), 0);

	assert_int_equal(on(s, 3, 99), 0);
	assert_int_equal(on(s, 3, 100), 50);
	assert_int_equal(on(s, 3, 199), 50);
	assert_int_equal(on(s, 3, 200), 60);
	assert_int_equal(on(s, 3, 399), 60);
	assert_int_equal(on(s, 3, 400), 70);
	assert_int_equal(on(s, 3, UINT64_MAX), 70);
	assert_int_equal(on(s, 0, 500), 80);
	assert_int_equal(on(s, 1, 500), 0);
	assert_int_equal(on(s, 4000000, 500), 0);
	assert_true(state_task_on(s, 3, 150, &pid, &tid));
	assert_int_equal(pid, 49);
	state_free(s);
}

static void test_only_if_wanted(void **state)
{
	struct state *s = state_new();
	size_t before = state_memory(s);

	(void)state;
	apply_start(s, 100, 3, 50);
	assert_int_equal(on(s, 3, 100), 0);
	assert_int_equal(state_memory(s), before);
	state_free(s);
}

/* A damaged record may name any CPU. */
static void test_impossible_cpus(void **state)
{
	struct state *s = state_new();

	(void)state;
	state_keep_cpu_tasks(s);
	apply_start(s, 100, UINT32_MAX, 50);
	apply_start(s, 100, 1u << 30, 50);
	assert_true(state_memory(s) < 1u << 20);
	assert_int_equal(on(s, UINT32_MAX, 100), 0);
	state_free(s);
}

static void take_switch(struct cpu_tasks *t, uint64_t time, uint32_t cpu, uint32_t tid)
{
	struct perf_event_header hdr = {.type = PERF_RECORD_SWITCH};
	struct pd_record rec = {.hdr = &hdr, .id = {.pid = tid, .tid = tid, .cpu = cpu}};

	assert_int_equal(cpu_tasks_take(t, &rec, time), 0);
}

/* As many that each anchor is needed; the same thread in a row counts once. */
static void test_many(void **state)
{
	struct cpu_tasks t = {0};
	uint32_t pid, tid;

	(void)state;
	for (uint32_t i = 1; i <= 10000; i++)
		for (uint64_t same = 0; same < 2; same++)
			take_switch(&t, (uint64_t)i * i * i + same, i % 3, i);
	assert_int_equal(cpu_tasks_freeze(&t), 0);
	for (uint32_t i = 4; i <= 10000; i++) {
		uint64_t time = (uint64_t)i * i * i;

		assert_true(cpu_tasks_find(&t, i % 3, time, &pid, &tid));
		assert_int_equal(tid, i);
		assert_true(cpu_tasks_find(&t, i % 3, time - 1, &pid, &tid));
		assert_int_equal(tid, i - 3);
	}
	assert_false(cpu_tasks_find(&t, 1, 0, &pid, &tid));
	assert_true(cpu_tasks_find(&t, 1, UINT64_MAX, &pid, &tid));
	assert_int_equal(tid, 10000);
	cpu_tasks_release(&t);
}

/* Rings of threads, and parts of a file: each in order, but not one after the other. */
static void test_any_order(void **state)
{
	static const uint32_t steps[] = {1, 7, 3, 9};
	struct state *s = state_new();
	struct cpu_tasks parts[2] = {{0}, {0}};

	(void)state;
	state_keep_cpu_tasks(s);
	for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]); i++)
		for (uint32_t n = 0; n < 100; n++)
			take_switch(&parts[i / 2], 1000 + 10 * n + steps[i], 2,
				    1 + n % 5 + 10 * steps[i]);
	/* Of one time the last one counts. */
	take_switch(&parts[1], 1501, 2, 4);
	assert_int_equal(state_add_cpu_tasks(s, &parts[0]), 0);
	apply_start(s, 5, 2, 3);
	assert_int_equal(state_add_cpu_tasks(s, &parts[1]), 0);
	cpu_tasks_release(&parts[0]);
	cpu_tasks_release(&parts[1]);
	assert_int_equal(state_finish(s), 0);
	assert_int_equal(on(s, 2, 4), 0);
	assert_int_equal(on(s, 2, 1000), 3);
	for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]); i++)
		for (uint32_t n = 0; n < 100; n++)
			assert_int_equal(on(s, 2, 1000 + 10 * n + steps[i]),
					 n == 50 && steps[i] == 1 ? 4 : 1 + n % 5 + 10 * steps[i]);
	state_free(s);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_threads_by_time), cmocka_unit_test(test_only_if_wanted),
		cmocka_unit_test(test_impossible_cpus), cmocka_unit_test(test_many),
		cmocka_unit_test(test_any_order),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
