// SPDX-License-Identifier: Apache-2.0
#include "record/session/snapshot_service.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock_ns.h"
#include "base/human.h"
#include "base/plural.h"

/* --- life ----------------------------------------------------------------------------------------
 */

int snapshot_service_open(struct snapshot_service *m, const struct snapshot_service_parts *p,
			  struct error *err)
{
	uint64_t least = flight_least(p->plan, p->crew->nr), bytes = p->opts->memory.bytes;

	*m = (struct snapshot_service){.parts = *p, .clock = CLOCK_INIT};
	m->snapshot = (struct snapshot){
		.crew = p->crew,
		.plan = p->plan,
		.opened = p->opened,
		.clock = &m->clock,
		.alone = p->opts->rotation.enabled,
		.flush_ms = p->opts->flush_ms ? p->opts->flush_ms : RECORD_FLUSH_MS,
		.stop = p->stop,
		.meanwhile = p->meanwhile,
		.arg = p->arg,
	};
	m->traces = !bytes && p->plan->aux_mode == AUX_SNAPSHOT;
	if (m->traces)
		clock_open(&m->clock, &p->plan->opts->sample);
	if (!bytes)
		return 0;
	if (bytes < least) {
		messages_say(p->messages, MESSAGE_INFO,
			     "-M is raised to %llu KB: 64 KB, the largest record, for each ring",
			     (unsigned long long)least / 1024);
		bytes = least;
	}
	m->flight = flight_new(&(struct flight_opts){
		.bytes = bytes,
		.workers = p->crew->nr,
		.compression = p->opts->compression_level,
		.plan = p->plan,
		.opened = p->opened,
	});
	if (!m->flight)
		return error_set(err, -ENOMEM, "no memory for the samples of -M: give less");
	clock_open(&m->clock, &p->plan->opts->sample);
	p->crew->flight = m->flight;
	m->snapshot.flight = m->flight;
	p->output->lost_records = flight_lost_records(m->flight);
	p->output->dropped = flight_dropped(m->flight);
	p->output->history = flight_history(m->flight);
	return 0;
}

void snapshot_service_release(struct snapshot_service *m)
{
	if (m->flight || m->traces)
		clock_close(&m->clock);
	aux_snapshot_release(&m->snapshot.traces);
	flight_free(m->flight);
	*m = (struct snapshot_service){0};
}

/* --- request -------------------------------------------------------------------------------------
 */

/*
 * The present time of the recording's clock, or that of the newest sample if the clock cannot be
 * read.
 */
static uint64_t present(struct snapshot_service *m)
{
	struct history_figures figures;
	uint64_t now = clock_now(&m->clock);

	if (now || !m->flight)
		return now;
	history_figures(flight_history(m->flight), &figures);
	return figures.last;
}

static uint64_t before(uint64_t time, uint64_t by)
{
	return time > by ? time - by : 0;
}

/* Fills the fields that a request leaves open. */
static void complete(struct snapshot_service *m, struct snapshot_request *request)
{
	struct pd_snapshot_request *what = &request->what;
	uint64_t now = present(m);

	if (!request->bounded)
		what->bounds = m->parts.opts->memory.bounds;
	if (!what->asked)
		what->asked = before(now, request->ago);
	what->wall_clock = before(now_ns(CLOCK_REALTIME), before(now, what->asked));
}

int snapshot_service_ask(struct snapshot_service *m, const struct snapshot_request *request,
			 struct error *err)
{
	struct snapshot_request whole = *request;
	int rc;

	complete(m, &whole);
	rc = request_queue_add(&m->queue, &whole, err);
	return rc ? rc : -EINPROGRESS;
}

void snapshot_service_ask_for(struct snapshot_service *m, enum pd_snapshot_origin origin,
			      const char *reason)
{
	struct snapshot_request request = {.what.origin = origin};
	struct error err = ERROR_INIT;

	if (reason)
		request_set_reason(&request, reason);
	if (snapshot_service_ask(m, &request, &err) != -EINPROGRESS)
		messages_say_limited(m->parts.messages, MESSAGE_WARNING, &m->refusal, "%s",
				     err.text);
}

bool snapshot_service_there(const struct snapshot_service *m)
{
	return m->flight || m->traces;
}

bool snapshot_service_waits(const struct snapshot_service *m)
{
	return m->queue.nr;
}

/* --- take ----------------------------------------------------------------------------------------
 */

static bool fails(enum outcome outcome)
{
	return outcome == OUTCOME_UNDONE || outcome == OUTCOME_BROKEN;
}

static void say_taken(struct snapshot_service *m, const struct snapshot_request *r, size_t nr)
{
	const char *reason = r->what.reason;
	uint64_t samples = m->snapshot.figures.samples;
	char text[HUMAN_COUNT_SIZE], size[HUMAN_SIZE_SIZE];

	if (m->flight)
		messages_say(m->parts.messages, MESSAGE_INFO, "snapshot %zu: %s sample%s%s%s",
			     m->snapshot.taken, human_count(samples, text), plural_s(samples),
			     *reason ? ": " : "", reason);
	if (m->snapshot.trace || !m->flight)
		messages_say(m->parts.messages, MESSAGE_INFO, "snapshot %zu: %s of trace",
			     m->snapshot.taken, human_size(m->snapshot.trace, size));
	for (size_t i = 1; i < nr; i++)
		if (*r[i].what.reason)
			messages_say(m->parts.messages, MESSAGE_INFO, "snapshot %zu also: %s",
				     m->snapshot.taken, r[i].what.reason);
}

/*
 * Rotates after the snapshot, which is an output of its own. If no next output can be made, the
 * snapshot is undone.
 */
static enum outcome rotate(struct snapshot_service *m, struct error *err)
{
	enum outcome outcome = m->parts.rotate(m->parts.arg, err);

	switch (outcome) {
	case OUTCOME_DONE: break;
	case OUTCOME_FLAWED:
		messages_say_limited(m->parts.messages, MESSAGE_WARNING, &m->flaw,
				     "%s; the snapshot lacks only the features at its end, and the "
				     "recording goes on",
				     err->text);
		break;
	case OUTCOME_UNDONE:
		if (snapshot_undo(&m->snapshot, m->parts.output, NULL))
			outcome = OUTCOME_BROKEN;
		break;
	case OUTCOME_BROKEN: snapshot_keep(&m->snapshot); break;
	}
	return outcome;
}

/*
 * Makes a new output, which is complete in itself, if somebody moved, deleted or truncated the old
 * one. If that fails, there is no snapshot either.
 */
static enum outcome renew(struct snapshot_service *m, struct error *err)
{
	enum outcome outcome;
	char *path;
	bool there;

	/* Workers write to the output, as they do without snapshots: nobody waits for a new one. */
	if (!m->flight)
		return OUTCOME_DONE;
	there = output_place(m->parts.output, &path) == WRITER_THERE;
	free(path);
	if (there)
		return OUTCOME_DONE;
	outcome = m->parts.rotate(m->parts.arg, err);
	if (fails(outcome))
		return outcome;
	m->snapshot.alone = true;
	if (outcome == OUTCOME_FLAWED)
		messages_say_limited(m->parts.messages, MESSAGE_WARNING, &m->flaw,
				     "%s; a new output was made", err->text);
	return outcome;
}

/* No later snapshot has its trace: it was taken out of the AUX areas. */
static void give_up(struct snapshot_service *m)
{
	m->given_up++;
	m->snapshot.trace_given_up += m->snapshot.trace_last;
}

/*
 * Takes one snapshot for all of @r, then rotates if each one has its own output. A flaw is reported
 * here; @err is filled for UNDONE and BROKEN only.
 */
static enum outcome take(struct snapshot_service *m, const struct snapshot_request *r, size_t nr,
			 struct error *err)
{
	struct error why = ERROR_INIT;
	enum outcome outcome;

	/* Until the areas are read, their trace is not this snapshot's to lose. */
	m->snapshot.trace_last = 0;
	outcome = renew(m, &why);
	if (!fails(outcome)) {
		m->snapshot.refused = m->queue.refused;
		why = (struct error)ERROR_INIT;
		outcome = m->flight ? snapshot_take(&m->snapshot, m->parts.output, r, nr, &why)
				    : snapshot_take_traces(&m->snapshot, r, nr, &why);
	}
	if (!fails(outcome) && m->parts.opts->rotation.enabled && m->parts.crew->running)
		outcome = rotate(m, &why);
	if (fails(outcome)) {
		*err = why;
		return outcome;
	}
	say_taken(m, r, nr);
	if (m->flight)
		snapshot_keep(&m->snapshot);
	m->snapshot.alone = m->parts.opts->rotation.enabled;
	return outcome;
}

/* The times are those of the log. */
static void put_answer(const struct snapshot_service *m, const struct snapshot_request *r,
		       size_t nr, struct buf *text)
{
	uint64_t asked = r->what.asked;

	if (m->traces)
		buf_printf(text, "trace=%llu ", (unsigned long long)m->snapshot.trace);
	buf_printf(text, "snapshot=%zu samples=%llu requests=%zu asked=%llu.%09llu ",
		   m->snapshot.taken, (unsigned long long)m->snapshot.figures.samples, nr,
		   (unsigned long long)asked / 1000000000, (unsigned long long)asked % 1000000000);
}

static void answer_all(struct snapshot_service *m, const struct snapshot_request *r, size_t nr,
		       const struct error *err)
{
	struct buf text = {0};

	for (size_t i = 0; i < nr; i++) {
		if (!r[i].ticket)
			continue;
		text.len = 0;
		if (!err->code)
			put_answer(m, &r[i], nr, &text);
		m->parts.answer(m->parts.arg, r[i].ticket, &text, err);
	}
	buf_release(&text);
}

/*
 * Serves requests with one snapshot. If there is no room for it, it is given up; the next may
 * succeed.
 */
static int serve_one(struct snapshot_service *m, const struct snapshot_request *r, size_t nr,
		     struct error *err)
{
	struct error failure = ERROR_INIT;
	enum outcome outcome = take(m, r, nr, &failure);

	if (outcome == OUTCOME_UNDONE) {
		give_up(m);
		messages_say_limited(
			m->parts.messages, MESSAGE_WARNING, &m->failure,
			"%s; ringtail gives up this snapshot, and the recording goes on",
			failure.text);
	}
	answer_all(m, r, nr, &failure);
	if (outcome != OUTCOME_BROKEN)
		return 0;
	if (err)
		*err = failure;
	return outcome_error(outcome, &failure);
}

/*
 * Serves the requests that wait now. A client may ask again when it has its answer: such requests
 * wait for the next call, so that other work gets its turn.
 */
int snapshot_service_serve(struct snapshot_service *m, struct error *err)
{
	struct snapshot_request together[REQUESTS_MAX];
	size_t left = m->queue.nr, nr;
	int rc = 0;

	while (!rc && left) {
		nr = request_queue_take(&m->queue, together);
		rc = serve_one(m, together, nr, err);
		left -= nr < left ? nr : left;
	}
	return rc;
}

/* Takes the last snapshot, after which there are no requests. */
static int take_last(struct snapshot_service *m, struct snapshot_request *request,
		     struct error *err)
{
	struct error failure = ERROR_INIT;

	complete(m, request);
	m->last = take(m, request, 1, &failure);
	if (m->last == OUTCOME_UNDONE) {
		give_up(m);
		messages_say(m->parts.messages, MESSAGE_WARNING,
			     "%s; ringtail gives up the last snapshot", failure.text);
	}
	if (m->last != OUTCOME_BROKEN)
		return 0;
	if (err)
		*err = failure;
	return outcome_error(m->last, &failure);
}

static void say_compression(const struct snapshot_service *m)
{
	struct compress_stats stats;
	struct compress_level all;

	if (!flight_compression(m->flight, &stats))
		return;
	compress_say_lowered(&stats, m->parts.messages);
	all = compress_total(&stats);
	messages_say(m->parts.messages, MESSAGE_DETAIL,
		     "memory: %.1f MB of samples compressed to %.1f MB in %.2f s of CPU time",
		     (double)all.in / 1e6, (double)all.out / 1e6, (double)stats.nsec / 1e9);
}

int snapshot_service_hand_last(struct snapshot_service *m, struct error *err)
{
	struct snapshot_request request = {.what.origin = PD_SNAPSHOT_EXIT};
	int rc;

	if (!m->traces || !m->parts.plan->opts->aux.at_exit)
		return 0;
	complete(m, &request);
	rc = snapshot_hand_traces(&m->snapshot, &request, 1, err);
	m->handed_last = !rc;
	return rc;
}

int snapshot_service_finish(struct snapshot_service *m, const struct workload *w, struct error *err)
{
	const struct output_opts *opts = m->parts.opts;
	struct snapshot_request request = {.what.origin = PD_SNAPSHOT_EXIT};
	int signal = opts->memory.on_crash ? workload_signal(w) : 0;
	char reason[64];

	if (m->handed_last)
		say_taken(m, &request, 1);
	if (!m->flight)
		return 0;
	if (flight_end(m->flight))
		return error_set(err, -ENOMEM, "out of memory");
	say_compression(m);
	if (signal) {
		snprintf(reason, sizeof(reason), "SIG%s (%s)", sigabbrev_np(signal) ?: "?",
			 sigdescr_np(signal) ?: "?");
		request.what.origin = PD_SNAPSHOT_CRASH;
		request_set_reason(&request, reason);
	}
	if (!signal && !opts->memory.on_exit && !m->parts.plan->opts->aux.at_exit)
		return 0;
	return take_last(m, &request, err);
}
