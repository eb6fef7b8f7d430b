// SPDX-License-Identifier: Apache-2.0
#include "report/trace/walk.h"

#include <errno.h>
#include <stdlib.h>

#include "data/order/order.h"
#include "report/trace/itrace.h"
#include "report/trace/itrace_held.h"
#include "report/trace/itrace_stream.h"

/* Less than this bounds what is sorted in memory, which may double for a moment. */
#define MUCH_MEMORY ((size_t)256 << 20)

#define PROGRESS_EVERY 4096 /* records */

static int note_unknown(struct findings **findings, const struct data_record *rec)
{
	if (!*findings)
		*findings = findings_new();
	if (!*findings)
		return -ENOMEM;
	if (!rec->evsel)
		findings_add(*findings, DATA_DAMAGED, rec->segment, rec->offset,
			     "sample of an event that the recording does not describe");
	else
		findings_add(*findings, DATA_DAMAGED, rec->segment, rec->offset,
			     "sample of %u bytes: a field does not fit its record", rec->hdr->size);
	return 0;
}

/* Whether the snapshot that is wanted has @rec. */
static bool is_in_snapshot(const struct trace *t, const struct data_record *rec)
{
	return !t->opts.snapshot ||
	       trace_wants_snapshot(&t->opts, snapshots_of(&t->snapshots, rec));
}

static int visit(const struct trace *t, struct findings **findings, const struct data_record *rec,
		 struct itrace_past *past, walk_fn fn, void *arg)
{
	struct walk_sample ws;

	if (!is_in_snapshot(t, rec))
		return 0;
	if (!rec->evsel || pd_sample_decode(rec->hdr, rec->evsel, &ws.s, NULL) < 0)
		return note_unknown(findings, rec);
	/* Not by an initializer, which would set the large @s twice. */
	ws.rec = rec;
	ws.evsel = rec->evsel;
	ws.made = NULL;
	ws.exec = ws.other = false;
	ws.text = NULL;
	ws.run = 0;
	ws.stack = NULL;
	ws.wait = NULL;
	itrace_add_past(past, &ws);
	return fn(&ws, arg);
}

int walk_visit(const struct trace *t, struct findings **findings, const struct data_record *rec,
	       walk_fn fn, void *arg)
{
	return visit(t, findings, rec, NULL, fn, arg);
}

void walk_progress(const struct trace *t, uint64_t done, uint64_t total)
{
	if (t->opts.progress)
		t->opts.progress(2, done, total, t->opts.progress_arg);
}

struct walker {
	struct trace *trace;
	struct data_scan *scan; /* NULL: none yet */
	struct itrace_worker itrace;
};

int walker_new(struct trace *t, struct walker **ret)
{
	*ret = calloc(1, sizeof(**ret));
	if (!*ret)
		return -ENOMEM;
	(*ret)->trace = t;
	return 0;
}

void walker_free(struct walker *w)
{
	if (!w)
		return;
	data_scan_free(w->scan);
	itrace_worker_release(&w->itrace);
	free(w);
}

/* Moves the walker's scan to @run. */
static int move_scan(struct walker *w, const struct sweep_run *run)
{
	if (w->scan)
		return data_scan_move(w->scan, run->segment, run->from, run->to);
	return data_scan_new(w->trace->df, run->segment, run->from, run->to, 0, &w->scan);
}

int walk_chunk(struct walker *w, struct trace_chunk *chunk, walk_fn fn, void *arg)
{
	const struct sweep_run *run = &chunk->run;
	struct trace *t = w->trace;
	struct data_record rec;
	unsigned int n = 0;
	uint64_t done, total;
	int rc;

	if (chunk->is_itrace) {
		rc = itrace_decode_chunk(t->itrace, &w->itrace, run->from);
		chunk->findings = itrace_take_findings(&w->itrace);
		return rc < 0 ? rc : walk_decoded(w, fn, arg);
	}
	if (t->opts.snapshot &&
	    !snapshots_reach(&t->snapshots, t->opts.snapshot, trace_last_snapshot(&t->opts), run))
		return 0;
	rc = move_scan(w, run);
	if (rc < 0)
		return rc;
	while ((rc = data_scan_next(w->scan, &rec)) > 0) {
		if (rec.hdr->type == PERF_RECORD_SAMPLE) {
			rc = walk_visit(t, &chunk->findings, &rec, fn, arg);
			if (rc < 0)
				break;
		}
		if (++n % PROGRESS_EVERY == 0) {
			data_scan_progress(w->scan, &done, &total);
			walk_progress(t, run->from + done, run->from + total);
		}
	}
	return rc;
}

int walk_decode(struct walker *w, struct trace_chunk *chunk, struct digest *ret)
{
	int rc = itrace_decode_chunk(w->trace->itrace, &w->itrace, chunk->run.from);

	chunk->findings = itrace_take_findings(&w->itrace);
	if (rc >= 0)
		itrace_digest(w->trace->itrace, &w->itrace.list, ret);
	if (rc >= 0 && w->itrace.decoding.more) {
		digest_release(ret);
		ret->given_up = true;
	}
	return rc;
}

int walk_decoded(struct walker *w, walk_fn fn, void *arg)
{
	struct itrace *i = w->trace->itrace;
	int rc = itrace_visit_all(i, &w->itrace.list, fn, arg);

	while (rc >= 0 && w->itrace.decoding.more) {
		rc = itrace_decode_rest(i, &w->itrace);
		if (rc >= 0)
			rc = itrace_visit_all(i, &w->itrace.list, fn, arg);
	}
	return rc;
}

void walk_hand_in_findings(struct trace *t)
{
	for (size_t i = 0; i < t->nr_chunks; i++)
		if (t->chunks[i].findings)
			findings_merge(t->chunks[i].findings, t->df);
}

static void ordered_progress(uint64_t done, uint64_t total, void *arg)
{
	walk_progress(arg, done, total);
}

/* What walk_ordered() merges. */
struct ordered {
	struct trace *trace;
	const struct walk_takers *takers;
	struct findings *findings;
	struct order *order;
	struct itrace_stream *stream; /* NULL: no hardware trace is decoded */
};

int walk_span_each(const struct walk_span *span, walk_fn fn, void *arg)
{
	int rc = itrace_visit_part(span->itrace, &span->held->list, span->from, span->nr, fn, arg);

	return rc < 0 ? rc : 0;
}

/* Gives the samples of the hardware trace that are earlier than @before. */
static int visit_itrace(struct ordered *o, uint64_t before)
{
	const struct walk_takers *take = o->takers;
	struct walk_span span;
	uint64_t time;
	int rc = 0;

	while (rc >= 0 && o->stream && (rc = itrace_stream_peek(o->stream, &time)) > 0 &&
	       (time < before || before == UINT64_MAX)) {
		if (take->span && itrace_stream_take_span(o->stream, before, &span))
			rc = take->span(&span, take->arg);
		else
			rc = itrace_stream_take(o->stream, take->sample, take->arg);
	}
	return rc < 0 ? rc : 0;
}

static int visit_sample(struct ordered *o, const struct data_record *rec, struct itrace_past *past)
{
	int rc = visit_itrace(o, rec->at.time);

	if (rc < 0)
		return rc;
	return visit(o->trace, &o->findings, rec, past, o->takers->sample, o->takers->arg);
}

static bool is_exec(const struct data_record *rec)
{
	return rec->hdr->type == PERF_RECORD_COMM && rec->hdr->misc & PERF_RECORD_MISC_COMM_EXEC;
}

/* A program that a thread executes returns to no caller of the one before. */
static int visit_exec(struct ordered *o, const struct data_record *rec, const struct pd_record *r,
		      struct itrace_past *past)
{
	struct walk_sample ws = {.rec = rec, .exec = true};
	int rc = past ? itrace_past_exec(past, r->comm.tid) : 0;

	ws.s.pid = r->comm.pid;
	ws.s.tid = r->comm.tid;
	ws.s.cpu = UINT32_MAX;
	return rc < 0 ? rc : o->takers->sample(&ws, o->takers->arg);
}

static int visit_record(struct ordered *o, const struct data_record *rec, struct itrace_past *past)
{
	struct pd_record r;
	int rc = visit_itrace(o, rec->at.time);

	if (rc < 0 || pd_record_decode(rec->hdr, rec->evsel, &r) < 0)
		return rc;
	if (o->stream && is_exec(rec))
		rc = visit_exec(o, rec, &r, past);
	if (rc >= 0 && o->takers->record && is_in_snapshot(o->trace, rec))
		rc = o->takers->record(rec, &r, o->takers->arg);
	return rc;
}

static int visit_all(struct ordered *o, struct error *err)
{
	struct itrace_past *past = o->stream ? itrace_stream_past(o->stream) : NULL;
	struct data_record rec;
	int rc;

	while ((rc = order_next(o->order, &rec, err)) > 0) {
		if (rec.hdr->type == PERF_RECORD_SAMPLE)
			rc = visit_sample(o, &rec, past);
		else if (o->takers->record || (o->stream && is_exec(&rec)))
			rc = visit_record(o, &rec, past);
		if (rc < 0)
			return error_sys(err, rc, "%s", o->trace->opts.path);
	}
	if (!rc)
		rc = visit_itrace(o, UINT64_MAX);
	return rc < 0 ? error_sys(err, rc, "%s", o->trace->opts.path) : rc;
}

/* Beside hardware trace there is much sideband. Without a taker for it visit_all() needs little. */
static int take_visited(const struct data_record *rec, void *part)
{
	const struct walk_takers *takers = part;
	uint32_t type = rec->hdr->type;

	/* Rounds tell the order how long it must hold records. */
	return takers->record || type == PERF_RECORD_SAMPLE || type == PERF_RECORD_FINISHED_ROUND ||
	       is_exec(rec);
}

static void *part_new(void *arg)
{
	return arg;
}

static int part_end(void *part, bool valid, void *arg)
{
	(void)part, (void)valid, (void)arg;
	return 0;
}

static int new_sweep(struct trace *t, const struct walk_takers *takers, struct sweep **ret)
{
	const struct sweep_opts opts = {
		.workers = trace_workers(t),
		.part_new = part_new,
		.take = take_visited,
		.part_end = part_end,
		.arg = (void *)(uintptr_t)takers,
	};

	return sweep_new(t->df, &opts, ret);
}

int walk_ordered(struct trace *t, const struct walk_takers *takers, struct error *err)
{
	struct order_opts opts = {
		.memory = t->opts.max_memory < MUCH_MEMORY ? t->opts.max_memory / 8 : 0,
		.progress = ordered_progress,
		.arg = t,
	};
	struct ordered o = {.trace = t, .takers = takers};
	int rc = t->itrace ? new_sweep(t, takers, &opts.sweep) : 0;

	if (rc < 0)
		return error_sys(err, rc, "%s", t->opts.path);
	rc = order_new(t->df, &opts, &o.order, err);
	if (rc < 0) {
		sweep_free(opts.sweep);
		return rc;
	}
	if (t->itrace)
		rc = itrace_stream_new(t->itrace, trace_workers(t), &o.stream);
	if (rc < 0)
		error_sys(err, rc, "%s", t->opts.path);
	else
		rc = visit_all(&o, err);
	itrace_stream_free(o.stream);
	order_free(o.order);
	sweep_free(opts.sweep);
	if (o.findings)
		findings_merge(o.findings, t->df);
	findings_free(o.findings);
	return rc;
}
