// SPDX-License-Identifier: Apache-2.0
#include "record/live/sideband.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "perfdata/record.h"

/* Beyond these bytes, records older than AGE_NS are applied without waiting for a flush. */
#define WAITING_MAX ((size_t)16 << 20)
#define AGE_NS	    2000000000ull

struct waiting {
	uint64_t time;
	uint64_t number; /* in the order of arrival, for equal times */
	size_t at;	 /* in records */
};

struct sideband {
	struct pd_evsel evsel; /* for the place of the time */
	pthread_mutex_t lock;  /* guards what follows */
	struct task_table *live;
	struct waiting *waiting;
	size_t nr, capacity;
	struct buf records;
	size_t full; /* bytes of records at which the old ones are applied */
	uint64_t newest;
	uint64_t numbers;
	uint64_t applied; /* records up to this time */
	bool log;
	uint64_t emitted;	 /* log: a snapshot has emitted the records below this number */
	bool unemitted;		 /* log: a record was applied that no snapshot has emitted */
	uint64_t emitted_before; /* both before the last snapshot */
	bool unemitted_before;
	uint64_t horizon; /* once all rings were passed again, no older record comes */
};

struct sideband *sideband_new(const struct pd_attr *attr)
{
	struct sideband *s = calloc(1, sizeof(*s));

	if (!s)
		return NULL;
	pthread_mutex_init(&s->lock, NULL);
	s->evsel.attr = *attr;
	s->full = WAITING_MAX;
	s->live = task_table_new(attr);
	if (s->live)
		return s;
	sideband_free(s);
	return NULL;
}

struct sideband *sideband_new_log(const struct pd_attr *attr)
{
	struct sideband *s = sideband_new(attr);

	if (s)
		s->log = true;
	return s;
}

void sideband_free(struct sideband *s)
{
	if (!s)
		return;
	task_table_free(s->live);
	free(s->waiting);
	buf_release(&s->records);
	pthread_mutex_destroy(&s->lock);
	free(s);
}

static const struct perf_event_header *record_of(const struct sideband *s, const struct waiting *w)
{
	return (const struct perf_event_header *)(s->records.data + w->at);
}

static int by_time(const void *a, const void *b)
{
	const struct waiting *x = a, *y = b;

	if (x->time != y->time)
		return x->time < y->time ? -1 : 1;
	return x->number < y->number ? -1 : x->number > y->number;
}

static void sort(struct sideband *s)
{
	if (s->nr)
		qsort(s->waiting, s->nr, sizeof(*s->waiting), by_time);
}

/* Drops the records before waiting[@from]. */
static int keep_from(struct sideband *s, size_t from)
{
	struct buf rest = {0};
	int rc = 0;

	for (size_t i = from; !rc && i < s->nr; i++) {
		const struct perf_event_header *hdr = record_of(s, &s->waiting[i]);

		s->waiting[i].at = rest.len;
		rc = buf_append(&rest, hdr, hdr->size);
	}
	if (rc) {
		buf_release(&rest);
		return rc;
	}
	s->nr -= from;
	if (s->nr)
		memmove(s->waiting, s->waiting + from, s->nr * sizeof(*s->waiting));
	buf_release(&s->records);
	s->records = rest;
	return 0;
}

static int apply_until(struct sideband *s, uint64_t time)
{
	size_t i;
	int rc = 0;

	sort(s);
	for (i = 0; !rc && i < s->nr && s->waiting[i].time <= time; i++) {
		rc = task_table_apply(s->live, record_of(s, &s->waiting[i]));
		s->unemitted |= s->waiting[i].number >= s->emitted;
	}
	if (i && s->applied < time)
		s->applied = time;
	if (!rc && i)
		rc = keep_from(s, i);
	s->full = s->records.len + WAITING_MAX;
	return rc;
}

static int add(struct sideband *s, const struct perf_event_header *hdr)
{
	struct waiting w = {pd_record_time(hdr, &s->evsel), s->numbers, s->records.len};
	int rc = 0;

	/* A log gives a record that comes too late the time now: emitted state must not change. */
	if (s->log && w.time < s->applied)
		w.time = s->newest;
	if (w.time > s->newest)
		s->newest = w.time;
	if (array_grow(&s->waiting, &s->capacity, s->nr + 1, sizeof(*s->waiting)) ||
	    buf_append(&s->records, hdr, hdr->size))
		return -ENOMEM;
	s->waiting[s->nr++] = w;
	s->numbers++;
	if (!s->log && s->records.len > s->full)
		rc = apply_until(s, s->newest > AGE_NS ? s->newest - AGE_NS : 0);
	return rc;
}

int sideband_add(struct sideband *s, const struct perf_event_header *hdr)
{
	int rc;

	if (!s->log && !task_table_wants(hdr->type))
		return 0;
	pthread_mutex_lock(&s->lock);
	rc = add(s, hdr);
	pthread_mutex_unlock(&s->lock);
	return rc;
}

int sideband_settle(struct sideband *s)
{
	return sideband_settle_until(s, UINT64_MAX);
}

int sideband_settle_until(struct sideband *s, uint64_t time)
{
	int rc;

	time = time > SIDEBAND_GRACE_NS ? time - SIDEBAND_GRACE_NS : 0;
	pthread_mutex_lock(&s->lock);
	rc = apply_until(s, time < s->horizon ? time : s->horizon);
	s->horizon = s->newest > SIDEBAND_GRACE_NS ? s->newest - SIDEBAND_GRACE_NS : 0;
	pthread_mutex_unlock(&s->lock);
	return rc;
}

int sideband_emit(struct sideband *s, record_emit_fn *emit, void *arg)
{
	int rc;

	pthread_mutex_lock(&s->lock);
	sort(s);
	rc = task_table_emit(s->live, 0, emit, arg);
	for (size_t i = 0; !rc && i < s->nr; i++)
		rc = emit(record_of(s, &s->waiting[i]), arg);
	pthread_mutex_unlock(&s->lock);
	return rc;
}

static int keep_copy(const struct perf_event_header *hdr, void *arg)
{
	return buf_append(arg, hdr, hdr->size);
}

/* Runs without the lock, because the output may be slow. */
static int emit_copies(const struct buf *copies, record_emit_fn *emit, void *arg)
{
	const struct perf_event_header *hdr;
	int rc = 0;

	for (size_t at = 0; !rc && at < copies->len; at += hdr->size) {
		hdr = (const void *)(copies->data + at);
		rc = emit(hdr, arg);
	}
	return rc;
}

int sideband_snapshot(struct sideband *s, bool again, record_emit_fn *emit, void *arg)
{
	struct buf copies = {0};
	int rc = 0;

	pthread_mutex_lock(&s->lock);
	sort(s);
	if (again || s->unemitted)
		rc = task_table_emit(s->live, s->applied, keep_copy, &copies);
	for (size_t i = 0; !rc && i < s->nr; i++)
		if (again || s->waiting[i].number >= s->emitted)
			rc = keep_copy(record_of(s, &s->waiting[i]), &copies);
	s->emitted_before = s->emitted;
	s->unemitted_before = s->unemitted;
	s->emitted = s->numbers;
	s->unemitted = false;
	pthread_mutex_unlock(&s->lock);
	if (!rc)
		rc = emit_copies(&copies, emit, arg);
	buf_release(&copies);
	return rc;
}

void sideband_snapshot_cancel(struct sideband *s)
{
	pthread_mutex_lock(&s->lock);
	s->emitted = s->emitted_before;
	s->unemitted |= s->unemitted_before;
	pthread_mutex_unlock(&s->lock);
}

uint64_t sideband_since(struct sideband *s, size_t bytes)
{
	uint64_t time = 0;
	size_t sum = 0, i;

	pthread_mutex_lock(&s->lock);
	sort(s);
	for (i = s->nr; i && !time; i--) {
		sum += record_of(s, &s->waiting[i - 1])->size + sizeof(*s->waiting);
		if (sum > bytes)
			time = s->waiting[i - 1].time + 1;
	}
	pthread_mutex_unlock(&s->lock);
	return time;
}

size_t sideband_bytes(struct sideband *s)
{
	size_t bytes;

	pthread_mutex_lock(&s->lock);
	bytes = s->records.len + s->nr * sizeof(*s->waiting);
	pthread_mutex_unlock(&s->lock);
	return bytes;
}

void sideband_stats(struct sideband *s, struct task_table_stats *ret, size_t *ret_waiting)
{
	pthread_mutex_lock(&s->lock);
	task_table_stats(s->live, ret);
	*ret_waiting = s->nr;
	pthread_mutex_unlock(&s->lock);
}
