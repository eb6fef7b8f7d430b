/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A small world of tasks, names and pages for the tests of record/live/: random steps of it, their
 * records, and what records lead to.
 */
#ifndef RINGTAIL_TESTS_TASK_WORLD_H
#define RINGTAIL_TESTS_TASK_WORLD_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "perfdata/record.h"
#include "record/live/task_table.h"

#define TASKS 24 /* numbers from 1; of processes, too */
#define PAGES 48
#define PAGE  4096ull

/* The whole world. A page is 0 (not mapped), or file * 1000 + its page in the file. */
struct world {
	struct {
		uint32_t pid; /* 0: there is no such task */
		char comm[16];
	} tasks[TASKS + 1];
	uint32_t pages[TASKS + 1][PAGES]; /* by process */
};

static const struct pd_attr attr = {
	.sample_type =
		PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_CPU | PERF_SAMPLE_IDENTIFIER,
	.flags = PD_ATTR_SAMPLE_ID_ALL,
};

/* --- records -------------------------------------------------------------------------------------
 */

struct record {
	_Alignas(8) uint8_t bytes[512];
};

static inline const struct perf_event_header *make(struct record *r, uint32_t type, uint16_t misc,
						   const void *body, size_t len, const char *name,
						   uint64_t time)
{
	struct perf_event_header hdr = {.type = type, .misc = misc};
	const uint64_t trailer[] = {0, time, 0, 77};
	size_t at = sizeof(hdr);

	memset(r, 0, sizeof(*r));
	memcpy(r->bytes + at, body, len);
	at += len;
	if (name) {
		strcpy((char *)r->bytes + at, name);
		at += (strlen(name) + 8) / 8 * 8;
	}
	memcpy(r->bytes + at, trailer, sizeof(trailer));
	hdr.size = (uint16_t)(at + sizeof(trailer));
	memcpy(r->bytes, &hdr, sizeof(hdr));
	return (const struct perf_event_header *)r->bytes;
}

static inline const struct perf_event_header *make_task(struct record *r, uint32_t type,
							uint32_t pid, uint32_t tid, uint32_t parent,
							uint32_t ptid, uint64_t time)
{
	const uint32_t body[6] = {pid, parent, tid, ptid};

	return make(r, type, 0, body, sizeof(body), NULL, time);
}

static inline const struct perf_event_header *
make_comm(struct record *r, uint32_t pid, uint32_t tid, bool exec, const char *comm, uint64_t time)
{
	const uint32_t body[2] = {pid, tid};

	return make(r, PERF_RECORD_COMM, exec ? PERF_RECORD_MISC_COMM_EXEC : 0, body, sizeof(body),
		    comm, time);
}

static inline const struct perf_event_header *make_mmap(struct record *r, uint32_t pid,
							uint64_t page, uint64_t nr, uint64_t file,
							uint64_t file_page)
{
	struct {
		uint32_t pid, tid;
		uint64_t addr, len, pgoff;
		uint32_t maj, min;
		uint64_t ino, generation;
		uint32_t prot, flags;
	} body = {pid, pid, page * PAGE, nr * PAGE, file_page * PAGE, 8, 1, file, 5, 5, 2};
	char name[32];

	snprintf(name, sizeof(name), "/file%llu", (unsigned long long)file);
	return make(r, PERF_RECORD_MMAP2, PERF_RECORD_MISC_USER, &body, sizeof(body), name, 1);
}

/* --- the model -----------------------------------------------------------------------------------
 */

static inline bool has_tasks(const struct world *w, uint32_t pid)
{
	for (uint32_t tid = 1; tid <= TASKS; tid++)
		if (w->tasks[tid].pid == pid)
			return true;
	return false;
}

static inline uint32_t pick(uint64_t *seed, uint32_t below)
{
	*seed = *seed * 6364136223846793005ull + 1442695040888963407ull;
	return (uint32_t)(*seed >> 33) % below;
}

static inline uint32_t pick_task(const struct world *w, uint64_t *seed)
{
	uint32_t start = pick(seed, TASKS);

	for (uint32_t i = 0; i < TASKS; i++)
		if (w->tasks[1 + (start + i) % TASKS].pid)
			return 1 + (start + i) % TASKS;
	return 0;
}

/* A number that nobody has, neither as a task nor as a process. */
static inline uint32_t pick_free(const struct world *w, uint64_t *seed)
{
	uint32_t start = pick(seed, TASKS);

	for (uint32_t i = 0; i < TASKS; i++) {
		uint32_t tid = 1 + (start + i) % TASKS;

		if (!w->tasks[tid].pid && !has_tasks(w, tid))
			return tid;
	}
	return 0;
}

static inline const struct perf_event_header *do_fork(struct world *w, uint64_t *seed,
						      struct record *r)
{
	uint32_t parent = pick_task(w, seed), tid = pick_free(w, seed), pid;

	if (!parent || !tid)
		return NULL;
	pid = pick(seed, 3) ? tid : w->tasks[parent].pid;
	w->tasks[tid] = w->tasks[parent];
	w->tasks[tid].pid = pid;
	if (pid == tid)
		memcpy(w->pages[pid], w->pages[w->tasks[parent].pid], sizeof(w->pages[pid]));
	return make_task(r, PERF_RECORD_FORK, pid, tid, w->tasks[parent].pid, parent, 1);
}

static inline const struct perf_event_header *do_exit(struct world *w, uint64_t *seed,
						      struct record *r)
{
	uint32_t tid = pick_task(w, seed), pid = w->tasks[tid].pid;

	if (!tid)
		return NULL;
	w->tasks[tid].pid = 0;
	if (!has_tasks(w, pid))
		memset(w->pages[pid], 0, sizeof(w->pages[pid]));
	return make_task(r, PERF_RECORD_EXIT, pid, tid, pid, pid, 1);
}

static inline const struct perf_event_header *do_comm(struct world *w, uint64_t *seed,
						      struct record *r, bool exec)
{
	uint32_t tid = pick_task(w, seed), pid = w->tasks[tid].pid;

	if (!tid)
		return NULL;
	if (exec) {
		for (uint32_t i = 1; i <= TASKS; i++)
			if (w->tasks[i].pid == pid)
				w->tasks[i].pid = 0;
		memset(w->pages[pid], 0, sizeof(w->pages[pid]));
		tid = pid;
		w->tasks[tid].pid = pid;
	}
	snprintf(w->tasks[tid].comm, sizeof(w->tasks[tid].comm), "comm%u", pick(seed, 1000));
	return make_comm(r, pid, tid, exec, w->tasks[tid].comm, 1);
}

static inline const struct perf_event_header *do_mmap(struct world *w, uint64_t *seed,
						      struct record *r)
{
	uint32_t tid = pick_task(w, seed), pid = w->tasks[tid].pid;
	uint32_t page = pick(seed, PAGES), nr = 1 + pick(seed, PAGES - page);
	uint32_t file = 1 + pick(seed, 50), at = pick(seed, 100);

	if (!tid)
		return NULL;
	for (uint32_t i = 0; i < nr; i++)
		w->pages[pid][page + i] = file * 1000 + at + i;
	return make_mmap(r, pid, page, nr, file, at);
}

static inline const struct perf_event_header *step(struct world *w, uint64_t *seed,
						   struct record *r)
{
	switch (pick(seed, 10)) {
	case 0:
	case 1:
	case 2: return do_fork(w, seed, r);
	case 3: return do_exit(w, seed, r);
	case 4: return do_comm(w, seed, r, true);
	case 5: return do_comm(w, seed, r, false);
	default: return do_mmap(w, seed, r);
	}
}

/* --- what the emitted records say ----------------------------------------------------------------
 */

static inline int learn(const struct perf_event_header *hdr, void *arg)
{
	const struct pd_evsel evsel = {.attr = attr};
	struct world *w = arg;
	struct pd_record rec;

	assert_int_equal(hdr->size % 8, 0);
	assert_int_equal(pd_record_decode(hdr, &evsel, &rec), 0);
	assert_int_equal(rec.id.time, 0);
	switch (hdr->type) {
	case PERF_RECORD_FORK:
		assert_true(hdr->misc & PERF_RECORD_MISC_FORK_EXEC);
		assert_int_equal(w->tasks[rec.task.tid].pid, 0);
		w->tasks[rec.task.tid].pid = rec.task.pid;
		break;
	case PERF_RECORD_COMM:
		w->tasks[rec.comm.tid].pid = rec.comm.pid;
		snprintf(w->tasks[rec.comm.tid].comm, 16, "%s", rec.comm.comm);
		break;
	case PERF_RECORD_EXIT: /* of one that has ended: its name came before */
		assert_int_equal(w->tasks[rec.task.tid].pid, rec.task.pid);
		w->tasks[rec.task.tid].pid = 0;
		break;
	case PERF_RECORD_MMAP2:
		for (uint64_t i = 0; i < rec.mmap.len / PAGE; i++) {
			uint64_t page = rec.mmap.addr / PAGE + i;

			assert_int_equal(w->pages[rec.mmap.pid][page], 0);
			w->pages[rec.mmap.pid][page] =
				(uint32_t)(rec.mmap.ino * 1000 + rec.mmap.pgoff / PAGE + i);
		}
		assert_int_equal(rec.mmap.ino, strtoull(rec.mmap.filename + 5, NULL, 10));
		assert_int_equal(rec.mmap.prot, 5);
		break;
	default: fail_msg("a record of type %u", hdr->type);
	}
	return 0;
}

#endif
