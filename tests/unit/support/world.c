// SPDX-License-Identifier: Apache-2.0
#include "world.h"

#include <linux/perf_event.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

static void add_task(struct world *w, uint32_t pid, uint32_t tid)
{
	assert_uint_in_range(pid, 1, WORLD_IDS - 1);
	assert_uint_in_range(tid, 1, WORLD_IDS - 1);
	if (w->tasks[tid].pid == pid)
		return;
	assert_int_equal(w->tasks[tid].pid, 0);
	w->tasks[tid].pid = pid;
	w->tasks[tid].comm[0] = '\0';
	w->processes[pid].tasks++;
	w->alive++;
}

static void remove_task(struct world *w, uint32_t tid)
{
	struct world_process *p = &w->processes[w->tasks[tid].pid];

	if (!w->tasks[tid].pid)
		return;
	w->tasks[tid].pid = 0;
	w->alive--;
	if (!--p->tasks)
		p->nr = 0;
}

static void apply_fork(struct world *w, const struct perf_event_header *hdr,
		       const struct pd_task *fork)
{
	add_task(w, fork->pid, fork->tid);
	if (w->tasks[fork->ptid].pid)
		memcpy(w->tasks[fork->tid].comm, w->tasks[fork->ptid].comm, 16);
	if (fork->pid == fork->ppid || hdr->misc & PERF_RECORD_MISC_FORK_EXEC)
		return;
	w->processes[fork->pid].nr = w->processes[fork->ppid].nr;
	memcpy(w->processes[fork->pid].maps, w->processes[fork->ppid].maps,
	       sizeof(w->processes[0].maps));
}

static void apply_comm(struct world *w, const struct pd_comm *comm)
{
	add_task(w, comm->pid, comm->tid);
	strncpy(w->tasks[comm->tid].comm, comm->comm, 15);
	w->tasks[comm->tid].comm[15] = '\0';
	if (!comm->exec)
		return;
	for (uint32_t tid = 1; w->processes[comm->pid].tasks > 1 && tid < WORLD_IDS; tid++)
		if (w->tasks[tid].pid == comm->pid && tid != comm->tid)
			remove_task(w, tid);
	w->processes[comm->pid].nr = 0;
}

static void put(struct world *w, struct world_process *p, struct world_map map)
{
	size_t at = p->nr;

	if (map.start >= map.end)
		return;
	if (p->nr == WORLD_MAPS) {
		w->overflow++;
		return;
	}
	for (; at && p->maps[at - 1].start > map.start; at--)
		p->maps[at] = p->maps[at - 1];
	p->maps[at] = map;
	p->nr++;
}

/* The ends of old maps that stick out remain. */
static void apply_map(struct world *w, const struct pd_mmap *mmap)
{
	struct world_process *p = &w->processes[mmap->pid], before = *p;
	const struct world_map new = {mmap->addr, mmap->addr + mmap->len, mmap->pgoff,
				      (uint32_t)strtoul(mmap->filename + 6, NULL, 10)};

	if (!p->tasks)
		add_task(w, mmap->pid, mmap->tid);
	p->nr = 0;
	for (size_t i = 0; i < before.nr; i++) {
		struct world_map left = before.maps[i], right = left;

		left.end = left.end < new.start ? left.end : new.start;
		right.start = right.start > new.end ? right.start : new.end;
		right.pgoff += right.start - before.maps[i].start;
		put(w, p, left);
		put(w, p, right);
	}
	put(w, p, new);
}

void world_apply(struct world *w, const struct pd_attr *attr, const struct perf_event_header *hdr)
{
	const struct pd_evsel evsel = {.attr = *attr};
	struct pd_record rec;

	assert_int_equal(pd_record_decode(hdr, &evsel, &rec), 0);
	switch (hdr->type) {
	case PERF_RECORD_FORK: apply_fork(w, hdr, &rec.task); break;
	case PERF_RECORD_EXIT:
		if (w->tasks[rec.task.tid].pid == rec.task.pid)
			remove_task(w, rec.task.tid);
		break;
	case PERF_RECORD_COMM: apply_comm(w, &rec.comm); break;
	case PERF_RECORD_MMAP2: apply_map(w, &rec.mmap); break;
	}
}

const struct world_map *world_find(const struct world *w, uint32_t pid, uint64_t addr)
{
	const struct world_process *p = &w->processes[pid];

	for (size_t i = 0; i < p->nr; i++)
		if (addr >= p->maps[i].start && addr < p->maps[i].end)
			return &p->maps[i];
	return NULL;
}

void world_assert_equal(const struct world *a, const struct world *b)
{
	assert_int_equal(a->overflow + b->overflow, 0);
	assert_int_equal(a->alive, b->alive);
	for (uint32_t id = 1; id < WORLD_IDS; id++) {
		const struct world_process *p = &a->processes[id], *q = &b->processes[id];

		assert_int_equal(a->tasks[id].pid, b->tasks[id].pid);
		if (a->tasks[id].pid)
			assert_string_equal(a->tasks[id].comm, b->tasks[id].comm);
		assert_int_equal(p->nr, q->nr);
		for (size_t i = 0; i < p->nr; i++) {
			assert_int_equal(p->maps[i].start, q->maps[i].start);
			assert_int_equal(p->maps[i].end, q->maps[i].end);
			assert_int_equal(p->maps[i].pgoff, q->maps[i].pgoff);
			assert_int_equal(p->maps[i].file, q->maps[i].file);
		}
	}
}
