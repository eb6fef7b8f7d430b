// SPDX-License-Identifier: Apache-2.0
/* The trace of AUX areas in a snapshot. */
#include "record/session/snapshot.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock_ns.h"
#include "perfdata/aux_record.h"
#include "perfdata/snapshot_log.h"

int snapshot_copy_traces(struct snapshot *s, struct error *err)
{
	const struct aux_opts *opts = &s->plan->opts->aux;
	const struct aux_snapshot_opts how = {
		.scope = opts->scope,
		.window = opts->window,
		.most = opts->snapshot_size,
		.by_task = s->plan->target != TARGET_CPUS,
	};
	int rc;

	aux_snapshot_release(&s->traces);
	s->trace = 0;
	if (s->plan->aux_mode != AUX_SNAPSHOT)
		return 0;
	rc = aux_snapshot_take(&s->crew->aux, &how, clock_now(s->clock), &s->traces);
	s->crew->aux.resumed = clock_now(s->clock);
	s->trace_last = 0;
	for (size_t i = 0; i < s->traces.nr; i++)
		s->trace_last +=
			pd_auxtrace_padded(s->traces.taken[i].to - s->traces.taken[i].from);
	s->trace_taken += s->trace_last;
	return rc ? error_set(err, -ENOMEM,
			      "no memory for a copy of the AUX areas: give a smaller size with "
			      "-m ,SIZE or -S SIZE")
		  : 0;
}

static void log_area(const struct snapshot *s, const struct aux_taken *t,
		     struct pd_snapshot_record *ret)
{
	const struct aux_opts *opts = &s->plan->opts->aux;
	const struct pd_snapshot_log log = {
		.kind = PD_SNAPSHOT_AUX_RING,
		.number = s->taken + 1,
		.aux =
			{
				.idx = t->area->index,
				.cpu = (uint32_t)t->area->cpu,
				.tid = (uint32_t)t->area->task,
				.active = t->active,
				.mode = PD_AUX_SNAPSHOT,
				.scope = s->traces.unsure ? PD_AUX_SCOPE_ACTIVE
							  : (enum pd_aux_scope)opts->scope,
				.window = opts->window,
				.asked = s->traces.asked,
				.first = t->first,
				.last = t->last,
				.position = t->to,
				.fresh = t->window.to - t->window.fresh,
				.old = t->window.fresh - t->window.from,
				.written = t->to - t->from,
				.area = t->area->ring.size,
			},
	};

	pd_snapshot_encode(&log, ret);
}

static int write_whole(struct lane *lane, const void *p, size_t len, struct error *err)
{
	const struct run run = {.a = p, .a_len = len, .ring = RUN_NO_RING, .cpu = -1};

	return sink_write(lane->chain, &run, err);
}

int snapshot_write_traces(struct snapshot *s, struct output *out, struct error *err)
{
	struct pd_snapshot_record record;
	int rc = 0;

	for (size_t i = 0; !rc && i < s->traces.nr; i++) {
		const struct aux_taken *t = &s->traces.taken[i];
		struct lane *lane = output_lane(out, s->crew->worker_of[t->area->index]);

		log_area(s, t, &record);
		rc = sink_record(lane->chain, &record.header, err);
		if (!rc && t->record)
			rc = write_whole(lane, t->record, t->len, err);
		s->trace += t->to - t->from;
		s->figures.bytes += t->len;
	}
	return rc;
}

/* Hands a copy of @records to the worker. */
static int hand(struct worker *w, const void *records, size_t len)
{
	uint8_t *copy = malloc(len);
	int rc;

	if (!copy)
		return -ENOMEM;
	memcpy(copy, records, len);
	rc = worker_hand(w, copy, len);
	if (rc)
		free(copy);
	return rc;
}

static int hand_log(const struct snapshot *s, struct worker *w, const struct pd_snapshot_log *log)
{
	struct pd_snapshot_record record;

	pd_snapshot_encode(log, &record);
	return hand(w, &record, record.header.size);
}

static int hand_area(struct snapshot *s, struct aux_taken *t)
{
	struct worker *w = s->crew->workers[s->crew->worker_of[t->area->index]];
	struct pd_snapshot_record record;
	int rc;

	log_area(s, t, &record);
	rc = hand(w, &record, record.header.size);
	if (rc || !t->record)
		return rc;
	rc = worker_hand(w, t->record, t->len);
	if (rc)
		return rc;
	t->record = NULL; /* the worker's */
	s->trace += t->to - t->from;
	s->figures.bytes += t->len;
	return 0;
}

/* The record behind a snapshot that began at the time @began of this process. */
static struct pd_snapshot_log end_of(struct snapshot *s, uint64_t began)
{
	s->figures.took = now_ns(CLOCK_MONOTONIC) - began;
	return (struct pd_snapshot_log){
		.kind = PD_SNAPSHOT_END,
		.number = s->taken + 1,
		.figures = s->figures,
	};
}

static int hand_all(struct snapshot *s, const struct snapshot_request *requests, size_t nr,
		    uint64_t began)
{
	struct pd_snapshot_log end;
	struct worker *first = s->crew->workers[0];
	int rc = 0;

	for (size_t i = 0; !rc && i < nr; i++)
		rc = hand_log(s, first,
			      &(struct pd_snapshot_log){
				      .kind = PD_SNAPSHOT_REQUEST,
				      .number = s->taken + 1,
				      .request = requests[i].what,
			      });
	for (size_t i = 0; !rc && i < s->traces.nr; i++)
		rc = hand_area(s, &s->traces.taken[i]);
	end = end_of(s, began);
	return rc ? rc : hand_log(s, first, &end);
}

static int write_by_workers(struct snapshot *s, const struct snapshot_request *requests, size_t nr,
			    uint64_t began, struct error *err)
{
	int rc;

	if (hand_all(s, requests, nr, began))
		return error_set(err, -ENOMEM, "out of memory");
	/* A worker whose output is full must not wait for us; the rotation follows the snapshot. */
	if (s->crew->hold)
		crew_hold(s->crew, false);
	crew_ask(s->crew, WORKER_FLUSH);
	rc = crew_await_unless(s->crew, s->stop, err);
	return rc < 0 ? rc : 0;
}

static int write_here(struct snapshot *s, struct output *out,
		      const struct snapshot_request *requests, size_t nr, uint64_t began,
		      struct error *err)
{
	struct pd_snapshot_log log = {.kind = PD_SNAPSHOT_REQUEST, .number = s->taken + 1};
	struct pd_snapshot_record record;
	int rc = 0;

	for (size_t i = 0; !rc && i < nr; i++) {
		log.request = requests[i].what;
		pd_snapshot_encode(&log, &record);
		rc = sink_record(out->lanes[0].chain, &record.header, err);
	}
	if (!rc)
		rc = snapshot_write_traces(s, out, err);
	log = end_of(s, began);
	pd_snapshot_encode(&log, &record);
	return rc ? rc : sink_record(out->lanes[0].chain, &record.header, err);
}

enum outcome snapshot_take_traces(struct snapshot *s, struct output *out,
				  const struct snapshot_request *requests, size_t nr,
				  struct error *err)
{
	uint64_t began = now_ns(CLOCK_MONOTONIC);
	int rc = snapshot_copy_traces(s, err);

	s->figures = (struct pd_snapshot_figures){.begun = clock_now(s->clock)};
	if (!rc)
		rc = s->crew->running ? write_by_workers(s, requests, nr, began, err)
				      : write_here(s, out, requests, nr, began, err);
	aux_snapshot_release(&s->traces);
	s->taken++;
	return rc ? OUTCOME_BROKEN : OUTCOME_DONE;
}
