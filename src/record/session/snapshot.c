// SPDX-License-Identifier: Apache-2.0
#include "record/session/snapshot.h"

#include <errno.h>
#include <linux/perf_event.h>

#include "base/clock_ns.h"
#include "perfdata/abi.h"
#include "record/flight/flight.h"
#include "record/history/pack.h"

/* Drains all rings. With @seal their samples belong to the snapshot. */
static int visit(struct snapshot *s, bool seal, struct error *err)
{
	int rc = 0;

	flight_visit(s->flight, seal);
	if (s->crew->running) {
		crew_ask(s->crew, WORKER_FLUSH);
		rc = crew_await(s->crew, err);
	} else if (seal) {
		flight_seal(s->flight);
	}
	flight_visit(s->flight, false);
	return rc ? rc : flight_settle(s->flight, err);
}

/* --- the log -------------------------------------------------------------------------------------
 */

static int log_request(const struct snapshot *s, struct lane *lane,
		       const struct snapshot_request *request, struct error *err)
{
	const struct pd_snapshot_log log = {
		.kind = PD_SNAPSHOT_REQUEST,
		.number = s->taken + 1,
		.request = request->what,
	};
	struct pd_snapshot_record record;

	pd_snapshot_encode(&log, &record);
	return sink_record(lane->chain, &record.header, err);
}

/*
 * Logs the requests ahead of all other records. Lanes that share a stream compress separately, so
 * the first is flushed before the others write.
 */
static int log_requests(const struct snapshot *s, struct output *out,
			const struct snapshot_request *requests, size_t nr, struct error *err)
{
	int rc = 0;

	for (size_t i = 0; !rc && i < nr; i++)
		rc = log_request(s, &out->lanes[0], &requests[i], err);
	for (size_t i = 1; !rc && out->directory && i < out->nr; i++)
		rc = log_request(s, &out->lanes[i], &requests[0], err);
	return rc || !out->stream ? rc : lane_flush(&out->lanes[0], err);
}

static int log_end(const struct snapshot *s, struct output *out, struct error *err)
{
	const struct pd_snapshot_log log = {
		.kind = PD_SNAPSHOT_END,
		.number = s->taken + 1,
		.figures = s->figures,
	};
	struct pd_snapshot_record record;

	pd_snapshot_encode(&log, &record);
	return sink_record(out->lanes[0].chain, &record.header, err);
}

static struct snapshot_sums count(struct snapshot *s)
{
	struct history_figures figures;
	uint64_t lost, dropped;

	flight_losses(s->flight, &lost, &dropped);
	opened_lost(s->opened, s->plan, &lost);
	history_figures(flight_history(s->flight), &figures);
	return (struct snapshot_sums){
		.lost = lost + dropped,
		.passed = figures.evicted,
		.refused = s->refused,
	};
}

/* --- contents ------------------------------------------------------------------------------------
 */

struct emit {
	struct sink_emit to;
	uint64_t bytes;
};

static int emit_counted(const struct perf_event_header *hdr, void *arg)
{
	struct emit *emit = arg;

	emit->bytes += hdr->size;
	return sink_emit(hdr, &emit->to);
}

static int write_sideband(struct snapshot *s, struct output *out, struct error *err)
{
	struct emit emit = {.to = {out->lanes[0].chain, err}};
	int rc = sideband_snapshot(flight_log(s->flight), s->alone, emit_counted, &emit);

	s->emitted = true;
	s->figures.bytes += emit.bytes;
	if (rc == -ENOMEM)
		error_set(err, rc, "out of memory");
	return rc;
}

static void add_figures(struct pd_snapshot_figures *f, const struct history_chunk *chunk)
{
	f->bytes += chunk->bytes;
	f->samples += chunk->samples;
	if (!f->first || chunk->first < f->first)
		f->first = chunk->first;
	if (chunk->last > f->last)
		f->last = chunk->last;
}

static int write_chunk(struct lane *lane, const struct history_chunk *chunk, struct error *err)
{
	const struct run run = {
		.a = chunk->data,
		.a_len = chunk->len,
		.ring = (unsigned int)chunk->ring,
		.cpu = -1,
	};
	const struct tally counts = {
		.records = chunk->samples,
		.samples = chunk->samples,
		.first = chunk->first,
		.last = chunk->last,
	};

	return chunk->packed ? lane_write_packed(lane, &run, &counts, chunk->bytes, err)
			     : sink_write(lane->chain, &run, err);
}

/*
 * A snapshot with an output of its own includes samples that earlier ones wrote. Each of @requests
 * gets all that it asks for: the time counts back from the first.
 */
static struct history_bounds bounds_of(const struct snapshot *s,
				       const struct snapshot_request *requests, size_t nr)
{
	const struct pd_snapshot_bounds *b = &requests[0].what.bounds;
	uint64_t first = UINT64_MAX;

	for (size_t i = 0; i < nr; i++)
		if (requests[i].what.asked < first)
			first = requests[i].what.asked;
	return (struct history_bounds){
		.again = s->alone && !b->since_last,
		.since = b->last_ns && b->last_ns < first ? first - b->last_ns : 0,
		.bytes = b->last_bytes,
		.unpack = packer_unpack,
	};
}

/*
 * Flushes if the last flush, at @*flushed, is long ago, so that the records so far are readable.
 * The first lane has the sideband that samples of the others need. A pipe passes everything on
 * anyway.
 */
static int flush_now_and_then(const struct snapshot *s, struct output *out, uint64_t *flushed,
			      struct error *err)
{
	int rc = 0;

	if (out->stream || now_ns(CLOCK_MONOTONIC) - *flushed < s->flush_ms * NS_PER_MS)
		return 0;
	for (size_t i = 0; !rc && i < out->nr; i++)
		rc = lane_flush(&out->lanes[i], err);
	if (!rc)
		rc = output_checkpoint(out, err);
	*flushed = now_ns(CLOCK_MONOTONIC);
	return rc;
}

static int write_samples(struct snapshot *s, struct output *out,
			 const struct snapshot_request *requests, size_t nr, struct error *err)
{
	const struct history_bounds bounds = bounds_of(s, requests, nr);
	struct history *history = flight_history(s->flight);
	uint64_t flushed = now_ns(CLOCK_MONOTONIC);
	struct history_chunk chunk;
	size_t worker;
	int rc = history_snapshot_begin(history, &bounds);

	if (rc)
		return error_set(err, rc, "out of memory");
	while (!rc && history_snapshot_next(history, &chunk)) {
		worker = flight_worker_of(s->flight, chunk.ring);
		rc = write_chunk(output_lane(out, worker), &chunk, err);
		add_figures(&s->figures, &chunk);
		if (!rc)
			rc = flush_now_and_then(s, out, &flushed, err);
		s->meanwhile(s->arg);
	}
	return rc;
}

/* Writes FINISHED_ROUND; not among several files, each of which has its own order. */
static int mark_round(struct snapshot *s, struct output *out, struct error *err)
{
	const struct perf_event_header mark = {
		.type = PERF_RECORD_FINISHED_ROUND,
		.size = sizeof(mark),
	};

	if ((out->directory && out->nr > 1) || history_left_out(flight_history(s->flight)))
		return 0;
	return sink_record(out->lanes[0].chain, &mark, err);
}

/* --- all steps -----------------------------------------------------------------------------------
 */

static int finish(struct snapshot *s, struct output *out, struct error *err)
{
	int rc = log_end(s, out, err);

	if (!rc)
		rc = mark_round(s, out, err);
	if (!rc)
		rc = lane_flush(&out->lanes[0], err);
	for (size_t i = 0; !rc && i < out->nr; i++)
		lane_measure(&out->lanes[i]);
	return rc ? rc : output_checkpoint(out, err);
}

static int write_all(struct snapshot *s, struct output *out,
		     const struct snapshot_request *requests, size_t nr, struct error *err)
{
	uint64_t began = now_ns(CLOCK_MONOTONIC);
	int rc;

	s->figures = (struct pd_snapshot_figures){
		.begun = clock_now(s->clock),
		.lost = s->sums.lost - s->sums_before.lost,
		.evicted = s->sums.passed - s->sums_before.passed,
		.refused = s->sums.refused - s->sums_before.refused,
	};
	rc = log_requests(s, out, requests, nr, err);
	if (!rc)
		rc = write_sideband(s, out, err);
	if (!rc)
		rc = write_samples(s, out, requests, nr, err);
	if (!rc)
		rc = snapshot_write_traces(s, out, err);
	for (size_t i = out->nr - 1; !rc && i; i--)
		rc = lane_flush(&out->lanes[i], err);
	s->figures.took = now_ns(CLOCK_MONOTONIC) - began;
	return rc ? rc : finish(s, out, err);
}

/*
 * Keeps the snapshot although it failed, where it cannot be undone. The failed chunk was given to
 * the output, too, and the output counts which of all given samples are readable and which are
 * lost.
 */
static void keep_what_failed(struct snapshot *s)
{
	struct history_chunk next;

	history_snapshot_next(flight_history(s->flight), &next);
	snapshot_keep(s);
}

static enum outcome take(struct snapshot *s, struct output *out,
			 const struct snapshot_request *requests, size_t nr, struct error *err)
{
	int rc = snapshot_copy_traces(s, err);
	bool marked;

	if (!rc)
		rc = visit(s, true, err);

	s->emitted = false;
	history_announce(flight_history(s->flight));
	if (!rc)
		rc = visit(s, false, err);
	if (rc) {
		history_snapshot_end(flight_history(s->flight));
		return OUTCOME_BROKEN;
	}
	marked = !output_mark(out, &s->before);
	s->sums_before = s->sums;
	s->sums = count(s);
	rc = output_rest(out, false);
	if (rc)
		error_sys(err, rc, "the output");
	else
		rc = write_all(s, out, requests, nr, err);
	s->taken++;
	if (!rc) {
		output_rest(out, true);
		return OUTCOME_DONE;
	}
	if (marked)
		return snapshot_undo(s, out, NULL) ? OUTCOME_BROKEN : OUTCOME_UNDONE;
	keep_what_failed(s);
	return OUTCOME_BROKEN;
}

enum outcome snapshot_take(struct snapshot *s, struct output *out,
			   const struct snapshot_request *requests, size_t nr, struct error *err)
{
	enum outcome outcome = take(s, out, requests, nr, err);

	aux_snapshot_release(&s->traces);
	return outcome;
}

void snapshot_keep(struct snapshot *s)
{
	if (!s->flight)
		return;
	history_snapshot_end(flight_history(s->flight));
	output_mark_release(&s->before);
}

int snapshot_undo(struct snapshot *s, struct output *out, struct error *err)
{
	int rc = s->flight ? output_roll_back(out, &s->before, err) : -ENOTSUP;
	if (!s->flight)
		return rc;

	if (!rc)
		output_rest(out, true);
	history_snapshot_cancel(flight_history(s->flight));
	if (s->emitted)
		sideband_snapshot_cancel(flight_log(s->flight));
	output_mark_release(&s->before);
	s->sums = s->sums_before;
	s->taken--;
	return rc;
}
