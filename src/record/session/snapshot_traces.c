// SPDX-License-Identifier: Apache-2.0
/* The trace of AUX areas in a snapshot. */
#include "record/session/snapshot.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock_ns.h"
#include "perfdata/aux_record.h"
#include "perfdata/snapshot_log.h"

static int no_memory(struct error *err)
{
	return error_set(err, -ENOMEM,
			 "no memory for a copy of the AUX areas: give a smaller size with "
			 "-m ,SIZE or -S SIZE");
}

/* Stops the areas and chooses what is written. end_traces() is due in any case. */
static int begin_traces(struct snapshot *s)
{
	const struct aux_opts *opts = &s->plan->opts->aux;
	const struct aux_snapshot_opts how = {
		.scope = opts->scope,
		.window = opts->window,
		.most = opts->snapshot_size,
		.by_task = s->plan->target != TARGET_CPUS,
	};
	int rc = aux_snapshot_begin(&s->crew->aux, &how, clock_now(s->clock), &s->traces);

	s->trace = s->trace_last = 0;
	for (size_t i = 0; !rc && i < s->traces.nr; i++)
		s->trace_last +=
			pd_auxtrace_padded(s->traces.taken[i].to - s->traces.taken[i].from);
	s->trace_taken += s->trace_last;
	return rc;
}

static void end_traces(struct snapshot *s)
{
	aux_snapshot_end(&s->traces);
	s->crew->aux.resumed = clock_now(s->clock);
}

int snapshot_copy_traces(struct snapshot *s, struct error *err)
{
	int rc;

	aux_snapshot_release(&s->traces);
	s->trace = 0;
	if (s->plan->aux_mode != AUX_SNAPSHOT)
		return 0;
	rc = begin_traces(s);
	for (size_t i = 0; !rc && i < s->traces.nr; i++) {
		struct aux_taken *t = &s->traces.taken[i];

		t->record = t->len ? malloc(t->len) : NULL;
		if (t->record)
			aux_taken_copy(t, s->traces.asked, t->record);
		else if (t->len)
			rc = -ENOMEM;
	}
	end_traces(s);
	return rc ? no_memory(err) : 0;
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

/* --- by the workers ------------------------------------------------------------------------------
 */

/* Bytes of the largest record of @area. */
static size_t most_of(const struct snapshot *s, const struct aux_area *area)
{
	uint64_t most = s->plan->opts->aux.snapshot_size;

	if (!most || most > area->ring.size)
		most = area->ring.size;
	return sizeof(struct pd_auxtrace_record) + pd_auxtrace_padded(most);
}

void snapshot_make_room(struct snapshot *s)
{
	const struct aux_areas *areas = &s->crew->aux;
	/* All areas together are to have as much as one. */
	bool one = s->plan->target != TARGET_CPUS && s->plan->opts->aux.scope == AUX_SCOPE_AREA;

	for (size_t i = 0; i < s->crew->nr; i++) {
		bool done = false;

		for (size_t j = 0; !done && j < areas->nr; j++) {
			if (s->crew->worker_of[areas->areas[j].index] != i)
				continue;
			worker_make_room(s->crew->workers[i], most_of(s, &areas->areas[j]));
			done = one;
		}
	}
}

/* Room with @record in it, or NULL. */
static uint8_t *log_room(struct worker *w, const struct pd_snapshot_record *record)
{
	uint8_t *room = worker_room(w, record->header.size);

	if (room)
		memcpy(room, record, record->header.size);
	return room;
}

static int hand_log(struct worker *w, const struct pd_snapshot_record *record)
{
	uint8_t *room = log_room(w, record);

	if (!room)
		return -ENOMEM;
	worker_hand(w, room, record->header.size);
	return 0;
}

/* The trace stands directly behind its record in the log, so both are handed over at once. */
static int hand_area(struct snapshot *s, const struct aux_taken *t)
{
	struct worker *w = s->crew->workers[s->crew->worker_of[t->area->index]];
	struct pd_snapshot_record record;
	uint8_t *room, *log;

	log_area(s, t, &record);
	if (!t->len)
		return hand_log(w, &record);
	room = worker_room(w, t->len);
	if (!room)
		return -ENOMEM;
	aux_taken_copy(t, s->traces.asked, room);
	log = log_room(w, &record);
	if (!log) {
		worker_drop_room(room);
		return -ENOMEM;
	}
	worker_hand_both(w, log, record.header.size, room, t->len);
	s->trace += t->to - t->from;
	s->figures.bytes += t->len;
	return 0;
}

static int hand_requests(const struct snapshot *s, const struct snapshot_request *requests,
			 size_t nr)
{
	struct pd_snapshot_log log = {.kind = PD_SNAPSHOT_REQUEST, .number = s->taken + 1};
	struct pd_snapshot_record record;
	int rc = 0;

	for (size_t i = 0; !rc && i < nr; i++) {
		log.request = requests[i].what;
		pd_snapshot_encode(&log, &record);
		rc = hand_log(s->crew->workers[0], &record);
	}
	return rc;
}

static int hand_areas(struct snapshot *s)
{
	int rc = 0;

	for (size_t i = 0; !rc && i < s->traces.nr; i++)
		rc = hand_area(s, &s->traces.taken[i]);
	return rc;
}

/* The record behind a snapshot that began at the time @began of this process. */
static int hand_end(struct snapshot *s, uint64_t began)
{
	struct pd_snapshot_log end = {.kind = PD_SNAPSHOT_END, .number = s->taken + 1};
	struct pd_snapshot_record record;

	s->figures.took = now_ns(CLOCK_MONOTONIC) - began;
	end.figures = s->figures;
	pd_snapshot_encode(&end, &record);
	return hand_log(s->crew->workers[0], &record);
}

int snapshot_hand_traces(struct snapshot *s, const struct snapshot_request *requests, size_t nr,
			 struct error *err)
{
	uint64_t began = now_ns(CLOCK_MONOTONIC);
	int rc = begin_traces(s);

	s->figures = (struct pd_snapshot_figures){.begun = clock_now(s->clock)};
	if (!rc)
		rc = hand_requests(s, requests, nr) ?: hand_areas(s);
	end_traces(s);
	if (!rc)
		rc = hand_end(s, began);
	aux_snapshot_release(&s->traces);
	s->taken++;
	return rc ? no_memory(err) : 0;
}

/* While the workers write, which they may never end: is the recording to end? */
static bool is_to_end(void *snapshot)
{
	struct snapshot *s = snapshot;
	struct pollfd stop = {.fd = s->stop, .events = POLLIN};

	s->meanwhile(s->arg);
	return s->ends || poll(&stop, 1, 0) > 0;
}

enum outcome snapshot_take_traces(struct snapshot *s, const struct snapshot_request *requests,
				  size_t nr, struct error *err)
{
	int rc;

	/* A worker whose output is full must not wait for us; the rotation follows the snapshot. */
	if (s->crew->hold)
		crew_hold(s->crew, false);
	rc = snapshot_hand_traces(s, requests, nr, err);
	for (size_t i = s->crew->nr; i; i--)
		worker_write_now(s->crew->workers[i - 1]);
	/* Sideband that the trace needs. */
	crew_ask(s->crew, WORKER_FLUSH);
	if (!rc && !s->ends)
		rc = crew_await_unless(s->crew, is_to_end, s, err);
	return rc < 0 ? OUTCOME_BROKEN : OUTCOME_DONE;
}
