// SPDX-License-Identifier: Apache-2.0
#include "record/chains/task_spaces.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <pthread.h>
#include <stdlib.h>

#include "base/buf.h"
#include "record/live/task_table.h"
#include "sys/kernel/thread.h"

/* The history of maps may take so much, or twice what lives, before it is made again. */
#define STATE_BYTES ((size_t)32 << 20)
/* The state refuses records beyond this: it is made again before. */
#define STATE_MOST ((size_t)256 << 20)
/* Bytes of records that may wait until samples need them. */
#define WAITING_MAX ((size_t)1 << 20)

struct waiting_record {
	uint64_t time;
	uint64_t number; /* in the order of arrival, for equal times */
	size_t at;	 /* in records */
};

struct task_spaces {
	struct pd_evsel evsel;
	void (*forgotten)(void *arg);
	void *arg;
	void (*gather)(void *arg); /* or NULL */
	void *gather_arg;

	pthread_mutex_t lock; /* guards the records that wait */
	struct buf records;
	struct waiting_record *waiting;
	size_t nr, capacity;
	uint64_t numbers;

	pthread_rwlock_t reading; /* guards what follows */
	struct state *state;
	struct task_table *tasks;
	size_t most;	     /* bytes; the state refuses records beyond */
	size_t least, limit; /* bytes; @limit: of the state before it is made again */
	uint64_t applied;    /* time of the newest record */
	uint64_t since, number, seq;
	int failed; /* negative errno */
};

struct task_spaces *task_spaces_new(const struct pd_attr *attr, void (*forgotten)(void *arg),
				    void *arg)
{
	struct task_spaces *s = calloc(1, sizeof(*s));

	if (!s)
		return NULL;
	s->evsel.attr = *attr;
	s->forgotten = forgotten;
	s->arg = arg;
	thread_mutex_init(&s->lock);
	pthread_rwlock_init(&s->reading, NULL);
	s->state = state_new();
	s->tasks = task_table_new(attr);
	if (!s->state || !s->tasks) {
		task_spaces_free(s);
		return NULL;
	}
	task_spaces_limit(s, STATE_BYTES, STATE_MOST);
	return s;
}

void task_spaces_free(struct task_spaces *s)
{
	if (!s)
		return;
	state_free(s->state);
	task_table_free(s->tasks);
	free(s->waiting);
	buf_release(&s->records);
	pthread_rwlock_destroy(&s->reading);
	pthread_mutex_destroy(&s->lock);
	free(s);
}

void task_spaces_gather_by(struct task_spaces *s, void (*gather)(void *arg), void *arg)
{
	s->gather = gather;
	s->gather_arg = arg;
}

void task_spaces_limit(struct task_spaces *s, size_t least, size_t most)
{
	s->least = s->limit = least;
	s->most = most;
	state_limit(s->state, most);
}

static bool changes_space(const struct perf_event_header *hdr)
{
	switch (hdr->type) {
	case PERF_RECORD_MMAP:
	case PERF_RECORD_MMAP2:
		return (hdr->misc & PERF_RECORD_MISC_CPUMODE_MASK) == PERF_RECORD_MISC_USER;
	case PERF_RECORD_COMM:
	case PERF_RECORD_FORK:
	case PERF_RECORD_EXIT: return true;
	default: return false;
	}
}

/* --- the state; all under the lock for writing ---------------------------------------------------
 */

static int apply(struct task_spaces *s, const struct perf_event_header *hdr, uint64_t time)
{
	struct pd_record rec;

	if (pd_record_decode(hdr, &s->evsel, &rec))
		return 0;
	return state_apply(s->state, &rec, (struct moment){time, s->seq++});
}

static int apply_live(const struct perf_event_header *hdr, void *arg)
{
	return changes_space(hdr) ? apply(arg, hdr, 0) : 0;
}

/*
 * Returns how large the state may grow. What one batch of records adds (WAITING_MAX, and what was
 * gathered last) fits between this and what the state refuses; if not, the state is made again.
 */
static size_t limit_of(const struct task_spaces *s)
{
	size_t limit = 2 * state_memory(s->state);

	if (limit < s->least)
		limit = s->least;
	return limit < s->most / 4 * 3 ? limit : s->most / 4 * 3;
}

/*
 * Makes the state again from what lives now. Returns 0, -ENOMEM, or -E2BIG if that leaves too
 * little room for a history: it would be made again all the time.
 */
static int make_again(struct task_spaces *s)
{
	struct state *old = s->state;
	int rc;

	s->state = state_new();
	if (!s->state) {
		s->state = old;
		return -ENOMEM;
	}
	s->forgotten(s->arg);
	state_free(old);
	state_limit(s->state, s->most);
	s->seq = 0;
	rc = task_table_emit(s->tasks, 0, apply_live, s);
	s->since = s->applied;
	s->number++;
	s->limit = limit_of(s);
	if (!rc && (state_refused(s->state) || state_memory(s->state) > s->most / 2))
		rc = -E2BIG;
	return rc;
}

static int by_time(const void *a, const void *b)
{
	const struct waiting_record *x = a, *y = b;

	if (x->time != y->time)
		return x->time < y->time ? -1 : 1;
	return x->number < y->number ? -1 : x->number > y->number;
}

static int apply_all(struct task_spaces *s, const struct buf *records,
		     const struct waiting_record *waiting, size_t nr)
{
	int rc = 0;

	for (size_t i = 0; !rc && i < nr; i++) {
		const struct perf_event_header *hdr = (const void *)(records->data + waiting[i].at);

		rc = apply(s, hdr, waiting[i].time);
		if (!rc)
			rc = task_table_apply(s->tasks, hdr);
		if (waiting[i].time > s->applied)
			s->applied = waiting[i].time;
	}
	if (!rc && (state_refused(s->state) || state_memory(s->state) > s->limit))
		rc = make_again(s);
	return rc;
}

static void gather(struct task_spaces *s)
{
	if (s->gather)
		s->gather(s->gather_arg);
}

/*
 * Gathers again after the wait for the lock. So a record that is applied too late was written in
 * the moment between two rings.
 */
static int apply_waiting(struct task_spaces *s)
{
	struct buf records;
	struct waiting_record *waiting;
	size_t nr;
	int rc;

	pthread_rwlock_wrlock(&s->reading);
	gather(s);
	pthread_mutex_lock(&s->lock);
	records = s->records;
	waiting = s->waiting;
	nr = s->nr;
	s->records = (struct buf){0};
	s->waiting = NULL;
	s->nr = s->capacity = 0;
	pthread_mutex_unlock(&s->lock);
	if (nr)
		qsort(waiting, nr, sizeof(*waiting), by_time);
	if (!s->failed)
		s->failed = apply_all(s, &records, waiting, nr);
	rc = s->failed;
	pthread_rwlock_unlock(&s->reading);
	buf_release(&records);
	free(waiting);
	return rc;
}

/* --- any thread ----------------------------------------------------------------------------------
 */

int task_spaces_add(struct task_spaces *s, const struct perf_event_header *hdr)
{
	struct waiting_record w = {.time = pd_record_time(hdr, &s->evsel)};
	int rc = 0;

	if (!changes_space(hdr))
		return 0;
	pthread_mutex_lock(&s->lock);
	w.number = s->numbers++;
	w.at = s->records.len;
	if (array_grow(&s->waiting, &s->capacity, s->nr + 1, sizeof(*s->waiting)) ||
	    buf_append(&s->records, hdr, hdr->size))
		rc = -ENOMEM;
	else
		s->waiting[s->nr++] = w;
	pthread_mutex_unlock(&s->lock);
	return rc;
}

/* Returns the bytes of records that wait. */
static size_t waiting_bytes(struct task_spaces *s)
{
	size_t bytes;

	pthread_mutex_lock(&s->lock);
	bytes = s->records.len;
	pthread_mutex_unlock(&s->lock);
	return bytes;
}

int task_spaces_settle(struct task_spaces *s)
{
	gather(s);
	return waiting_bytes(s) > WAITING_MAX ? apply_waiting(s) : 0;
}

int task_spaces_acquire(struct task_spaces *s, struct task_spaces_view *ret)
{
	int rc;

	gather(s);
	rc = waiting_bytes(s) ? apply_waiting(s) : 0;
	if (rc)
		return rc;
	pthread_rwlock_rdlock(&s->reading);
	rc = s->failed;
	if (rc) {
		pthread_rwlock_unlock(&s->reading);
		return rc;
	}
	*ret = (struct task_spaces_view){s->state, s->since, s->number};
	return 0;
}

void task_spaces_release(struct task_spaces *s)
{
	pthread_rwlock_unlock(&s->reading);
}

size_t task_spaces_memory(struct task_spaces *s)
{
	size_t bytes;

	pthread_rwlock_rdlock(&s->reading);
	bytes = state_memory(s->state);
	pthread_rwlock_unlock(&s->reading);
	return bytes;
}
