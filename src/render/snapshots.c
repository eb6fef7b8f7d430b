// SPDX-License-Identifier: Apache-2.0
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/human.h"
#include "render/header.h"
#include "render/json.h"
#include "render/text.h"

/* --- text ----------------------------------------------------------------------------------------
 */

static void put_time(FILE *out, uint64_t ns)
{
	fprintf(out, "%" PRIu64 ".%06" PRIu64, ns / 1000000000, ns % 1000000000 / 1000);
}

static void put_wall_clock(FILE *out, uint64_t ns)
{
	time_t seconds = (time_t)(ns / 1000000000);
	char text[40];
	struct tm tm;

	if (ns && localtime_r(&seconds, &tm) && strftime(text, sizeof(text), "%F %T", &tm))
		fprintf(out, "%s.%03" PRIu64 ", ", text, ns % 1000000000 / 1000000);
}

static void put_bounds(FILE *out, const struct pd_snapshot_bounds *b)
{
	char size[HUMAN_SIZE_SIZE];

	if (b->last_ns)
		fprintf(out, ", the last %g s", (double)b->last_ns / 1e9);
	if (b->last_bytes)
		fprintf(out, ", the last %s", human_size(b->last_bytes, size));
	if (b->since_last)
		fputs(", since the one before", out);
}

/*
 * The recorder looked up the comm when it read the sample. By then the thread may have ended or
 * changed its name. So the comm that the state has for the sample's time comes first, unless the
 * recording begins later.
 */
static const char *cause_comm(const struct trace *t, const struct pd_snapshot_cause *c)
{
	const struct moment at = {.time = c->time, .seq = UINT64_MAX};
	bool within = t->counts.first_time && t->counts.first_time <= c->time;
	const char *comm = NULL;

	if (c->tid != UINT32_MAX && (within || !*c->comm))
		comm = state_comm(t->state, c->pid, c->tid, at);
	return comm ? comm : c->comm;
}

static void put_cause(FILE *out, const struct trace *t, const struct pd_snapshot_cause *c)
{
	const char *comm = cause_comm(t, c);

	fputs("#   sample : ", out);
	text_put(out, c->event, 0);
	if (c->time) {
		fputs(" at ", out);
		put_time(out, c->time);
	}
	if (c->cpu != UINT32_MAX)
		fprintf(out, ", CPU %" PRIu32, c->cpu);
	if (c->tid != UINT32_MAX)
		fprintf(out, ", thread %" PRIu32, c->tid);
	if (c->pid != UINT32_MAX)
		fprintf(out, " of %" PRIu32, c->pid);
	if (*comm) {
		fputs(", ", out);
		text_put(out, comm, 0);
	}
	putc('\n', out);
}

/* Writes the first request of a snapshot, or a further one that the same snapshot serves. */
static void put_request(FILE *out, const struct trace *t, uint64_t number,
			const struct pd_snapshot_request *r, bool first)
{
	if (first)
		fprintf(out, "# snapshot %" PRIu64 " : ", number);
	else
		fputs("#   also : ", out);
	put_wall_clock(out, r->wall_clock);
	fputs("time ", out);
	put_time(out, r->asked);
	fprintf(out, ", %s", pd_snapshot_origin_name(r->origin));
	if (*r->reason) {
		fputs(": ", out);
		text_put(out, r->reason, 0);
	}
	if (first)
		put_bounds(out, &r->bounds);
	putc('\n', out);
	if (*r->cause.event)
		put_cause(out, t, &r->cause);
}

/* Returns whether earlier snapshots, up to time @newest, hold samples that the request wants. */
static bool is_rest(const struct pd_snapshot_request *r, uint64_t newest)
{
	const struct pd_snapshot_bounds *b = &r->bounds;

	if (!newest || b->since_last)
		return false;
	return !b->last_ns || b->last_ns >= r->asked || newest >= r->asked - b->last_ns;
}

/* A snapshot that has no samples, but the trace of AUX areas. */
static void put_trace(FILE *out, const struct pd_snapshot_figures *f)
{
	char size[HUMAN_SIZE_SIZE];

	fprintf(out, "#   trace   : %s in %.1f ms\n", human_size(f->bytes, size),
		(double)f->took / 1e6);
}

static void put_figures(FILE *out, uint64_t number, const struct pd_snapshot_figures *f, bool rest)
{
	char count[HUMAN_COUNT_SIZE], size[HUMAN_SIZE_SIZE];

	fprintf(out, "#   samples : %s", human_count(f->samples, count));
	if (f->samples) {
		fputs(", ", out);
		put_time(out, f->first);
		fputs(" to ", out);
		put_time(out, f->last);
		fprintf(out, " (%.3f s%s)",
			(double)(f->last > f->first ? f->last - f->first : 0) / 1e9,
			rest ? "; those before are in an earlier snapshot" : "");
	}
	fprintf(out, ", %s in %.1f ms", human_size(f->bytes, size), (double)f->took / 1e6);
	fprintf(out, "; %s lost", human_count(f->lost, count));
	fprintf(out, ", %s evicted since the %s", human_count(f->evicted, count),
		number > 1 ? "previous snapshot" : "start");
	if (f->refused)
		fprintf(out, ", %s requests refused", human_count(f->refused, count));
	putc('\n', out);
}

void snapshots_render(FILE *out, const struct trace *t)
{
	const struct snapshots *s = &t->snapshots;
	struct pd_snapshot_log log, next, begin = {0};
	uint64_t newest = 0; /* time of the newest sample in earlier snapshots */
	bool first = true;

	for (size_t i = 0; i < s->nr_records; i++) {
		bool last = i + 1 == s->nr_records;

		snapshots_read(s, i, &log);
		if (!last)
			snapshots_read(s, i + 1, &next);
		last = last || next.number != log.number;
		if (first)
			begin = log;
		if (log.kind == PD_SNAPSHOT_REQUEST)
			put_request(out, t, log.number, &log.request, first);
		else if (s->traces && !log.figures.samples && !log.figures.lost)
			put_trace(out, &log.figures);
		else
			put_figures(out, log.number, &log.figures,
				    begin.kind == PD_SNAPSHOT_REQUEST &&
					    is_rest(&begin.request, newest));
		if (last && log.kind == PD_SNAPSHOT_REQUEST)
			fputs("#   it is not complete\n", out);
		if (log.kind == PD_SNAPSHOT_END && log.figures.last > newest)
			newest = log.figures.last;
		first = last;
	}
}

/* --- JSON ----------------------------------------------------------------------------------------
 */

static int put(json_t *object, const char *key, json_t *value)
{
	return json_object_set_new(object, key, value);
}

static json_t *cause_json(const struct trace *t, const struct pd_snapshot_cause *c)
{
	const char *comm = cause_comm(t, c);
	json_t *o = json_object();
	int rc = o ? 0 : -1;

	if (!rc)
		rc = put(o, "event", json_name(c->event)) ?: put(o, "time", json_count(c->time));
	if (!rc && c->cpu != UINT32_MAX)
		rc = put(o, "cpu", json_count(c->cpu));
	if (!rc && c->pid != UINT32_MAX)
		rc = put(o, "pid", json_count(c->pid));
	if (!rc && c->tid != UINT32_MAX)
		rc = put(o, "tid", json_count(c->tid));
	if (!rc && *comm)
		rc = put(o, "comm", json_name(comm));
	if (!rc)
		return o;
	json_decref(o);
	return NULL;
}

static json_t *request_json(const struct trace *t, const struct pd_snapshot_request *r)
{
	json_t *o = json_object();
	int rc = o ? 0 : -1;

	if (!rc)
		rc = put(o, "origin", json_string(pd_snapshot_origin_name(r->origin)))
			       ?: put(o, "reason", json_name(r->reason))
			       ?: put(o, "asked", json_count(r->asked))
			       ?: put(o, "wall_clock", json_count(r->wall_clock))
			       ?: put(o, "last_ns", json_count(r->bounds.last_ns))
			       ?: put(o, "last_bytes", json_count(r->bounds.last_bytes))
			       ?: put(o, "since_last", json_boolean(r->bounds.since_last));
	if (!rc && *r->cause.event)
		rc = put(o, "sample", cause_json(t, &r->cause));
	if (!rc)
		return o;
	json_decref(o);
	return NULL;
}

static int put_figures_json(json_t *o, const struct pd_snapshot_figures *f)
{
	const struct {
		const char *key;
		uint64_t value;
	} all[] = {
		{"begun", f->begun},	 {"took_ns", f->took},	  {"bytes", f->bytes},
		{"samples", f->samples}, {"first", f->first},	  {"last", f->last},
		{"lost", f->lost},	 {"evicted", f->evicted}, {"refused", f->refused},
	};
	int rc = 0;

	for (size_t i = 0; !rc && i < sizeof(all) / sizeof(all[0]); i++)
		rc = put(o, all[i].key, json_count(all[i].value));
	return rc;
}

/* Adds @log to the last snapshot of @list, or begins the next snapshot. */
static int add_log(json_t *list, const struct trace *t, const struct pd_snapshot_log *log,
		   bool first)
{
	json_t *o;

	if (first) {
		o = json_object();
		if (json_array_append_new(list, o) || put(o, "number", json_count(log->number)) ||
		    put(o, "requests", json_array()))
			return -1;
	}
	o = json_array_get(list, json_array_size(list) - 1);
	if (log->kind == PD_SNAPSHOT_END)
		return put_figures_json(o, &log->figures);
	return json_array_append_new(json_object_get(o, "requests"),
				     request_json(t, &log->request));
}

json_t *snapshots_json(const struct trace *t)
{
	json_t *list = json_array();
	struct pd_snapshot_log log;
	uint64_t number = 0;

	for (size_t i = 0; list && i < t->snapshots.nr_records; i++) {
		snapshots_read(&t->snapshots, i, &log);
		if (add_log(list, t, &log, !i || log.number != number)) {
			json_decref(list);
			return NULL;
		}
		number = log.number;
	}
	return list;
}
