// SPDX-License-Identifier: Apache-2.0
/* Maps as of any time, from sideband that comes out of order, and in bounded memory. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <errno.h>
#include <stdio.h>
#include <sys/mman.h>

#include "base/buf.h"
#include "record/chains/task_spaces.h"

static const struct pd_attr attr = {
	.sample_type = PERF_SAMPLE_TID | PERF_SAMPLE_TIME,
	.flags = PD_ATTR_SAMPLE_ID_ALL,
};

struct record {
	struct perf_event_header hdr;
	uint8_t body[256];
};

static void add(struct record *r, const void *p, size_t len)
{
	memcpy((uint8_t *)r + r->hdr.size, p, len);
	r->hdr.size = (uint16_t)(r->hdr.size + len);
}

static void finish(struct task_spaces *s, struct record *r, uint32_t pid, uint64_t time)
{
	const uint32_t task[2] = {pid, pid};

	add(r, task, 8);
	add(r, &time, 8);
	assert_int_equal(task_spaces_add(s, &r->hdr), 0);
}

static void map(struct task_spaces *s, uint64_t time, uint32_t pid, uint64_t start,
		const char *name)
{
	struct record r = {{PERF_RECORD_MMAP, PERF_RECORD_MISC_USER, 8}, {0}};
	const uint32_t task[2] = {pid, pid};
	const uint64_t words[3] = {start, 0x1000, 0};
	char padded[64] = "";

	snprintf(padded, sizeof(padded), "%s", name);
	add(&r, task, 8);
	add(&r, words, 24);
	add(&r, padded, sizeof(padded));
	finish(s, &r, pid, time);
}

static void comm(struct task_spaces *s, uint64_t time, uint32_t pid)
{
	struct record r = {{PERF_RECORD_COMM, PERF_RECORD_MISC_COMM_EXEC, 8}, {0}};
	const uint32_t task[2] = {pid, pid};

	add(&r, task, 8);
	add(&r, "program", 8);
	finish(s, &r, pid, time);
}

static void fork_or_exit(struct task_spaces *s, uint32_t type, uint64_t time, uint32_t pid,
			 uint32_t parent)
{
	struct record r = {{type, 0, 8}, {0}};
	const uint32_t tasks[4] = {pid, parent, pid, parent};

	add(&r, tasks, 16);
	add(&r, &time, 8);
	finish(s, &r, pid, time);
}

/* Returns the name at @addr as of @time; "" if nothing is mapped. */
static const char *name_at(struct task_spaces *s, uint32_t pid, uint64_t addr, uint64_t time)
{
	struct task_spaces_view view;
	struct location loc;
	const char *name;

	assert_int_equal(task_spaces_acquire(s, &view), 0);
	state_find(view.state, pid, PERF_RECORD_MISC_USER, addr, (struct moment){time, UINT64_MAX},
		   &loc);
	name = loc.map ? loc.map->dso->name : "";
	task_spaces_release(s);
	return name;
}

static void count(void *arg)
{
	++*(unsigned int *)arg;
}

static void maps_have_their_time(void **state)
{
	unsigned int forgotten = 0;
	struct task_spaces *s = task_spaces_new(&attr, count, &forgotten);

	assert_non_null(s);
	/* As it comes from the rings of three CPUs. */
	map(s, 30, 7, 0x2000, "/late");
	fork_or_exit(s, PERF_RECORD_FORK, 20, 8, 7);
	map(s, 10, 7, 0x1000, "/early");
	comm(s, 40, 7);
	map(s, 41, 7, 0x1000, "/other");
	assert_string_equal(name_at(s, 7, 0x1800, 9), "");
	assert_string_equal(name_at(s, 7, 0x1800, 10), "/early");
	assert_string_equal(name_at(s, 7, 0x2800, 29), "");
	assert_string_equal(name_at(s, 7, 0x2800, 30), "/late");
	assert_string_equal(name_at(s, 7, 0x2800, 40), "");
	assert_string_equal(name_at(s, 7, 0x1800, 39), "/early");
	assert_string_equal(name_at(s, 7, 0x1800, 41), "/other");
	assert_string_equal(name_at(s, 8, 0x1800, 50), "/early");
	assert_string_equal(name_at(s, 8, 0x2800, 50), "");
	/* An end changes nothing for samples that come after it. */
	fork_or_exit(s, PERF_RECORD_EXIT, 60, 8, 7);
	assert_string_equal(name_at(s, 8, 0x1800, 55), "/early");
	assert_int_equal(forgotten, 0);
	task_spaces_free(s);
}

/* Thousands of processes come and go; one stays. */
static void memory_is_bounded(void **state)
{
	const size_t limit = 2 << 20;
	unsigned int forgotten = 0;
	struct task_spaces *s = task_spaces_new(&attr, count, &forgotten);
	struct task_spaces_view before, after;

	assert_non_null(s);
	task_spaces_limit(s, limit, 64 * limit);
	map(s, 1, 5, 0x1000, "/stays");
	assert_int_equal(task_spaces_acquire(s, &before), 0);
	task_spaces_release(s);
	assert_int_equal(before.since, 0);
	for (uint32_t i = 0; i < 20000; i++) {
		const char *found;
		char name[32];

		snprintf(name, sizeof(name), "/program/%u", i);
		map(s, 100 + i, 1000 + i, 0x1000, name);
		fork_or_exit(s, PERF_RECORD_EXIT, 100 + i, 1000 + i, 1);
		if (i % 64)
			continue;
		found = name_at(s, 1000 + i, 0x1800, 200 + i);
		/* It may have ended just before the state was made again. */
		assert_true(!strcmp(found, name) || (forgotten && !*found));
		assert_true(task_spaces_memory(s) < 2 * limit);
	}
	assert_int_equal(task_spaces_acquire(s, &after), 0);
	task_spaces_release(s);
	assert_true(forgotten > 1);
	assert_int_equal(after.number, forgotten);
	assert_true(after.since > 100);
	assert_string_equal(name_at(s, 5, 0x1800, 30000), "/stays");
	assert_string_equal(name_at(s, 1000, 0x1800, 30000), "");
	task_spaces_free(s);
}

/* Half of what may be held lives: the history is made again before records are refused. */
static void many_live_maps_are_known(void **state)
{
	const size_t most = 4 << 20;
	unsigned int forgotten = 0, live = 0;
	struct task_spaces *s = task_spaces_new(&attr, count, &forgotten);
	struct task_spaces_view view;
	char name[32];

	assert_non_null(s);
	task_spaces_limit(s, most / 8, most);
	for (; task_spaces_memory(s) < most / 8 * 3; live++) {
		snprintf(name, sizeof(name), "/stays/%u", live);
		map(s, 100 + live, 1000 + live, 0x1000, name);
		assert_int_equal(task_spaces_acquire(s, &view), 0);
		task_spaces_release(s);
	}
	for (uint32_t i = live; i < live + 40000; i++) {
		snprintf(name, sizeof(name), "/program/%u", i);
		map(s, 100 + i, 1000 + i, 0x1000, name);
		if (!(i % 64)) {
			assert_string_equal(name_at(s, 1000 + i, 0x1800, 100 + i), name);
			assert_true(task_spaces_memory(s) < most);
		}
		fork_or_exit(s, PERF_RECORD_EXIT, 100 + i, 1000 + i, 1);
	}
	assert_string_equal(name_at(s, 1000, 0x1800, 100000), "/stays/0");
	assert_true(forgotten > 2);
	task_spaces_free(s);
}

/* What lives leaves no room for a history: this is an error, and no map is missing silently. */
static void too_many_live_maps(void **state)
{
	const size_t most = 1 << 20;
	unsigned int forgotten = 0;
	struct task_spaces *s = task_spaces_new(&attr, count, &forgotten);
	struct task_spaces_view view;
	uint32_t i = 0;
	int rc = 0;

	assert_non_null(s);
	task_spaces_limit(s, most / 8, most);
	for (; !rc && i < 100000; i++) {
		char name[32];

		snprintf(name, sizeof(name), "/stays/%u", i);
		map(s, 100 + i, 1000 + i, 0x1000, name);
		rc = task_spaces_acquire(s, &view);
		if (rc)
			break;
		task_spaces_release(s);
		if (!(i % 64))
			assert_string_equal(name_at(s, 1000 + i, 0x1800, 100 + i), name);
	}
	assert_int_equal(rc, -E2BIG);
	assert_int_equal(task_spaces_acquire(s, &view), -E2BIG);
	task_spaces_free(s);
}

/* What the kernel has written when a sample is looked up. */
struct written {
	struct task_spaces *spaces;
	uint64_t time;
};

static void gather(void *arg)
{
	struct written *w = arg;

	if (w->time)
		map(w->spaces, w->time, 1, 0x1000, "gathered");
	w->time = 0;
}

/* What is older than a record that was added, but comes only when asked for, keeps its time. */
static void older_records_are_gathered(void **state)
{
	struct task_spaces *s = task_spaces_new(&attr, count, NULL);
	struct written w = {s, 20};

	assert_non_null(s);
	task_spaces_gather_by(s, gather, &w);
	map(s, 10, 1, 0x1000, "first");
	map(s, 30, 1, 0x1000, "added");
	assert_string_equal(name_at(s, 1, 0x1800, 15), "first");
	assert_string_equal(name_at(s, 1, 0x1800, 25), "gathered");
	assert_string_equal(name_at(s, 1, 0x1800, 35), "added");
	w.time = 40;
	assert_string_equal(name_at(s, 1, 0x1800, 45), "gathered");
	/* Nothing is applied before the older ones are there. */
	w.time = 50;
	for (uint64_t time = 60; time < 20000; time++)
		map(s, time, 2, 0x1000, "added");
	assert_int_equal(task_spaces_settle(s), 0);
	assert_int_equal(w.time, 0);
	assert_string_equal(name_at(s, 2, 0x1800, 59), "");
	assert_string_equal(name_at(s, 2, 0x1800, 60), "added");
	assert_string_equal(name_at(s, 1, 0x1800, 51), "gathered");
	task_spaces_free(s);
}

static void other_records_are_ignored(void **state)
{
	struct task_spaces *s = task_spaces_new(&attr, count, NULL);
	struct record r = {{PERF_RECORD_MMAP, PERF_RECORD_MISC_KERNEL, 8}, {0}};

	assert_non_null(s);
	assert_int_equal(task_spaces_add(s, &r.hdr), 0);
	r.hdr.type = PERF_RECORD_LOST;
	assert_int_equal(task_spaces_add(s, &r.hdr), 0);
	/* Too short for what it is. */
	r.hdr.type = PERF_RECORD_FORK;
	assert_int_equal(task_spaces_add(s, &r.hdr), 0);
	assert_string_equal(name_at(s, 0, 0, 10), "");
	task_spaces_free(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(maps_have_their_time),
		cmocka_unit_test(memory_is_bounded),
		cmocka_unit_test(many_live_maps_are_known),
		cmocka_unit_test(too_many_live_maps),
		cmocka_unit_test(other_records_are_ignored),
		cmocka_unit_test(older_records_are_gathered),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
