// SPDX-License-Identifier: Apache-2.0
#include "life.h"

#include <stdio.h>
#include <stdlib.h>

#include "wire.h"

#define DAEMONS	  30u /* tasks that never end */
#define ALIVE_MIN 80u
#define ALIVE_MAX 500u
#define PAGE	  4096ull
#define LIBRARIES 40u /* library files; each program has a number of its own, from 1000 on */
#define CGROUPS	  5000u
#define SECOND	  1000000000ull
/*
 * Storms: for some seconds of each quarter of an hour, processes come and go fifty times as fast.
 */
#define STORM_EVERY (900 * SECOND)
#define STORM_FROM  (800 * SECOND)
#define STORM_UNTIL (820 * SECOND)

const struct pd_attr life_attr = {
	.sample_type = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID |
		       PERF_SAMPLE_TIME | PERF_SAMPLE_CPU | PERF_SAMPLE_PERIOD,
	.flags = PD_ATTR_SAMPLE_ID_ALL,
};

static uint32_t pick(struct life *l, uint32_t below)
{
	l->seed = l->seed * 6364136223846793005ull + 1442695040888963407ull;
	return (uint32_t)(l->seed >> 33) % below;
}

/* --- records -------------------------------------------------------------------------------------
 */

/* Adds the trailer, applies the record to the model, and delivers it. */
static void happen(struct life *l, struct wire *r)
{
	const uint64_t trailer[] = {0, l->time, 0, 77};
	struct perf_event_header *hdr;

	wire_bytes(r, trailer, sizeof(trailer));
	hdr = wire_end(r);
	world_apply(&l->now, &life_attr, hdr);
	l->record(hdr, pick(l, LIFE_CPUS), l->arg);
	l->records++;
	l->time += 1000 + pick(l, 30000);
}

static void say_task(struct life *l, uint32_t type, const uint32_t ids[4])
{
	struct wire r;

	wire_begin(&r, false, type, 0);
	wire_bytes(&r, ids, 16);
	wire_u64(&r, l->time);
	happen(l, &r);
}

static void say_comm(struct life *l, uint32_t pid, uint32_t tid, bool exec, const char *comm)
{
	struct wire r;

	wire_begin(&r, false, PERF_RECORD_COMM, exec ? PERF_RECORD_MISC_COMM_EXEC : 0);
	wire_u32(&r, pid);
	wire_u32(&r, tid);
	wire_string(&r, comm);
	happen(l, &r);
}

static void say_map(struct life *l, uint32_t pid, uint64_t page, uint64_t pages, uint64_t file)
{
	const struct pd_mmap2_body body = {.pid = pid,
					   .tid = pid,
					   .addr = page * PAGE,
					   .len = pages * PAGE,
					   .pgoff = pick(l, 100) * PAGE,
					   .maj = 8,
					   .ino = file,
					   .prot = 5,
					   .flags = 2};
	char name[32];
	struct wire r;

	snprintf(name, sizeof(name), "/file/%llu", (unsigned long long)file);
	wire_begin(&r, false, PERF_RECORD_MMAP2, PERF_RECORD_MISC_USER);
	wire_bytes(&r, &body, sizeof(body));
	wire_string(&r, name);
	happen(l, &r);
}

/* --- tasks ---------------------------------------------------------------------------------------
 */

static uint32_t someone(struct life *l)
{
	return l->alive[pick(l, (uint32_t)l->now.alive)];
}

static uint32_t new_id(struct life *l)
{
	do
		l->last_id = l->last_id % (WORLD_IDS - 1) + 1;
	while (l->now.tasks[l->last_id].pid || l->now.processes[l->last_id].tasks);
	return l->last_id;
}

static void fork_one(struct life *l, uint32_t parent, bool thread)
{
	uint32_t ppid = l->now.tasks[parent].pid, tid = new_id(l);
	const uint32_t ids[4] = {thread ? ppid : tid, ppid, tid, parent};

	l->alive[l->now.alive] = tid;
	say_task(l, PERF_RECORD_FORK, ids);
	l->processes += !thread;
}

static void end_one(struct life *l, uint32_t tid)
{
	uint32_t pid = l->now.tasks[tid].pid;
	const uint32_t ids[4] = {pid, pid, tid, tid};
	size_t at = 0;

	while (l->alive[at] != tid)
		at++;
	l->alive[at] = l->alive[l->now.alive - 1];
	say_task(l, PERF_RECORD_EXIT, ids);
}

/* Ends all tasks of the process but @keep (0: none). */
static void end_others(struct life *l, uint32_t pid, uint32_t keep)
{
	for (size_t i = l->now.alive; i--;)
		if (l->now.tasks[l->alive[i]].pid == pid && l->alive[i] != keep)
			end_one(l, l->alive[i]);
}

/* Executes a program: it maps the program, its loader and two libraries. */
static void execute(struct life *l, uint32_t pid)
{
	char comm[16];

	if (l->now.tasks[pid].pid != pid)
		return;
	end_others(l, pid, pid);
	l->programs++;
	snprintf(comm, sizeof(comm), "prog%llu", (unsigned long long)l->programs);
	say_comm(l, pid, pid, true, comm);
	say_map(l, pid, 0x400, 1 + pick(l, 200), 1000 + l->programs);
	say_map(l, pid, 0x7ff000, 40, 1);
	say_map(l, pid, 0x700000, 400, 2);
	say_map(l, pid, 0x701000, 100 + pick(l, 200), 3 + pick(l, LIBRARIES));
}

static void spawn(struct life *l)
{
	fork_one(l, someone(l), false);
	if (pick(l, 10))
		execute(l, l->last_id);
}

/* Ends a process; of a process that never ends, one thread. */
static void finish(struct life *l)
{
	uint32_t tid = someone(l), pid = l->now.tasks[tid].pid;

	if (pid > DAEMONS)
		end_others(l, pid, 0);
	else if (tid > DAEMONS)
		end_one(l, tid);
}

static void start_thread(struct life *l)
{
	fork_one(l, someone(l), true);
}

/* Ends a thread. The first thread of a process may end before the others. */
static void end_thread(struct life *l)
{
	uint32_t tid = someone(l);

	if (tid > DAEMONS && l->now.processes[l->now.tasks[tid].pid].tasks > 1)
		end_one(l, tid);
}

/* Maps a library over any others that are there. */
static void load_library(struct life *l)
{
	uint32_t pid = l->now.tasks[someone(l)].pid;

	if (l->now.processes[pid].nr < WORLD_MAPS - 4)
		say_map(l, pid, 0x600000 + pick(l, 1000), 1 + pick(l, 300), 3 + pick(l, LIBRARIES));
	else
		say_map(l, pid, 0x600000, 2000, 3 + pick(l, LIBRARIES));
}

static void rename_task(struct life *l)
{
	uint32_t tid = someone(l);
	char comm[16];

	snprintf(comm, sizeof(comm), "name%u", pick(l, 1000));
	say_comm(l, l->now.tasks[tid].pid, tid, false, comm);
}

static void execute_again(struct life *l)
{
	uint32_t pid = l->now.tasks[someone(l)].pid;

	if (pid > DAEMONS)
		execute(l, pid);
}

/* --- the system ----------------------------------------------------------------------------------
 */

static void make_cgroup(struct life *l)
{
	char path[32];
	struct wire r;

	snprintf(path, sizeof(path), "/unit%llu.service", (unsigned long long)l->records);
	wire_begin(&r, false, PERF_RECORD_CGROUP, 0);
	wire_u64(&r, l->records);
	wire_string(&r, path);
	happen(l, &r);
}

/* Loads or unloads a BPF program, with its symbol. */
static void load_bpf(struct life *l)
{
	uint32_t id = 1 + pick(l, 50);
	uint16_t gone = (uint16_t)pick(l, 2);
	struct wire r;

	wire_begin(&r, false, PERF_RECORD_KSYMBOL, 0);
	wire_u64(&r, 0xffffffffc0000000ull + id * PAGE);
	wire_u32(&r, 200);
	wire_u16(&r, 1);
	wire_u16(&r, gone);
	wire_string(&r, "bpf_prog");
	happen(l, &r);
	wire_begin(&r, false, PERF_RECORD_BPF_EVENT, 0);
	wire_u16(&r, (uint16_t)(1 + gone));
	wire_u16(&r, 0);
	wire_u32(&r, id);
	wire_u64(&r, 0);
	happen(l, &r);
}

/* --- samples -------------------------------------------------------------------------------------
 */

static void sample(struct life *l)
{
	uint32_t tid = someone(l), pid = l->now.tasks[tid].pid;
	const struct world_process *p = &l->now.processes[pid];
	const struct world_map *map = p->nr ? &p->maps[pick(l, p->nr)] : NULL;
	struct life_sample s = {.id = 77, .pid = pid, .tid = tid, .time = l->time};
	uint64_t padding = pick(l, 20);
	struct wire r;

	if (!map)
		return;
	s.ip = map->start + pick(l, (uint32_t)(map->end - map->start));
	s.pgoff = s.ip - map->start + map->pgoff;
	s.file = map->file;
	s.cpu = pick(l, LIFE_CPUS);
	s.number = ++l->samples;
	memcpy(s.comm, l->now.tasks[tid].comm, sizeof(s.comm));
	wire_begin(&r, false, PERF_RECORD_SAMPLE, PERF_RECORD_MISC_USER);
	wire_bytes(&r, &s, sizeof(s));
	while (padding--)
		wire_u64(&r, 0);
	l->record(wire_end(&r), s.cpu, l->arg);
	l->records++;
	l->time += 1000;
}

/* --- steps ---------------------------------------------------------------------------------------
 */

void life_begin(struct life *l)
{
	const uint32_t init[4] = {1, 1, 1, 1};

	l->time = SECOND;
	l->alive[0] = 1;
	say_task(l, PERF_RECORD_FORK, init);
	l->last_id = 1;
	execute(l, 1);
	while (l->now.alive < DAEMONS)
		spawn(l);
	for (unsigned int i = 0; i < CGROUPS; i++)
		make_cgroup(l);
}

static const struct {
	unsigned int times; /* weight, of a thousand */
	void (*happens)(struct life *l);
} deeds[] = {
	{880, sample},	  {35, spawn},	      {34, finish},	{15, start_thread},
	{10, end_thread}, {10, load_library}, {8, rename_task}, {3, execute_again},
	{3, make_cgroup}, {2, load_bpf},
};

void life_step(struct life *l)
{
	bool storm = l->time % STORM_EVERY >= STORM_FROM && l->time % STORM_EVERY < STORM_UNTIL;
	uint32_t deed = storm ? 860 + pick(l, 140) : pick(l, 1000);

	l->time += pick(l, storm ? 8000000 : 36000000);
	if (l->now.alive < ALIVE_MIN)
		spawn(l);
	else if (l->now.alive > ALIVE_MAX)
		finish(l);
	for (size_t i = 0; i < sizeof(deeds) / sizeof(deeds[0]); i++) {
		if (deed < deeds[i].times) {
			deeds[i].happens(l);
			return;
		}
		deed -= deeds[i].times;
	}
}
