// SPDX-License-Identifier: Apache-2.0
#include "auxtrace/recording/runs.h"

#include <errno.h>
#include <stdlib.h>

#include "auxtrace/recording/cuts.h"
#include "base/buf.h"

static int add_ring(struct aux_index *x, uint32_t idx, uint32_t cpu, uint32_t tid, uint64_t flags)
{
	if (array_grow(&x->rings, &x->cap_rings, x->nr_rings + 1, sizeof(*x->rings)))
		return -ENOMEM;
	x->rings[x->nr_rings++] = (struct aux_index_ring){
		.idx = idx, .cpu = cpu, .tid = tid, .aux_flags = flags, .first_run = x->nr_runs};
	return 0;
}

/* Appends a run to the newest ring. An empty one is left out. */
static int add_run(struct aux_index *x, const struct aux_run *run)
{
	struct aux_index_ring *ring = &x->rings[x->nr_rings - 1];
	struct aux_run *new;

	if (!run->len)
		return 0;
	if (array_grow(&x->runs, &x->cap_runs, x->nr_runs + 1, sizeof(*x->runs)))
		return -ENOMEM;
	new = &x->runs[x->nr_runs++];
	*new = *run;
	new->ring = (uint32_t)(x->nr_rings - 1);
	new->first_chunk = x->nr_chunks;
	x->nr_chunks += run->len / x->chunk + !!(run->len % x->chunk);
	ring->nr_runs++;
	return 0;
}

/* --- of pieces -----------------------------------------------------------------------------------
 */

/* Sets what the log says of the run's pieces. */
static void set_times(const struct aux_index *x, struct aux_run *run)
{
	const struct aux_piece *p = &x->pieces.pieces[run->first];

	if (p[0].take) {
		run->from = x->pieces.takes[p[0].take - 1].from;
		run->snapshot = x->pieces.takes[p[0].take - 1].number;
	}
	if (p[run->nr - 1].take)
		run->to = x->pieces.takes[p[run->nr - 1].take - 1].to;
}

/* Position of the end of the piece @i, whose padding may be overlapped by the next one. */
static uint64_t end_of(const struct aux_index *x, size_t i)
{
	const struct aux_piece *p = &x->pieces.pieces[i];
	uint64_t end = p->offset + p->size;

	return end > p->begin ? end : p->begin;
}

/* Makes runs of the pieces [@first, @end), which continue one another, between cuts. */
static int add_pieces(struct aux_index *x, size_t first, size_t end)
{
	const struct aux_piece *p = x->pieces.pieces;
	uint64_t at = p[first].offset, last = end_of(x, end - 1);
	struct aux_run run = {
		.cpu = x->pieces.rings[p[first].ring].cpu,
		.tid = x->pieces.rings[p[first].ring].tid,
	};
	int rc = 0;

	for (size_t i = first; !rc && at < last; at += run.len) {
		uint64_t cut = p[first].placed
				       ? aux_cuts_next(x, p[first].ring, p[first].life, at, last)
				       : last;

		while (i + 1 < end && p[i + 1].begin <= at)
			i++;
		run.first = i;
		run.offset = at;
		run.len = cut - at;
		for (run.nr = 1; i + run.nr < end && p[i + run.nr].begin < cut;)
			run.nr++;
		set_times(x, &run);
		rc = add_run(x, &run);
	}
	return rc;
}

static int add_all_pieces(struct aux_index *x)
{
	const struct aux_piece *p = x->pieces.pieces;
	int rc = 0;

	for (size_t i = 0, next; !rc && i < x->pieces.nr; i = next) {
		const struct aux_piece_ring *r = &x->pieces.rings[p[i].ring];

		if (!i || p[i].ring != p[i - 1].ring)
			rc = add_ring(x, r->idx, r->cpu, r->tid, r->aux_flags);
		for (next = i + 1; next < x->pieces.nr; next++)
			if (!aux_pieces_continue(&p[next - 1], &p[next]))
				break;
		if (!rc)
			rc = add_pieces(x, i, next);
	}
	return rc;
}

/* --- of samples ----------------------------------------------------------------------------------
 */

static int by_number(uint64_t a, uint64_t b)
{
	return a < b ? -1 : a > b;
}

static int by_time(const void *a, const void *b)
{
	const struct aux_sample *x = a, *y = b;

	return by_number(x->ring, y->ring)
		       ?: by_number(x->time, y->time)
		       ?: by_number(x->at, y->at);
}

static int add_all_samples(struct aux_index *x)
{
	uint64_t offset = 0;
	int rc = 0;

	if (x->nr_samples)
		qsort(x->samples, x->nr_samples, sizeof(*x->samples), by_time);
	for (size_t i = 0; !rc && i < x->nr_samples; i++) {
		const struct aux_sample *s = &x->samples[i];
		struct aux_run run = {
			.cpu = s->cpu,
			.tid = s->tid,
			.sampled = true,
			.first = i,
			.nr = 1,
			.len = s->size,
			.to = s->time,
		};

		/* Of a ring of a CPU, the thread is that of one sample. */
		if (!i || s->ring != s[-1].ring) {
			rc = add_ring(x, UINT32_MAX, s->cpu,
				      s->cpu == UINT32_MAX ? s->tid : UINT32_MAX, 0);
			offset = 0;
		}
		run.offset = offset;
		if (!rc)
			rc = add_run(x, &run);
		offset += s->size;
	}
	return rc;
}

int aux_runs_make(struct aux_index *x)
{
	return add_all_pieces(x) ?: add_all_samples(x);
}
