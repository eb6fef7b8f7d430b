// SPDX-License-Identifier: Apache-2.0
#include "report/spans/spans.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/id_table.h"
#include "base/nearest.h"

/* A thread between its start and its end. */
struct span_start {
	uint64_t since; /* 0: it has not started */
	uint64_t losses;
	uint32_t cpu;
};

struct span_finder {
	struct trace *trace;
	const struct spans_opts *opts;
	const struct pd_evsel *start, *end;
	const struct pd_evsel *event; /* whose samples say what threads did; NULL: all do */
	struct spans *spans;
	struct id_table numbers; /* of threads */
	struct span_start *threads;
	size_t cap_threads;
	uint64_t losses;
	uint64_t snapshot; /* for snapshots_gap() */
	size_t cap_slowest;
	struct frames frames; /* of the second walk */
};

/* --- durations -----------------------------------------------------------------------------------
 */

static struct span_start *thread_of(struct span_finder *c, uint32_t tid)
{
	uint32_t known = id_table_count(&c->numbers), number = id_table_add(&c->numbers, tid);

	if (number == ID_TABLE_NONE ||
	    array_grow(&c->threads, &c->cap_threads, (size_t)number + 1, sizeof(*c->threads)))
		return NULL;
	if (number == known)
		c->threads[number] = (struct span_start){0};
	return &c->threads[number];
}

/* Keeps @span if it is among the slowest. */
static int offer(struct span_finder *c, const struct span *span)
{
	struct spans *s = c->spans;
	size_t at = s->nr_slowest;

	if (!c->opts->slowest || (at == c->opts->slowest && span->ns <= s->slowest[at - 1].ns))
		return 0;
	if (at < c->opts->slowest) {
		if (array_grow(&s->slowest, &c->cap_slowest, at + 1, sizeof(*s->slowest)))
			return -ENOMEM;
		s->nr_slowest++;
	} else {
		at--;
	}
	for (; at && s->slowest[at - 1].ns < span->ns; at--)
		s->slowest[at] = s->slowest[at - 1];
	s->slowest[at] = *span;
	return 0;
}

static int end_span(struct span_finder *c, const struct walk_sample *ws, struct span_start *thread)
{
	const struct pd_sample *s = &ws->s;
	struct span span = {
		.time = thread->since,
		.ns = s->time > thread->since ? s->time - thread->since : 0,
		.pid = s->pid,
		.tid = s->tid,
		.cpu = thread->cpu,
		.end_cpu = s->cpu,
		.comm = state_comm(c->trace->state, s->pid, s->tid, ws->rec->at),
		.unsure = thread->losses != c->losses,
		.root = CALLGRAPH_NONE,
	};
	int rc;

	thread->since = 0;
	if (!filter_sample(&c->opts->filter, s) || !filter_comm(&c->opts->filter, span.comm))
		return 0;
	c->spans->unsure += span.unsure;
	rc = distribution_add(&c->spans->ns, span.ns);
	return rc ?: offer(c, &span);
}

/* One event may end what the last one started, and start anew. */
static int take_sample(const struct walk_sample *ws, void *arg)
{
	struct span_finder *c = arg;
	struct span_start *thread;
	int rc = 0;

	if (!ws->evsel || (ws->evsel != c->start && ws->evsel != c->end))
		return 0;
	c->losses += snapshots_gap(&c->trace->snapshots, ws->rec, &c->snapshot);
	thread = thread_of(c, ws->s.tid);
	if (!thread)
		return -ENOMEM;
	if (ws->evsel == c->end && thread->since)
		rc = end_span(c, ws, thread);
	else if (ws->evsel == c->end && c->start != c->end)
		c->spans->begun_before++;
	if (ws->evsel != c->start)
		return rc;
	c->spans->restarted += thread->since != 0;
	*thread = (struct span_start){ws->s.time, c->losses, ws->s.cpu};
	return rc;
}

static int take_record(const struct data_record *rec, const struct pd_record *r, void *arg)
{
	struct span_finder *c = arg;

	(void)r;
	c->losses +=
		rec->hdr->type == PERF_RECORD_LOST || rec->hdr->type == PERF_RECORD_LOST_SAMPLES;
	return 0;
}

static int find_durations(struct span_finder *c, struct error *err)
{
	const struct walk_takers takers = {.sample = take_sample, .record = take_record, .arg = c};
	int rc = walk_ordered(c->trace, &takers, err);

	for (uint32_t i = 0; i < id_table_count(&c->numbers); i++)
		c->spans->unended += c->threads[i].since != 0;
	return rc;
}

/* --- what they did -------------------------------------------------------------------------------
 */

/* Returns how much of @from to @to is in the span. */
static uint64_t overlap(const struct span *s, uint64_t from, uint64_t to)
{
	uint64_t end = s->time + s->ns;

	from = from > s->time ? from : s->time;
	to = to < end ? to : end;
	return to > from ? to - from : 0;
}

static int add_stack(struct span_finder *c, struct span *s, uint64_t ns)
{
	int rc = s->root == CALLGRAPH_NONE ? callgraph_root(&s->graph, &s->root) : 0;

	return rc
		       ?: callgraph_add(&s->graph, s->root, c->frames.frame, c->frames.nr,
					CALLGRAPH_CALLER, ns, 1);
}

/* Adds the part of a wait, or a sample, that is in @s. */
static int add_to_span(struct span_finder *c, struct span *s, const struct walk_sample *ws)
{
	const struct wait_info *w = ws->wait;
	uint64_t ns = w ? overlap(s, w->since, w->since + w->ns) : ws->s.period;
	int rc;

	if (!ns || (!w && (ws->s.time < s->time || ws->s.time >= s->time + s->ns)))
		return 0;
	rc = frames_of_sample(&c->frames, ws, c->opts->max_stack);
	if (!rc && w) {
		s->waited[wait_kind_of(w, c->frames.frame, c->frames.nr)] += ns;
		rc = wait_mark(w, &c->frames);
	} else if (!rc) {
		s->samples++;
	}
	return rc ?: add_stack(c, s, ns);
}

static int take_activity(const struct walk_sample *ws, void *arg)
{
	struct span_finder *c = arg;
	int rc = 0;

	if (!ws->evsel || (c->event && ws->evsel != c->event) ||
	    (!ws->wait && (ws->evsel == c->start || ws->evsel == c->end)))
		return 0;
	for (size_t i = 0; !rc && i < c->spans->nr_slowest; i++)
		if (c->spans->slowest[i].tid == ws->s.tid)
			rc = add_to_span(c, &c->spans->slowest[i], ws);
	return rc;
}

/* How well samples of @e say what threads did. */
static int rank(const struct pd_evsel *e)
{
	return waits_clock(e) ? 2 : e->attr.type != PERF_TYPE_TRACEPOINT;
}

/* Periods of several events cannot be added. Returns the best event, or NULL. */
static const struct pd_evsel *choose_event(const struct span_finder *c)
{
	const struct trace *t = c->trace;
	const struct pd_evsel *ret = NULL;

	for (size_t i = 0; i < t->counts.nr_events; i++) {
		const struct pd_evsel *e = pd_evlist_at(t->evlist, i);

		if (!t->counts.by_event[i].samples || e == c->start || e == c->end)
			continue;
		if (!ret || rank(e) > rank(ret))
			ret = e;
	}
	return ret;
}

/* Walks all samples of a recording that does not say when threads waited. */
static int find_samples(struct span_finder *c, struct error *err)
{
	c->event = choose_event(c);
	c->spans->timed = c->event && waits_clock(c->event);
	return walk_ordered(c->trace, &(struct walk_takers){.sample = take_activity, .arg = c},
			    err);
}

static int find_activities(struct span_finder *c, struct error *err)
{
	const struct waits_opts opts = {.wall = true};
	struct waits_counts counts;
	int rc;

	c->spans->waits = c->spans->timed = !waits_check(c->trace, NULL);
	rc = frames_init(&c->frames, c->trace);
	if (!rc && c->opts->inlined) {
		c->frames.inlines = FRAMES_INLINED;
		rc = trace_want_lines(c->trace);
	}
	if (rc)
		return error_sys(err, rc, "%s", c->trace->opts.path);
	c->frames.outermost = true;
	if (c->spans->waits)
		rc = waits_walk(c->trace, &opts, take_activity, c, &counts, err);
	else
		rc = find_samples(c, err);
	for (size_t i = 0; !rc && i < c->spans->nr_slowest; i++)
		rc = callgraph_sort(&c->spans->slowest[i].graph);
	return rc;
}

/* --- the whole -----------------------------------------------------------------------------------
 */

static int find_event(const struct trace *t, const char *name, const struct pd_evsel **ret,
		      struct error *err)
{
	struct nearest nearest;
	char others[256] = "";

	for (size_t i = 0; i < pd_evlist_count(t->evlist); i++) {
		*ret = pd_evlist_at(t->evlist, i);
		if (!strcmp((*ret)->name, name))
			return 0;
	}
	if (nearest_init(&nearest, name)) {
		for (size_t i = 0; i < pd_evlist_count(t->evlist); i++)
			nearest_offer(&nearest, pd_evlist_at(t->evlist, i)->name);
		nearest_write(&nearest, others, sizeof(others));
	}
	return error_set(err, -ENOENT,
			 "--span: the recording has no event '%s'%s; 'ringtail evlist' lists its "
			 "events, 'ringtail record -e' records others",
			 name, others);
}

/* A span is between two times of a thread. */
static int check_event(const struct pd_evsel *e, struct error *err)
{
	uint64_t fields = pd_evsel_fields(e);
	bool time = fields & PERF_SAMPLE_TIME;

	if (time && fields & PERF_SAMPLE_TID)
		return 0;
	return error_set(err, -EINVAL, "--span: samples of '%s' have no %s; record them again%s",
			 e->name, time ? "thread" : "time", time ? "" : " with the time (-T)");
}

int spans_run(struct trace *t, const struct spans_opts *opts, struct spans **ret, struct error *err)
{
	struct span_finder c = {.trace = t, .opts = opts};
	int rc = find_event(t, opts->start, &c.start, err);

	if (!rc)
		rc = find_event(t, opts->end, &c.end, err);
	if (!rc)
		rc = check_event(c.start, err) ?: check_event(c.end, err);
	if (rc)
		return rc;
	c.spans = calloc(1, sizeof(*c.spans));
	if (!c.spans)
		return error_sys(err, -ENOMEM, "%s", t->opts.path);
	rc = find_durations(&c, err);
	if (!rc && c.spans->nr_slowest)
		rc = find_activities(&c, err);
	frames_release(&c.frames);
	free(c.threads);
	id_table_release(&c.numbers);
	if (rc < 0)
		spans_free(c.spans);
	else
		*ret = c.spans;
	return rc < 0 ? rc : 0;
}

void spans_free(struct spans *s)
{
	if (!s)
		return;
	for (size_t i = 0; i < s->nr_slowest; i++)
		callgraph_release(&s->slowest[i].graph);
	free(s->slowest);
	distribution_release(&s->ns);
	free(s);
}

uint64_t span_ran(const struct span *s)
{
	uint64_t waited = 0;

	for (size_t i = 0; i < WAIT_KINDS; i++)
		waited += s->waited[i];
	return waited < s->ns ? s->ns - waited : 0;
}
