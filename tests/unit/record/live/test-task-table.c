// SPDX-License-Identifier: Apache-2.0
/*
 * The task table against a model with each page of each process. After every random fork, exec,
 * mmap, exit and rename, the records that the table emits lead to the same tasks, names and pages.
 */
#include <errno.h>

#include "task-world.h"

static void check(struct task_table *live, const struct world *w)
{
	struct world learnt = {0};
	struct task_table_stats stats;
	size_t tasks = 0;

	assert_int_equal(task_table_emit(live, 0, learn, &learnt), 0);
	for (uint32_t tid = 1; tid <= TASKS; tid++) {
		assert_int_equal(learnt.tasks[tid].pid, w->tasks[tid].pid);
		if (w->tasks[tid].pid)
			assert_string_equal(learnt.tasks[tid].comm, w->tasks[tid].comm);
		tasks += !!w->tasks[tid].pid;
	}
	assert_memory_equal(learnt.pages, w->pages, sizeof(w->pages));
	task_table_stats(live, &stats);
	assert_int_equal(stats.tasks, tasks);
	assert_true(stats.processes <= tasks);
}

static int feed(const struct perf_event_header *hdr, void *arg)
{
	return task_table_apply(arg, hdr);
}

static void test_like_the_model(void **state)
{
	(void)state;
	for (uint64_t round = 1; round <= 40; round++) {
		struct task_table *live = task_table_new(&attr), *next = task_table_new(&attr);
		struct world w = {.tasks[1] = {1, "init"}};
		uint64_t seed = round * 7919;
		struct record r;

		assert_int_equal(
			task_table_apply(live, make_task(&r, PERF_RECORD_FORK, 1, 1, 0, 0, 0)), 0);
		assert_int_equal(task_table_apply(live, make_comm(&r, 1, 1, false, "init", 0)), 0);
		for (int i = 0; i < 400; i++) {
			const struct perf_event_header *hdr = step(&w, &seed, &r);

			if (!hdr)
				continue;
			assert_int_equal(task_table_apply(live, hdr), 0);
			check(live, &w);
		}
		/* What was made from it leads to the same once more. */
		assert_int_equal(task_table_emit(live, 0, feed, next), 0);
		check(next, &w);
		task_table_free(next);
		task_table_free(live);
	}
}

/* The tasks that have ended, by name. */
static int learn_ended(const struct perf_event_header *hdr, void *arg)
{
	const struct pd_evsel evsel = {.attr = attr};
	static char last[16];
	char *text = arg;
	struct pd_record rec;

	assert_int_equal(pd_record_decode(hdr, &evsel, &rec), 0);
	if (hdr->type == PERF_RECORD_COMM)
		snprintf(last, sizeof(last), "%u:%s ", rec.comm.tid, rec.comm.comm);
	if (hdr->type == PERF_RECORD_EXIT)
		strcat(text, last);
	return 0;
}

static const struct perf_event_header *make_end(struct record *r, uint32_t pid, uint32_t tid,
						uint64_t time)
{
	const uint32_t body[6] = {pid, pid, tid, tid, (uint32_t)time, (uint32_t)(time >> 32)};

	return make(r, PERF_RECORD_EXIT, 0, body, sizeof(body), NULL, time);
}

/* Samples of a task that is long about its end have its name, until somebody else has its number.
 */
static void test_names_behind_the_end(void **state)
{
	const uint64_t t = 5000000000ull;
	struct task_table *live = task_table_new(&attr);
	char text[128] = "";
	struct record r;

	(void)state;
	task_table_apply(live, make_comm(&r, 7, 7, false, "seven", 0));
	task_table_apply(live, make_comm(&r, 8, 8, false, "eight", 0));
	task_table_apply(live, make_comm(&r, 8, 9, false, "nine", 0));
	task_table_apply(live, make_end(&r, 7, 7, t));
	task_table_apply(live, make_end(&r, 8, 9, t + 3000000000));
	assert_int_equal(task_table_emit(live, t, learn_ended, text), 0);
	assert_string_equal(text, "7:seven 9:nine ");
	task_table_apply(live, make_end(&r, 8, 8, t + 6000000000));
	*text = '\0';
	assert_int_equal(task_table_emit(live, t, learn_ended, text), 0);
	assert_string_equal(text, "9:nine 8:eight ");
	task_table_apply(live, make_task(&r, PERF_RECORD_FORK, 9, 9, 1, 1, t + 6100000000));
	*text = '\0';
	assert_int_equal(task_table_emit(live, t, learn_ended, text), 0);
	assert_string_equal(text, "8:eight ");
	task_table_free(live);
}

static int count(const struct perf_event_header *hdr, void *arg)
{
	((size_t *)arg)[hdr->type == PERF_RECORD_KSYMBOL     ? 0
			: hdr->type == PERF_RECORD_BPF_EVENT ? 1
			: hdr->type == PERF_RECORD_CGROUP    ? 2
							     : 3]++;
	return 0;
}

static void test_what_belongs_to_no_process(void **state)
{
	struct task_table *live = task_table_new(&attr);
	struct {
		uint64_t addr;
		uint32_t len;
		uint16_t type, flags;
	} ksym = {0xffff1000, 64, 1, 0};
	struct {
		uint16_t type, flags;
		uint32_t id;
		uint8_t tag[8];
	} bpf = {PERF_BPF_EVENT_PROG_LOAD, 0, 7, {0}};
	const uint64_t group = 42;
	size_t counts[4] = {0};
	struct record r;

	(void)state;
	for (int i = 0; i < 2; i++) {
		task_table_apply(live,
				 make(&r, PERF_RECORD_KSYMBOL, 0, &ksym, sizeof(ksym), "f", 1));
		task_table_apply(live,
				 make(&r, PERF_RECORD_BPF_EVENT, 0, &bpf, sizeof(bpf), NULL, 1));
		task_table_apply(live, make(&r, PERF_RECORD_CGROUP, 0, &group, 8, "/a", 1));
	}
	assert_int_equal(task_table_emit(live, 0, count, counts), 0);
	assert_int_equal(counts[0], 1);
	assert_int_equal(counts[1], 1);
	assert_int_equal(counts[2], 1);
	ksym.flags = 1;
	bpf.type = PERF_BPF_EVENT_PROG_UNLOAD;
	task_table_apply(live, make(&r, PERF_RECORD_KSYMBOL, 0, &ksym, sizeof(ksym), "f", 1));
	task_table_apply(live, make(&r, PERF_RECORD_BPF_EVENT, 0, &bpf, sizeof(bpf), NULL, 1));
	memset(counts, 0, sizeof(counts));
	assert_int_equal(task_table_emit(live, 0, count, counts), 0);
	assert_int_equal(counts[0] + counts[1] + counts[3], 0);
	assert_int_equal(counts[2], 1);
	task_table_free(live);
}

static void test_malformed_records_change_nothing(void **state)
{
	struct task_table *live = task_table_new(&attr);
	struct task_table_stats stats;
	struct record r;

	(void)state;
	for (uint16_t size = 8; size < 64; size += 8) {
		struct perf_event_header *hdr = (struct perf_event_header *)r.bytes;

		for (uint32_t type = 1; type < 22; type++) {
			memset(&r, 0xff, sizeof(r));
			*hdr = (struct perf_event_header){.type = type, .size = size};
			if (type != PERF_RECORD_FORK && type != PERF_RECORD_EXIT)
				task_table_apply(live, hdr);
		}
	}
	task_table_stats(live, &stats);
	assert_int_equal(stats.tasks + stats.maps, 0);
	task_table_free(live);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_like_the_model),
		cmocka_unit_test(test_names_behind_the_end),
		cmocka_unit_test(test_what_belongs_to_no_process),
		cmocka_unit_test(test_malformed_records_change_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
