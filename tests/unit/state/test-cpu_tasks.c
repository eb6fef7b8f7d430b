// SPDX-License-Identifier: Apache-2.0
/* The thread on a CPU as of any time, from each kind of record that tells it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

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

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_threads_by_time),
		cmocka_unit_test(test_only_if_wanted),
		cmocka_unit_test(test_impossible_cpus),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
