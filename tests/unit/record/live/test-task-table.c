// SPDX-License-Identifier: Apache-2.0
/*
 * The task table against a model with each page of each process. After every random fork, exec,
 * mmap, exit and rename, the records that the table emits lead to the same tasks, names and pages.
 */
#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <cmocka.h>

#include "base/buf.h"
#include "perfdata/record.h"
#include "record/live/sideband.h"

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

static const struct perf_event_header *make(struct record *r, uint32_t type, uint16_t misc,
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

static const struct perf_event_header *make_task(struct record *r, uint32_t type, uint32_t pid,
						 uint32_t tid, uint32_t parent, uint32_t ptid,
						 uint64_t time)
{
	const uint32_t body[6] = {pid, parent, tid, ptid};

	return make(r, type, 0, body, sizeof(body), NULL, time);
}

static const struct perf_event_header *make_comm(struct record *r, uint32_t pid, uint32_t tid,
						 bool exec, const char *comm, uint64_t time)
{
	const uint32_t body[2] = {pid, tid};

	return make(r, PERF_RECORD_COMM, exec ? PERF_RECORD_MISC_COMM_EXEC : 0, body, sizeof(body),
		    comm, time);
}

static const struct perf_event_header *make_mmap(struct record *r, uint32_t pid, uint64_t page,
						 uint64_t nr, uint64_t file, uint64_t file_page)
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

static bool has_tasks(const struct world *w, uint32_t pid)
{
	for (uint32_t tid = 1; tid <= TASKS; tid++)
		if (w->tasks[tid].pid == pid)
			return true;
	return false;
}

static uint32_t pick(uint64_t *seed, uint32_t below)
{
	*seed = *seed * 6364136223846793005ull + 1442695040888963407ull;
	return (uint32_t)(*seed >> 33) % below;
}

static uint32_t pick_task(const struct world *w, uint64_t *seed)
{
	uint32_t start = pick(seed, TASKS);

	for (uint32_t i = 0; i < TASKS; i++)
		if (w->tasks[1 + (start + i) % TASKS].pid)
			return 1 + (start + i) % TASKS;
	return 0;
}

/* A number that nobody has, neither as a task nor as a process. */
static uint32_t pick_free(const struct world *w, uint64_t *seed)
{
	uint32_t start = pick(seed, TASKS);

	for (uint32_t i = 0; i < TASKS; i++) {
		uint32_t tid = 1 + (start + i) % TASKS;

		if (!w->tasks[tid].pid && !has_tasks(w, tid))
			return tid;
	}
	return 0;
}

static const struct perf_event_header *do_fork(struct world *w, uint64_t *seed, struct record *r)
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

static const struct perf_event_header *do_exit(struct world *w, uint64_t *seed, struct record *r)
{
	uint32_t tid = pick_task(w, seed), pid = w->tasks[tid].pid;

	if (!tid)
		return NULL;
	w->tasks[tid].pid = 0;
	if (!has_tasks(w, pid))
		memset(w->pages[pid], 0, sizeof(w->pages[pid]));
	return make_task(r, PERF_RECORD_EXIT, pid, tid, pid, pid, 1);
}

static const struct perf_event_header *do_comm(struct world *w, uint64_t *seed, struct record *r,
					       bool exec)
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

static const struct perf_event_header *do_mmap(struct world *w, uint64_t *seed, struct record *r)
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

static const struct perf_event_header *step(struct world *w, uint64_t *seed, struct record *r)
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

static int learn(const struct perf_event_header *hdr, void *arg)
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

/* Types and times of what is emitted. */
struct order {
	uint32_t types[16];
	uint64_t times[16];
	size_t nr;
};

static int note_order(const struct perf_event_header *hdr, void *arg)
{
	const struct pd_evsel evsel = {.attr = attr};
	struct order *o = arg;

	assert_true(o->nr < 16);
	o->times[o->nr] = pd_record_time(hdr, &evsel);
	o->types[o->nr++] = hdr->type;
	return 0;
}

/* The child's new name is read from its CPU's ring before the fork from the parent's. */
static void test_order_of_rings(void **state)
{
	const uint64_t t = 5000000000ull;
	struct sideband *s = sideband_new(&attr);
	struct task_table_stats stats;
	struct order o = {0};
	size_t waiting;
	struct record r;

	(void)state;
	sideband_add(s, make_comm(&r, 1, 1, false, "init", 0));
	assert_int_equal(sideband_settle(s), 0);
	sideband_add(s, make_comm(&r, 2, 2, true, "child", t + 2));
	assert_int_equal(sideband_settle(s), 0);
	sideband_add(s, make_task(&r, PERF_RECORD_FORK, 2, 2, 1, 1, t + 1));
	assert_int_equal(sideband_settle(s), 0);
	assert_int_equal(sideband_emit(s, note_order, &o), 0);
	assert_int_equal(o.nr, 3);
	assert_int_equal(o.types[0], PERF_RECORD_COMM);
	assert_int_equal(o.types[1], PERF_RECORD_FORK);
	assert_int_equal(o.times[1], t + 1);
	assert_int_equal(o.types[2], PERF_RECORD_COMM);
	assert_int_equal(o.times[2], t + 2);
	/* Nothing of them is in doubt when all rings were visited behind a much later one. */
	sideband_add(s, make_comm(&r, 1, 1, false, "later", t + 10 * SIDEBAND_GRACE_NS));
	assert_int_equal(sideband_settle(s), 0);
	assert_int_equal(sideband_settle(s), 0);
	sideband_stats(s, &stats, &waiting);
	assert_int_equal(waiting, 1);
	assert_int_equal(stats.tasks, 2);
	o.nr = 0;
	assert_int_equal(sideband_emit(s, note_order, &o), 0);
	/* init, the fork and the child's own name, and what waits. */
	assert_int_equal(o.nr, 4);
	assert_int_equal(o.times[2], 0);
	assert_int_equal(o.times[3], t + 10 * SIDEBAND_GRACE_NS);
	sideband_free(s);
}

/* --- a log ---------------------------------------------------------------------------------------
 */

static uint64_t time_of(const struct perf_event_header *hdr)
{
	const struct pd_evsel evsel = {.attr = attr};

	return pd_record_time(hdr, &evsel);
}

/* The file that snapshots go to, as a reader sees it. */
struct file {
	struct task_table *live;
	uint64_t newest; /* time, of all snapshots before this one */
	uint64_t now;	 /* of the last record */
	bool again;
};

static int add_to_file(const struct perf_event_header *hdr, void *arg)
{
	struct file *f = arg;
	uint64_t time = time_of(hdr);

	assert_true(time >= f->now);
	f->now = time;
	if (!f->again && !(hdr->misc & PERF_RECORD_MISC_FORK_EXEC) && hdr->type == PERF_RECORD_FORK)
		assert_true(time > f->newest);
	return task_table_apply(f->live, hdr);
}

/* Whoever lives is known by name and with all pages; those that died unseen may be there too. */
static void check_file(const struct file *f, const struct world *w)
{
	struct world learnt = {0};

	assert_int_equal(task_table_emit(f->live, 0, learn, &learnt), 0);
	for (uint32_t tid = 1; tid <= TASKS; tid++) {
		if (!w->tasks[tid].pid)
			continue;
		assert_int_equal(learnt.tasks[tid].pid, w->tasks[tid].pid);
		assert_string_equal(learnt.tasks[tid].comm, w->tasks[tid].comm);
		if (w->tasks[tid].pid == tid)
			assert_memory_equal(learnt.pages[tid], w->pages[tid],
					    sizeof(w->pages[tid]));
	}
}

static void set_time(const struct perf_event_header *hdr, uint64_t time)
{
	memcpy((uint8_t *)(uintptr_t)hdr + hdr->size - 24, &time, sizeof(time));
}

static void snapshot(struct sideband *s, struct file *f, const struct world *w, bool again)
{
	struct file whole = {.live = task_table_new(&attr), .again = true};

	/* A file of its own has all of it. */
	if (again)
		assert_int_equal(sideband_snapshot(s, true, add_to_file, &whole), 0);
	else
		assert_int_equal(sideband_snapshot(s, false, add_to_file, f), 0);
	check_file(again ? &whole : f, w);
	if (!again)
		f->newest = f->now;
	task_table_free(whole.live);
}

/*
 * Snapshots at random moments, while the log is settled up to random ones: each leads to the world
 * as it is, in a file of its own and behind those before it, and none tells what another did.
 */
static void test_snapshots_of_a_log(void **state)
{
	const uint64_t ms = 1000000;

	for (uint64_t round = 1; round <= 60; round++) {
		struct sideband *s = sideband_new_log(&attr);
		struct file f = {.live = task_table_new(&attr)};
		struct world w = {.tasks[1] = {1, "init"}};
		uint64_t seed = round * 104729, now = 1000 * ms;
		bool files = round % 3 == 0;
		struct record r;

		sideband_add(s, make_task(&r, PERF_RECORD_FORK, 1, 1, 0, 0, 0));
		sideband_add(s, make_comm(&r, 1, 1, false, "init", 0));
		assert_int_equal(sideband_settle(s), 0);
		for (int i = 0; i < 300; i++) {
			const struct perf_event_header *hdr = step(&w, &seed, &r);
			struct task_table_stats stats;
			size_t waiting;

			now += 1 + pick(&seed, 3 * (uint32_t)ms);
			if (hdr) {
				set_time(hdr, now);
				assert_int_equal(sideband_add(s, hdr), 0);
			}
			if (!pick(&seed, 10))
				assert_int_equal(
					sideband_settle_until(s, now - pick(&seed, 200) * ms), 0);
			if (pick(&seed, 15))
				continue;
			sideband_stats(s, &stats, &waiting);
			assert_true(sideband_bytes(s) >= waiting * 8);
			assert_true(sideband_since(s, SIZE_MAX) == 0);
			assert_true(!waiting == !sideband_since(s, 0));
			f.now = 0;
			snapshot(s, &f, &w, files);
		}
		task_table_free(f.live);
		sideband_free(s);
	}
}

struct crowd {
	struct sideband *sideband;
	unsigned int emitted, added;
};

static void *add_one(void *arg)
{
	struct crowd *crowd = arg;
	struct record r;

	sideband_add(crowd->sideband, make_comm(&r, 1, 1, false, "busy", 9000000000ull));
	return NULL;
}

/* The output takes so long that another record comes, whose writer is waited for here. */
static int emit_slowly(const struct perf_event_header *hdr, void *arg)
{
	struct crowd *crowd = arg;
	struct timespec until;
	pthread_t writer;

	crowd->emitted++;
	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_sec += 60;
	assert_int_equal(pthread_create(&writer, NULL, add_one, crowd), 0);
	assert_int_equal(pthread_timedjoin_np(writer, NULL, &until), 0);
	crowd->added++;
	return 0;
}

/* A snapshot to an output that stands still: writers go on, and what they add is the next one's. */
static void test_a_slow_output_holds_up_nobody(void **state)
{
	struct crowd crowd = {.sideband = sideband_new_log(&attr)};
	struct order o = {0};
	struct record r;

	(void)state;
	sideband_add(crowd.sideband, make_comm(&r, 1, 1, false, "init", 0));
	sideband_add(crowd.sideband, make_comm(&r, 2, 2, false, "other", 0));
	assert_int_equal(sideband_snapshot(crowd.sideband, false, emit_slowly, &crowd), 0);
	assert_int_equal(crowd.emitted, 2);
	assert_int_equal(crowd.added, 2);
	assert_int_equal(sideband_snapshot(crowd.sideband, false, note_order, &o), 0);
	assert_int_equal(o.nr, 2);
	assert_int_equal(o.times[0], 9000000000ull);
	sideband_free(crowd.sideband);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_like_the_model),
		cmocka_unit_test(test_names_behind_the_end),
		cmocka_unit_test(test_what_belongs_to_no_process),
		cmocka_unit_test(test_malformed_records_change_nothing),
		cmocka_unit_test(test_order_of_rings),
		cmocka_unit_test(test_snapshots_of_a_log),
		cmocka_unit_test(test_a_slow_output_holds_up_nobody),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
