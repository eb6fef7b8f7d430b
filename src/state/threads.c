// SPDX-License-Identifier: Apache-2.0
/*
 * Threads, their names over time, and the address spaces of their processes.
 *
 * EXIT has no effect: the last name and the last maps are valid until the id is used again. Records
 * of other rings, and samples of a dying task, may still refer to them.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "state/state_priv.h"

/*
 * Returns the element of @array for @id, grown if needed; new elements are zero. NULL when out of
 * memory.
 */
static void *numbered(struct id_table *ids, uint32_t id, void *array, size_t *cap, size_t size)
{
	size_t before = *cap;
	uint32_t n = id_table_add(ids, id);
	unsigned char *base;

	if (n == ID_TABLE_NONE || array_grow(array, cap, (size_t)n + 1, size))
		return NULL;
	memcpy(&base, array, sizeof(base));
	if (*cap > before)
		memset(base + before * size, 0, (*cap - before) * size);
	return base + n * size;
}

struct space *threads_space_get(struct threads *t, uint32_t pid)
{
	return numbered(&t->pids, pid, &t->processes, &t->process_capacity, sizeof(*t->processes));
}

struct state_task threads_task(const struct threads *t, size_t index)
{
	const struct thread *thread = &t->threads[index];
	const struct comm *last = thread->count ? &thread->comms[thread->count - 1] : NULL;

	return (struct state_task){
		.pid = last ? last->pid : thread->pid,
		.tid = thread->tid,
		.ptid = thread->ptid,
		.comm = last && last->name ? last->name
			: thread->tid	   ? NULL
					   : "swapper",
	};
}

const struct space *threads_space(const struct threads *t, uint32_t pid)
{
	uint32_t n = id_table_find(&t->pids, pid);

	return n == ID_TABLE_NONE ? NULL : &t->processes[n];
}

/* Returns the newest entry of a thread, or NULL. */
static const struct comm *last_comm(const struct threads *t, uint32_t tid)
{
	uint32_t n = id_table_find(&t->tids, tid);

	return n == ID_TABLE_NONE || !t->threads[n].last ? NULL : &t->threads[n].last->c;
}

/* Returns the thread, made if needed. NULL when out of memory. */
static struct thread *get_thread(struct threads *t, uint32_t tid, uint32_t pid)
{
	uint32_t before = id_table_count(&t->tids);
	struct thread *thread =
		numbered(&t->tids, tid, &t->threads, &t->thread_capacity, sizeof(*t->threads));

	if (thread && id_table_count(&t->tids) > before) {
		thread->pid = pid;
		thread->tid = tid;
		thread->ptid = UINT32_MAX;
	}
	return thread;
}

static int add_comm(struct threads *t, uint32_t tid, const struct comm *comm)
{
	struct thread *thread = get_thread(t, tid, comm->pid);
	struct comm_link *link;

	if (!thread)
		return -ENOMEM;
	if (thread->last && thread->last->c.pid == comm->pid && thread->last->c.name == comm->name)
		return 0;
	link = arena_alloc(&t->links, sizeof(*link));
	if (!link)
		return -ENOMEM;
	link->c = *comm;
	link->prev = thread->last;
	thread->last = link;
	thread->count++;
	return 0;
}

int threads_comm(struct threads *t, struct dso_table *names, struct space_pool *pool,
		 const struct pd_comm *comm, struct moment at)
{
	struct comm c = {.at = at, .pid = comm->pid};
	struct space *space;
	int rc;

	c.name = dso_intern(names, comm->comm);
	if (!c.name)
		return -ENOMEM;
	rc = add_comm(t, comm->tid, &c);
	if (rc || !comm->exec)
		return rc;
	space = threads_space_get(t, comm->pid);
	return space ? space_clear(pool, space, true, at) : -ENOMEM;
}

int threads_fork(struct threads *t, struct space_pool *pool, const struct pd_task *task,
		 bool share_maps, struct moment at)
{
	const struct comm *parent = last_comm(t, task->ptid);
	struct comm c = {.at = at, .pid = task->pid};
	struct space *from, *to;
	int rc;

	/*
	 * Otherwise the id is a thread of another process, whose FORK was lost: there is no name to
	 * inherit.
	 */
	if (parent && parent->pid == task->ppid)
		c.name = parent->name;
	rc = add_comm(t, task->tid, &c);
	if (!rc && !get_thread(t, task->ptid, task->ppid))
		rc = -ENOMEM;
	if (rc)
		return rc;
	t->threads[id_table_find(&t->tids, task->tid)].ptid = task->ptid;
	if (task->pid == task->ppid)
		return 0;
	if (!threads_space_get(t, task->ppid) || !threads_space_get(t, task->pid))
		return -ENOMEM;
	/* Look up both again: adding the second may have moved the first. */
	from = threads_space_get(t, task->ppid);
	to = threads_space_get(t, task->pid);
	return share_maps ? space_fork(pool, to, from, at) : space_clear(pool, to, false, at);
}

static int freeze_comms(struct threads *t)
{
	const struct comm_link *link;
	size_t i, total = 0;
	uint32_t n;

	for (i = 0; i < id_table_count(&t->tids); i++)
		total += t->threads[i].count;
	t->comms = calloc(total ? total : 1, sizeof(*t->comms));
	if (!t->comms)
		return -ENOMEM;
	t->comm_count = total;
	for (i = total = 0; i < id_table_count(&t->tids); i++) {
		struct thread *thread = &t->threads[i];

		thread->comms = t->comms + total;
		n = thread->count;
		for (link = thread->last; link; link = link->prev)
			thread->comms[--n] = link->c;
		total += thread->count;
		thread->last = NULL;
	}
	arena_release(&t->links);
	return 0;
}

int threads_freeze(struct threads *t)
{
	size_t i, total = 0;
	int rc = freeze_comms(t);

	if (rc)
		return rc;
	for (i = 0; i < id_table_count(&t->pids); i++)
		total += t->processes[i].count;
	t->versions = calloc(total ? total : 1, sizeof(*t->versions));
	if (!t->versions)
		return -ENOMEM;
	t->version_count = total;
	for (i = total = 0; i < id_table_count(&t->pids); i++) {
		space_freeze(&t->processes[i], t->versions + total);
		total += t->processes[i].count;
	}
	return 0;
}

void threads_release(struct threads *t)
{
	arena_release(&t->links);
	id_table_release(&t->tids);
	id_table_release(&t->pids);
	free(t->threads);
	free(t->processes);
	free(t->comms);
	free(t->versions);
}

/* Returns the entry of thread @tid as of @at, or NULL. */
static const struct comm *comm_as_of(const struct threads *t, uint32_t tid, struct moment at)
{
	uint32_t low = 0, high, mid, n = id_table_find(&t->tids, tid);
	const struct comm_link *link;
	const struct thread *thread;

	if (n == ID_TABLE_NONE)
		return NULL;
	thread = &t->threads[n];
	if (!thread->comms) {
		for (link = thread->last; link && moment_before(at, link->c.at);)
			link = link->prev;
		return link ? &link->c : NULL;
	}
	for (high = thread->count; low < high;) {
		mid = low + (high - low) / 2;
		if (moment_before(at, thread->comms[mid].at))
			high = mid;
		else
			low = mid + 1;
	}
	return low ? &thread->comms[low - 1] : NULL;
}

const char *threads_comm_find(const struct threads *t, uint32_t tid, struct moment at)
{
	const struct comm *comm = comm_as_of(t, tid, at);

	return comm ? comm->name : NULL;
}

const char *threads_comm_span(const struct threads *t, uint32_t tid, struct moment at,
			      struct moment *ret_from, struct moment *ret_until)
{
	const struct comm *comm = comm_as_of(t, tid, at), *next;
	uint32_t n = id_table_find(&t->tids, tid);
	const struct thread *thread = n == ID_TABLE_NONE ? NULL : &t->threads[n];

	*ret_from = comm ? comm->at : (struct moment){0};
	*ret_until = (struct moment){UINT64_MAX, UINT64_MAX};
	if (thread && !thread->comms) {
		*ret_from = *ret_until = at;
	} else if (thread) {
		next = comm ? comm + 1 : thread->comms;
		if (next < thread->comms + thread->count)
			*ret_until = next->at;
	}
	return comm ? comm->name : NULL;
}

bool threads_pid_find(const struct threads *t, uint32_t tid, struct moment at, uint32_t *ret)
{
	const struct comm *comm = comm_as_of(t, tid, at);

	if (comm)
		*ret = comm->pid;
	return comm;
}

bool threads_comm_is_steady(const struct threads *t, uint32_t tid, struct moment first,
			    struct moment last)
{
	return comm_as_of(t, tid, first) == comm_as_of(t, tid, last);
}
