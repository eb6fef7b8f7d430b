// SPDX-License-Identifier: Apache-2.0
#include "report/script/slices.h"

#include <errno.h>
#include <stdlib.h>

#include "base/buf.h"
#include "data/order/order_queue.h"
#include "data/scan/scan.h"

/*
 * A slice has at least SLICE_MIN bytes of samples, if there are as many: they and their text are in
 * the processor's cache. Longer slices, up to SLICE_MAX, are tried where chunks reach into too many
 * of them: all slices together may read half as much again as there is, and twice as much if they
 * have SLICE_LONG. HELD_MAX limits what one of them may have to hold; and where one has most of the
 * samples, one thread would do most of the work.
 */
#define SLICE_MIN  ((uint64_t)512 << 10)
#define SLICE_LONG ((uint64_t)2 << 20)
#define SLICE_MAX  ((uint64_t)8 << 20)
#define HELD_MAX   ((uint64_t)16 << 20)

/* Samples of chunks [first, last) of the list, if their time is in [from, to). */
struct slice {
	uint64_t from, to;
	size_t first, last;
	struct findings *findings; /* NULL: none */
};

struct slices {
	struct trace *trace;
	const struct trace_chunk **chunk; /* that have samples, by their first time */
	uint64_t *reach;		  /* the last time of a chunk and of all before it */
	size_t nr_chunks;
	struct slice *slice;
	size_t nr, cap;
	uint64_t samples; /* bytes in all chunks */
};

struct slice_walker {
	struct slices *slices;
	struct data_scan *scan; /* NULL: none yet */
	struct queue queue;
};

static int by_first_time(const void *pa, const void *pb)
{
	const struct trace_chunk *a = *(const struct trace_chunk *const *)pa;
	const struct trace_chunk *b = *(const struct trace_chunk *const *)pb;

	if (a->first_time != b->first_time)
		return a->first_time < b->first_time ? -1 : 1;
	return a < b ? -1 : a > b;
}

static int list_chunks(struct slices *s)
{
	const struct trace *t = s->trace;
	uint64_t reach = 0;

	s->chunk = calloc(t->nr_chunks + 1, sizeof(*s->chunk));
	s->reach = calloc(t->nr_chunks + 1, sizeof(*s->reach));
	if (!s->chunk || !s->reach)
		return -ENOMEM;
	for (size_t i = 0; i < t->nr_chunks; i++)
		if (t->chunks[i].sample_bytes)
			s->chunk[s->nr_chunks++] = &t->chunks[i];
	qsort(s->chunk, s->nr_chunks, sizeof(*s->chunk), by_first_time);
	for (size_t i = 0; i < s->nr_chunks; i++) {
		if (s->chunk[i]->last_time > reach)
			reach = s->chunk[i]->last_time;
		s->reach[i] = reach;
		s->samples += s->chunk[i]->sample_bytes;
	}
	return 0;
}

/* Whether chunk @i has samples at or behind @from. */
static bool reaches(const struct slices *s, size_t i, uint64_t from)
{
	return s->chunk[i]->last_time >= from;
}

/*
 * Adds the slice up to the first time of chunk @last, or to the end. Takes from *@reads the bytes
 * of samples that it has to read. Returns 0, -ENOMEM, or -ENOTSUP: it may be too large.
 */
static int add_slice(struct slices *s, size_t last, uint64_t *reads)
{
	const struct slice *before = s->nr ? &s->slice[s->nr - 1] : NULL;
	struct slice slice = {.last = last};
	uint64_t held = 0;

	slice.from = before ? before->to : 0;
	slice.to = last < s->nr_chunks ? s->chunk[last]->first_time : UINT64_MAX;
	slice.first = before ? before->first : 0;
	while (slice.first < last && s->reach[slice.first] < slice.from)
		slice.first++;
	for (size_t i = slice.first; i < last; i++)
		held += reaches(s, i, slice.from) ? s->chunk[i]->sample_bytes : 0;
	if (held > HELD_MAX || held > *reads || (held > 2 * SLICE_LONG && held > s->samples / 2))
		return -ENOTSUP;
	*reads -= held;
	if (array_grow(&s->slice, &s->cap, s->nr + 1, sizeof(*s->slice)))
		return -ENOMEM;
	s->slice[s->nr++] = slice;
	return 0;
}

/* Divides the time into slices of at least @size bytes. Returns as add_slice(). */
static int divide(struct slices *s, uint64_t size)
{
	uint64_t reads = s->samples + (size < SLICE_LONG ? s->samples / 2 : s->samples);
	uint64_t bytes = 0;
	int rc = 0;

	s->nr = 0;
	for (size_t i = 0; !rc && i < s->nr_chunks; i++) {
		uint64_t from = s->nr ? s->slice[s->nr - 1].to : 0;

		if (bytes >= size && s->chunk[i]->first_time > from) {
			rc = add_slice(s, i, &reads);
			bytes = 0;
		}
		bytes += s->chunk[i]->sample_bytes;
	}
	return rc || !s->nr_chunks ? rc : add_slice(s, s->nr_chunks, &reads);
}

int slices_new(struct trace *t, struct slices **ret)
{
	struct slices *s;
	int rc;

	if (t->itrace || t->untimed_samples || t->counts.untimed)
		return -ENOTSUP;
	s = calloc(1, sizeof(*s));
	if (!s)
		return -ENOMEM;
	s->trace = t;
	rc = list_chunks(s) ?: -ENOTSUP;
	for (uint64_t size = SLICE_MIN; rc == -ENOTSUP && size <= SLICE_MAX; size *= 2)
		rc = divide(s, size);
	if (rc)
		slices_free(s);
	else
		*ret = s;
	return rc;
}

void slices_free(struct slices *s)
{
	if (!s)
		return;
	for (size_t i = 0; i < s->nr; i++)
		findings_free(s->slice[i].findings);
	free(s->slice);
	free(s->chunk);
	free(s->reach);
	free(s);
}

size_t slices_count(const struct slices *s)
{
	return s->nr;
}

void slices_hand_in_findings(struct slices *s)
{
	for (size_t i = 0; i < s->nr; i++)
		if (s->slice[i].findings)
			findings_merge(s->slice[i].findings, s->trace->df);
}

int slice_walker_new(struct slices *s, struct slice_walker **ret)
{
	*ret = calloc_apart(1, sizeof(**ret));
	if (!*ret)
		return -ENOMEM;
	(*ret)->slices = s;
	return 0;
}

void slice_walker_free(struct slice_walker *w)
{
	if (!w)
		return;
	data_scan_free(w->scan);
	queue_release(&w->queue);
	free(w);
}

/* Queues the samples of @slice that @chunk has. */
static int read_chunk(struct slice_walker *w, const struct slice *slice,
		      const struct trace_chunk *chunk)
{
	const struct sweep_run *run = &chunk->run;
	struct data_record rec;
	int rc;

	if (w->scan)
		rc = data_scan_move(w->scan, run->segment, run->from, run->to);
	else
		rc = data_scan_new(w->slices->trace->df, run->segment, run->from, run->to, 0,
				   &w->scan);
	while (rc >= 0 && (rc = data_scan_next(w->scan, &rec)) > 0)
		if (rec.hdr->type == PERF_RECORD_SAMPLE && rec.time >= slice->from &&
		    rec.time < slice->to)
			rc = queue_push(&w->queue, &rec);
	return rc;
}

/* Gives the queued samples in order. */
static int give(struct slice_walker *w, struct slice *slice, walk_fn fn, void *arg)
{
	const struct queued *block;
	int rc = queue_sort(&w->queue);

	for (; !rc && (block = queue_peek(&w->queue)); queue_pop(&w->queue)) {
		const struct data_record rec = queued_record(block);

		rc = walk_visit(w->slices->trace, &slice->findings, &rec, fn, arg);
	}
	return rc;
}

int slice_walk(struct slice_walker *w, size_t i, walk_fn fn, void *arg)
{
	struct slices *s = w->slices;
	struct slice *slice = &s->slice[i];
	int rc = 0;

	queue_clear(&w->queue);
	for (size_t n = slice->first; rc >= 0 && n < slice->last; n++)
		if (reaches(s, n, slice->from))
			rc = read_chunk(w, slice, s->chunk[n]);
	walk_progress(s->trace, i + 1, s->nr);
	return rc < 0 ? rc : give(w, slice, fn, arg);
}
