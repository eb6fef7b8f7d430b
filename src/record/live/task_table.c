// SPDX-License-Identifier: Apache-2.0
#include "record/live/task_table.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <uthash.h>

#include "base/buf.h"
#include "perfdata/record.h"
#include "record/live/task_maps.h"

/* No record reports the end of a cgroup: beyond this number the oldest is dropped. */
#define CGROUPS_MAX 4096u
/*
 * A task has samples behind its EXIT: freeing its memory takes time, and it may be preempted. The
 * comm of an ended task is kept for this time, of this many tasks.
 */
#define ENDED_NS  5000000000ull
#define ENDED_MAX 512u

/* A record without its trailer. */
struct task_blob {
	size_t len;
	uint8_t bytes[];
};

struct task_process;

struct task {
	UT_hash_handle hh; /* by tid */
	uint32_t tid, ppid, ptid;
	struct task_process *process;
	struct task *next, **link;    /* of its process; link: the pointer to this task */
	bool forked;		      /* ppid and ptid are known */
	char *comm;		      /* NULL: not known */
	struct task_blob *namespaces; /* NULL: not known */
};

struct task_process {
	UT_hash_handle hh; /* by pid */
	uint32_t pid;
	struct task *tasks; /* never empty; the newest first */
	struct task_maps *maps;
};

/* A task behind its EXIT. */
struct ended {
	UT_hash_handle hh; /* by tid */
	uint32_t tid, pid;
	uint64_t time; /* of the EXIT, ns */
	char *comm;
};

/* A record about something that belongs to no process. */
struct other {
	UT_hash_handle hh;
	struct other_key {
		uint64_t kind, id;
	} key;
	struct task_blob *blob;
};

enum other_kind { OTHER_KSYMBOL, OTHER_BPF, OTHER_CGROUP, OTHER_MAP /* and the CPU mode */ };

struct task_table {
	struct pd_evsel evsel;
	size_t id_size;
	size_t time_at; /* offset of the time from the end of a record; 0: no time */
	struct task *tasks;
	struct task_process *processes;
	struct ended *ended; /* the oldest first */
	struct other *others;
	struct other *cgroups; /* the oldest first */
};

struct task_table *task_table_new(const struct pd_attr *attr)
{
	struct task_table *l = calloc(1, sizeof(*l));

	if (!l)
		return NULL;
	l->evsel.attr = *attr;
	l->id_size = pd_attr_id_trailer_size(attr);
	if (l->id_size && attr->sample_type & PERF_SAMPLE_TIME)
		l->time_at = l->id_size - (attr->sample_type & PERF_SAMPLE_TID ? 8 : 0);
	return l;
}

static struct task_blob *blob_new(const struct task_table *l, const struct perf_event_header *hdr)
{
	size_t len = hdr->size - l->id_size;
	struct task_blob *blob = malloc(sizeof(*blob) + len);

	if (!blob)
		return NULL;
	blob->len = len;
	memcpy(blob->bytes, hdr, len);
	return blob;
}

/* --- tasks and processes -------------------------------------------------------------------------
 */

static struct task *task_find(const struct task_table *l, uint32_t tid)
{
	struct task *t;

	HASH_FIND(hh, l->tasks, &tid, sizeof(tid), t);
	return t;
}

static struct task_process *process_find(const struct task_table *l, uint32_t pid)
{
	struct task_process *p;

	HASH_FIND(hh, l->processes, &pid, sizeof(pid), p);
	return p;
}

/* The last task of a process removes the process. */
static void task_remove(struct task_table *l, struct task *t)
{
	struct task_process *p = t->process;

	*t->link = t->next;
	if (t->next)
		t->next->link = t->link;
	HASH_DEL(l->tasks, t);
	free(t->comm);
	free(t->namespaces);
	free(t);
	if (p->tasks)
		return;
	HASH_DEL(l->processes, p);
	task_maps_put(p->maps);
	free(p);
}

static struct task_process *process_get(struct task_table *l, uint32_t pid)
{
	struct task_process *p = process_find(l, pid);

	if (p)
		return p;
	p = calloc(1, sizeof(*p));
	if (!p)
		return NULL;
	p->pid = pid;
	HASH_ADD(hh, l->processes, pid, sizeof(p->pid), p);
	if (!p->hh.tbl) {
		free(p);
		return NULL;
	}
	return p;
}

static void ended_remove(struct task_table *l, struct ended *e)
{
	HASH_DEL(l->ended, e);
	free(e->comm);
	free(e);
}

/* Forgets an ended task whose tid was reused. */
static void ended_forget(struct task_table *l, uint32_t tid)
{
	struct ended *e;

	HASH_FIND(hh, l->ended, &tid, sizeof(tid), e);
	if (e)
		ended_remove(l, e);
}

/* Keeps the comm of @t, which has ended and is removed next. Returns 0 or -ENOMEM. */
static int ended_add(struct task_table *l, struct task *t, uint64_t time)
{
	struct ended *e = calloc(1, sizeof(*e));

	if (!e)
		return -ENOMEM;
	e->tid = t->tid;
	e->pid = t->process->pid;
	e->time = time;
	HASH_ADD(hh, l->ended, tid, sizeof(e->tid), e);
	if (!e->hh.tbl) {
		free(e);
		return -ENOMEM;
	}
	e->comm = t->comm;
	t->comm = NULL;
	while (HASH_COUNT(l->ended) > ENDED_MAX || l->ended->time + ENDED_NS < time)
		ended_remove(l, l->ended);
	return 0;
}

static struct task *task_new(struct task_table *l, uint32_t pid, uint32_t tid)
{
	struct task *t = calloc(1, sizeof(*t));

	if (!t)
		return NULL;
	ended_forget(l, tid);
	t->process = process_get(l, pid);
	t->tid = tid;
	if (t->process)
		HASH_ADD(hh, l->tasks, tid, sizeof(t->tid), t);
	if (!t->process || !t->hh.tbl) {
		if (t->process && !t->process->tasks) {
			HASH_DEL(l->processes, t->process);
			free(t->process);
		}
		free(t);
		return NULL;
	}
	t->next = t->process->tasks;
	t->link = &t->process->tasks;
	if (t->next)
		t->next->link = &t->next;
	t->process->tasks = t;
	return t;
}

/* A tid in another process than before is another task. Returns NULL when out of memory. */
static struct task *task_get(struct task_table *l, uint32_t pid, uint32_t tid)
{
	struct task *t = task_find(l, tid);

	if (t && t->process->pid == pid)
		return t;
	if (t)
		task_remove(l, t);
	return task_new(l, pid, tid);
}

static int set_comm(struct task *t, const char *comm)
{
	char *copy = comm ? strdup(comm) : NULL;

	if (comm && !copy)
		return -ENOMEM;
	free(t->comm);
	t->comm = copy;
	return 0;
}

/* --- records -------------------------------------------------------------------------------------
 */

/* Removes all tasks of the process but @keep (NULL: all). */
static void remove_tasks(struct task_table *l, struct task_process *p, const struct task *keep)
{
	struct task *t = p->tasks, *next;

	for (; t; t = next) {
		next = t->next;
		if (t != keep)
			task_remove(l, t);
	}
}

static int apply_fork(struct task_table *l, const struct perf_event_header *hdr,
		      const struct pd_task *fork)
{
	struct task *t = task_find(l, fork->tid), *parent;
	struct task_process *p = process_find(l, fork->pid);

	/* A task with the same numbers has ended, though its EXIT was lost. */
	if (fork->tid == fork->pid && p)
		remove_tasks(l, p, NULL);
	else if (t)
		task_remove(l, t);
	t = task_new(l, fork->pid, fork->tid);
	if (!t)
		return -ENOMEM;
	t->forked = true;
	t->ppid = fork->ppid;
	t->ptid = fork->ptid;
	parent = task_find(l, fork->ptid);
	p = process_find(l, fork->ppid);
	/* FORK_EXEC: synthesized, so its maps follow (record/initial/synth_tasks.c). */
	if (p && p != t->process && !(hdr->misc & PERF_RECORD_MISC_FORK_EXEC)) {
		task_maps_put(t->process->maps);
		t->process->maps = task_maps_get(p->maps);
	}
	return parent ? set_comm(t, parent->comm) : 0;
}

static int apply_exit(struct task_table *l, const struct pd_task *exit)
{
	struct task *t = task_find(l, exit->tid);
	int rc;

	if (!t || t->process->pid != exit->pid)
		return 0;
	rc = t->comm ? ended_add(l, t, exit->time) : 0;
	task_remove(l, t);
	return rc;
}

/* An exec leaves one task, the leader, and no maps. */
static int apply_comm(struct task_table *l, const struct pd_comm *comm)
{
	struct task *t = task_get(l, comm->pid, comm->tid);

	if (!t)
		return -ENOMEM;
	if (comm->exec) {
		remove_tasks(l, t->process, t);
		task_maps_put(t->process->maps);
		t->process->maps = NULL;
	}
	return set_comm(t, comm->comm);
}

static int apply_namespaces(struct task_table *l, const struct perf_event_header *hdr,
			    const struct pd_namespaces *ns)
{
	struct task *t = task_get(l, ns->pid, ns->tid);
	struct task_blob *blob = t ? blob_new(l, hdr) : NULL;

	if (!blob)
		return -ENOMEM;
	free(t->namespaces);
	t->namespaces = blob;
	return 0;
}

static void other_remove(struct other **table, struct other *o)
{
	HASH_DEL(*table, o);
	free(o->blob);
	free(o);
}

/* Stores @hdr under @kind and @id; NULL removes what is stored there. */
static int set_other(struct task_table *l, uint64_t kind, uint64_t id,
		     const struct perf_event_header *hdr)
{
	struct other **table = kind == OTHER_CGROUP ? &l->cgroups : &l->others;
	const struct other_key key = {kind, id};
	struct task_blob *blob = NULL;
	struct other *o;

	HASH_FIND(hh, *table, &key, sizeof(key), o);
	if (!hdr && o)
		other_remove(table, o);
	if (!hdr)
		return 0;
	blob = blob_new(l, hdr);
	if (!blob)
		return -ENOMEM;
	if (o) {
		free(o->blob);
		o->blob = blob;
		return 0;
	}
	o = calloc(1, sizeof(*o));
	if (o) {
		o->key = key;
		o->blob = blob;
		HASH_ADD(hh, *table, key, sizeof(o->key), o);
	}
	if (!o || !o->hh.tbl) {
		free(o);
		free(blob);
		return -ENOMEM;
	}
	return 0;
}

static int apply_cgroup(struct task_table *l, const struct perf_event_header *hdr, uint64_t id)
{
	int rc = set_other(l, OTHER_CGROUP, id, hdr);

	if (!rc && HASH_COUNT(l->cgroups) > CGROUPS_MAX)
		other_remove(&l->cgroups, l->cgroups);
	return rc;
}

static int apply_map(struct task_table *l, const struct perf_event_header *hdr,
		     const struct pd_mmap *mmap)
{
	uint16_t mode = hdr->misc & PERF_RECORD_MISC_CPUMODE_MASK;
	struct task_process *p;

	if (mode != PERF_RECORD_MISC_USER)
		return set_other(l, OTHER_MAP + mode, mmap->addr, hdr);
	p = process_find(l, mmap->pid);
	if (!p) {
		struct task *t = task_get(l, mmap->pid, mmap->tid);

		p = t ? t->process : NULL;
	}
	return p ? task_maps_add(&p->maps, hdr->misc, mmap) : -ENOMEM;
}

static int apply_bpf(struct task_table *l, const struct perf_event_header *hdr,
		     const struct pd_bpf_event *bpf)
{
	if (bpf->type == PERF_BPF_EVENT_PROG_LOAD)
		return set_other(l, OTHER_BPF, bpf->id, hdr);
	if (bpf->type == PERF_BPF_EVENT_PROG_UNLOAD)
		return set_other(l, OTHER_BPF, bpf->id, NULL);
	return 0;
}

bool task_table_wants(uint32_t type)
{
	switch (type) {
	case PERF_RECORD_MMAP:
	case PERF_RECORD_MMAP2:
	case PERF_RECORD_COMM:
	case PERF_RECORD_FORK:
	case PERF_RECORD_EXIT:
	case PERF_RECORD_NAMESPACES:
	case PERF_RECORD_KSYMBOL:
	case PERF_RECORD_BPF_EVENT:
	case PERF_RECORD_CGROUP: return true;
	default: return false;
	}
}

int task_table_apply(struct task_table *l, const struct perf_event_header *hdr)
{
	struct pd_record rec;

	if (hdr->size < sizeof(*hdr) + l->id_size || !task_table_wants(hdr->type) ||
	    pd_record_decode(hdr, &l->evsel, &rec))
		return 0;
	switch (hdr->type) {
	case PERF_RECORD_MMAP:
	case PERF_RECORD_MMAP2: return apply_map(l, hdr, &rec.mmap);
	case PERF_RECORD_COMM: return apply_comm(l, &rec.comm);
	case PERF_RECORD_FORK: return apply_fork(l, hdr, &rec.task);
	case PERF_RECORD_EXIT: return apply_exit(l, &rec.task);
	case PERF_RECORD_NAMESPACES: return apply_namespaces(l, hdr, &rec.namespaces);
	case PERF_RECORD_KSYMBOL:
		return set_other(l, OTHER_KSYMBOL, rec.ksymbol.addr,
				 rec.ksymbol.flags & 1 ? NULL : hdr);
	case PERF_RECORD_BPF_EVENT: return apply_bpf(l, hdr, &rec.bpf);
	default: return apply_cgroup(l, hdr, rec.cgroup.id);
	}
}

/* --- emitting ------------------------------------------------------------------------------------
 */

struct emitter {
	const struct task_table *live;
	uint64_t time;
	record_emit_fn *emit;
	void *arg;
	struct buf rec;
};

/* Appends the trailer to the record in e->rec and emits it. */
static int emit_finish(struct emitter *e)
{
	struct perf_event_header *hdr;
	int rc = buf_zero(&e->rec, e->live->id_size);

	if (rc)
		return rc;
	if (e->live->time_at)
		memcpy(e->rec.data + e->rec.len - e->live->time_at, &e->time, sizeof(e->time));
	hdr = (struct perf_event_header *)e->rec.data;
	hdr->size = (uint16_t)e->rec.len;
	return e->emit(hdr, e->arg);
}

static int emit_blob(struct emitter *e, const struct task_blob *blob)
{
	int rc;

	e->rec.len = 0;
	rc = buf_append(&e->rec, blob->bytes, blob->len);
	return rc ? rc : emit_finish(e);
}

/* Emits a record of @body and @name (NULL: none), with its NUL and padding. */
static int emit_body(struct emitter *e, uint32_t type, uint16_t misc, const void *body, size_t len,
		     const char *name)
{
	const struct perf_event_header hdr = {.type = type, .misc = misc};
	int rc;

	e->rec.len = 0;
	rc = buf_append(&e->rec, &hdr, sizeof(hdr));
	if (!rc)
		rc = buf_append(&e->rec, body, len);
	if (!rc && name) {
		rc = buf_append(&e->rec, name, strlen(name) + 1);
		if (!rc)
			rc = buf_zero(&e->rec, -e->rec.len & 7);
	}
	return rc ? rc : emit_finish(e);
}

static int emit_task(struct emitter *e, const struct task *t)
{
	const struct {
		uint32_t pid, ppid, tid, ptid;
		uint64_t time;
	} fork = {t->process->pid, t->ppid, t->tid, t->ptid, e->time};
	const uint16_t exec = e->time && t->tid == t->process->pid ? PERF_RECORD_MISC_COMM_EXEC : 0;
	const uint32_t comm[2] = {t->process->pid, t->tid};
	int rc = 0;

	if (t->forked)
		rc = emit_body(e, PERF_RECORD_FORK, PERF_RECORD_MISC_FORK_EXEC, &fork, sizeof(fork),
			       NULL);
	if (!rc && t->namespaces)
		rc = emit_blob(e, t->namespaces);
	if (!rc && t->comm)
		rc = emit_body(e, PERF_RECORD_COMM, exec, comm, sizeof(comm), t->comm);
	return rc;
}

/* Emits COMM and EXIT. */
static int emit_ended(struct emitter *e, const struct ended *ended)
{
	const uint32_t comm[2] = {ended->pid, ended->tid};
	const struct {
		uint32_t pid, ppid, tid, ptid;
		uint64_t time;
	} end = {ended->pid, ended->pid, ended->tid, ended->pid, e->time};
	int rc = emit_body(e, PERF_RECORD_COMM, 0, comm, sizeof(comm), ended->comm);

	return rc ? rc : emit_body(e, PERF_RECORD_EXIT, 0, &end, sizeof(end), NULL);
}

static int emit_map(struct emitter *e, uint32_t pid, const struct live_map *map)
{
	struct pd_mmap m = map->file->mmap;
	struct pd_mmap2_body body;
	uint16_t misc = map->file->misc & (uint16_t)~PERF_RECORD_MISC_MMAP_BUILD_ID;

	m.pid = m.tid = pid;
	m.addr = map->addr;
	m.len = map->end - map->addr;
	m.pgoff = map->pgoff;
	misc |= pd_mmap2_encode(&m, &body);
	return emit_body(e, PERF_RECORD_MMAP2, misc, &body, sizeof(body), m.filename);
}

/* Emits the leader (else the first thread), the maps, the other threads. */
static int emit_process(struct emitter *e, const struct task_process *p)
{
	const struct task *first = task_find(e->live, p->pid);
	int rc;

	if (!first || first->process != p)
		first = p->tasks;
	rc = emit_task(e, first);
	for (size_t i = 0; !rc && p->maps && i < p->maps->nr; i++)
		rc = emit_map(e, p->pid, &p->maps->map[i]);
	for (const struct task *t = p->tasks; !rc && t; t = t->next)
		if (t != first)
			rc = emit_task(e, t);
	return rc;
}

int task_table_emit(struct task_table *l, uint64_t time, record_emit_fn *emit, void *arg)
{
	struct emitter e = {.live = l, .time = time, .emit = emit, .arg = arg};
	int rc = 0;

	for (const struct other *o = l->others; !rc && o; o = o->hh.next)
		rc = emit_blob(&e, o->blob);
	for (const struct other *o = l->cgroups; !rc && o; o = o->hh.next)
		rc = emit_blob(&e, o->blob);
	for (const struct ended *t = l->ended; !rc && t; t = t->hh.next)
		if (time < t->time + ENDED_NS)
			rc = emit_ended(&e, t);
	for (const struct task_process *p = l->processes; !rc && p; p = p->hh.next)
		rc = emit_process(&e, p);
	buf_release(&e.rec);
	return rc;
}

/* --- stats and freeing ---------------------------------------------------------------------------
 */

void task_table_stats(const struct task_table *l, struct task_table_stats *ret)
{
	*ret = (struct task_table_stats){
		.tasks = HASH_COUNT(l->tasks),
		.processes = HASH_COUNT(l->processes),
		.others = HASH_COUNT(l->others) + HASH_COUNT(l->cgroups),
	};
	for (const struct task_process *p = l->processes; p; p = p->hh.next)
		if (p->maps)
			ret->maps += p->maps->nr / p->maps->refs;
}

void task_table_free(struct task_table *l)
{
	struct task *t, *next_task;
	struct ended *e, *next_ended;
	struct other *o, *next;

	if (!l)
		return;
	HASH_ITER (hh, l->tasks, t, next_task)
		task_remove(l, t);
	HASH_ITER (hh, l->ended, e, next_ended)
		ended_remove(l, e);
	HASH_ITER (hh, l->others, o, next)
		other_remove(&l->others, o);
	HASH_ITER (hh, l->cgroups, o, next)
		other_remove(&l->cgroups, o);
	free(l);
}
