// SPDX-License-Identifier: Apache-2.0
#include "export/stream/timeline.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "perfdata/snapshot_log.h"

#define CPU_MAX 65536u /* a larger number is damage */
#define IDLE	0u     /* thread id of a CPU without work */

/* The thread that was seen last on a CPU. */
struct timeline_cpu {
	bool is_known;
	uint32_t tid;
	uint64_t since;
};

/* Key of a counter; without padding. */
struct timeline_counter {
	uint64_t id;
	uint64_t tid; /* inherited counters have an id in common; else 0 */
};

static struct timeline_task no_task(void)
{
	return (struct timeline_task){.pid = TIMELINE_NONE, .tid = TIMELINE_NONE};
}

static struct timeline_task task_of(const struct timeline *t, uint32_t pid, uint32_t tid,
				    struct moment at)
{
	return (struct timeline_task){
		.pid = pid, .tid = tid, .comm = state_comm(t->trace->state, pid, tid, at)};
}

/* As task_of(), where the record does not say which process has the thread. */
static struct timeline_task thread_of(const struct timeline *t, uint32_t tid, struct moment at)
{
	uint32_t pid = tid;

	if (tid != IDLE)
		state_pid(t->trace->state, tid, at, &pid);
	return task_of(t, pid, tid, at);
}

/* --- switches ------------------------------------------------------------------------------------
 */

static int cpu_at(struct timeline *t, uint32_t cpu, struct timeline_cpu **ret)
{
	if (cpu >= CPU_MAX)
		return -EINVAL;
	if (array_grow(&t->cpus, &t->cap_cpus, (size_t)cpu + 1, sizeof(*t->cpus)))
		return -ENOMEM;
	while (t->nr_cpus <= cpu)
		t->cpus[t->nr_cpus++] = (struct timeline_cpu){0};
	*ret = &t->cpus[cpu];
	return 0;
}

static int give_switch(struct timeline *t, struct timeline_cpu *c, struct timeline_event *e)
{
	e->kind = TIMELINE_SWITCH;
	if (c->is_known && c->tid == e->task.tid)
		e->since = c->since;
	*c = (struct timeline_cpu){.is_known = true, .tid = e->other.tid, .since = e->time};
	return t->fn(e, t->arg);
}

/*
 * Of a tracepoint and the records of one switch, the tracepoint comes first. So a record says
 * nothing new if the CPU's last thread is not the one that leaves, or is the one that arrives.
 */
static int take_switch_record(struct timeline *t, const struct data_record *rec,
			      const struct pd_record *r)
{
	struct timeline_event e = {.time = rec->at.time, .cpu = r->id.cpu};
	struct timeline_task self = task_of(t, r->id.pid, r->id.tid, rec->at), next_prev;
	struct timeline_cpu *c;
	int rc = cpu_at(t, r->id.cpu, &c);

	if (rc)
		return rc == -EINVAL ? 0 : rc;
	if (c->is_known && (c->tid == self.tid) != r->cswitch.out)
		return 0;
	if (r->cswitch.next_prev_tid != TIMELINE_NONE)
		next_prev = task_of(t, r->cswitch.next_prev_pid, r->cswitch.next_prev_tid, rec->at);
	else
		next_prev = thread_of(t, c->is_known && !r->cswitch.out ? c->tid : IDLE, rec->at);
	e.task = r->cswitch.out ? self : next_prev;
	e.other = r->cswitch.out ? next_prev : self;
	e.state = r->cswitch.out && !r->cswitch.preempt; /* 1: it sleeps */
	return give_switch(t, c, &e);
}

/* Fills the task whose fields begin with @prefix. Returns false if there is none. */
static bool read_task(struct timeline *t, const struct tracing_raw *raw, const char *prefix,
		      struct moment at, char *comm, struct timeline_task *ret)
{
	char name[32];
	const char *text;
	size_t len;
	int64_t n;

	snprintf(name, sizeof(name), "%spid", prefix);
	if (!tracing_number(t->trace->tracing, raw, name, &n))
		return false;
	*ret = thread_of(t, (uint32_t)n, at);
	snprintf(name, sizeof(name), "%sprio", prefix);
	if (tracing_number(t->trace->tracing, raw, name, &n))
		ret->prio = (int32_t)n;
	snprintf(name, sizeof(name), "%scomm", prefix);
	if (!ret->comm && tracing_text(t->trace->tracing, raw, name, &text, &len)) {
		snprintf(comm, sizeof(t->comm[0]), "%.*s", (int)len, text);
		ret->comm = comm;
	}
	return true;
}

static int take_switch_sample(struct timeline *t, const struct walk_sample *ws,
			      const struct tracing_raw *raw)
{
	struct timeline_event e = {.time = ws->s.time, .cpu = ws->s.cpu};
	struct timeline_cpu *c;
	int rc;

	if (!read_task(t, raw, "prev_", ws->rec->at, t->comm[0], &e.task) ||
	    !read_task(t, raw, "next_", ws->rec->at, t->comm[1], &e.other))
		return 0;
	tracing_number(t->trace->tracing, raw, "prev_state", &e.state);
	rc = cpu_at(t, ws->s.cpu, &c);
	if (rc)
		return rc == -EINVAL ? 0 : rc;
	return give_switch(t, c, &e);
}

static int take_wakeup(struct timeline *t, const struct walk_sample *ws,
		       const struct tracing_raw *raw, const char *name)
{
	struct timeline_event e = {
		.kind = TIMELINE_WAKEUP,
		.time = ws->s.time,
		.cpu = ws->s.cpu,
		.task = task_of(t, ws->s.pid, ws->s.tid, ws->rec->at),
		.name = name,
	};
	int64_t cpu = TIMELINE_NONE;

	if (!read_task(t, raw, "", ws->rec->at, t->comm[1], &e.other))
		return 0;
	tracing_number(t->trace->tracing, raw, "target_cpu", &cpu);
	e.target_cpu = (uint32_t)cpu;
	return t->fn(&e, t->arg);
}

static int take_tracepoint(struct timeline *t, const struct walk_sample *ws)
{
	static const char *const wakeups[] = {"sched_waking", "sched_wakeup", "sched_wakeup_new"};
	const struct tracing_raw raw = {.evsel = ws->evsel, .p = ws->s.raw, .size = ws->s.raw_size};
	const char *name = ws->evsel->name;

	if (!t->trace->tracing || strncmp(name, "sched:", 6) != 0)
		return 0;
	if (!strcmp(name + 6, "sched_switch"))
		return take_switch_sample(t, ws, &raw);
	for (size_t i = 0; i < sizeof(wakeups) / sizeof(wakeups[0]); i++)
		if (!strcmp(name + 6, wakeups[i]))
			return take_wakeup(t, ws, &raw, wakeups[i]);
	return 0;
}

/* --- counters ------------------------------------------------------------------------------------
 */

/* Sets *@ret to the step since the last reading. Returns 1, 0 for the first reading, or -ENOMEM. */
static int step_of(struct timeline *t, const struct timeline_counter *key, uint64_t value,
		   uint64_t *ret)
{
	uint32_t known, number;
	uint64_t before;

	t->counters.size = sizeof(*key);
	known = intern_count(&t->counters);
	number = intern_put(&t->counters, key);
	if (number == INTERN_NONE ||
	    array_grow(&t->values, &t->cap_values, (size_t)number + 1, sizeof(*t->values)))
		return -ENOMEM;
	before = t->values[number];
	t->values[number] = value;
	if (number == known || value < before)
		return 0;
	*ret = value - before;
	return 1;
}

static int take_readings(struct timeline *t, const struct walk_sample *ws)
{
	bool shared = ws->evsel->attr.flags & PD_ATTR_INHERIT;
	struct timeline_event e = {
		.kind = TIMELINE_COUNTER,
		.time = ws->s.time,
		.cpu = ws->s.cpu,
		.task = task_of(t, ws->s.pid, ws->s.tid, ws->rec->at),
		.other = no_task(),
	};
	int rc = 0;

	for (uint64_t i = 0; rc >= 0 && i < ws->s.read.nr; i++) {
		struct pd_read_value v = pd_sample_read_value(&ws->s, ws->evsel, i);
		const struct timeline_counter key = {v.id ?: ws->s.id, shared ? ws->s.tid : 0};
		const struct pd_evsel *evsel = pd_evlist_by_id(t->trace->evlist, key.id);

		if (!key.id || !evsel)
			continue;
		e.name = evsel->name;
		rc = step_of(t, &key, v.value, &e.value);
		if (rc > 0)
			rc = t->fn(&e, t->arg);
	}
	return rc < 0 ? rc : 0;
}

int timeline_sample(struct timeline *t, const struct walk_sample *ws)
{
	int rc = 0;

	if (!ws->evsel || ws->made)
		return 0;
	if (ws->evsel->attr.type == PERF_TYPE_TRACEPOINT)
		rc = take_tracepoint(t, ws);
	if (!rc && ws->s.type & PERF_SAMPLE_READ)
		rc = take_readings(t, ws);
	return rc;
}

/* --- marks ---------------------------------------------------------------------------------------
 */

/* Gives a mark with the text in @t->text. */
static int give_mark(struct timeline *t, struct timeline_event *e)
{
	if (buf_append(&t->text, "", 1))
		return -ENOMEM;
	e->kind = TIMELINE_MARK;
	e->text = (const char *)t->text.data;
	return t->fn(e, t->arg);
}

static int take_snapshot(struct timeline *t, const struct data_record *rec)
{
	struct timeline_event e = {.cpu = TIMELINE_NONE, .task = no_task(), .other = no_task()};
	const struct pd_snapshot_request *req;
	struct pd_snapshot_log log;
	int rc;

	if (pd_snapshot_decode(rec->hdr, &log))
		return 0;
	if (log.kind == PD_SNAPSHOT_END) {
		e.name = "snapshot written";
		e.time = log.figures.begun;
		rc = buf_printf(&t->text, "snapshot %" PRIu64 ": %" PRIu64 " samples", log.number,
				log.figures.samples);
		return rc ?: give_mark(t, &e);
	}
	if (log.kind != PD_SNAPSHOT_REQUEST)
		return 0;
	req = &log.request;
	e.time = req->asked;
	e.name = req->origin == PD_SNAPSHOT_TRIGGER ? "trigger" : "snapshot";
	rc = buf_printf(&t->text, "snapshot %" PRIu64 ": %s%s%s", log.number,
			pd_snapshot_origin_name(req->origin), *req->reason ? ": " : "",
			req->reason);
	if (!rc && *req->cause.event) {
		e.cpu = req->cause.cpu;
		e.task = (struct timeline_task){
			.pid = req->cause.pid, .tid = req->cause.tid, .comm = req->cause.comm};
		rc = buf_printf(&t->text, " (%s)", req->cause.event);
	}
	return rc ?: give_mark(t, &e);
}

static int take_throttle(struct timeline *t, const struct pd_record *r, struct timeline_event *e)
{
	const struct pd_evsel *evsel = pd_evlist_by_id(t->trace->evlist, r->throttle.id);

	e->name = r->hdr->type == PERF_RECORD_THROTTLE ? "throttled" : "unthrottled";
	return buf_printf(&t->text, "%s", evsel ? evsel->name : "") ?: give_mark(t, e);
}

static int take_lost(struct timeline *t, const struct pd_record *r, struct timeline_event *e)
{
	bool samples = r->hdr->type == PERF_RECORD_LOST_SAMPLES;

	e->name = samples ? "lost samples" : "lost records";
	e->value = r->lost.lost;
	return buf_printf(&t->text, "%" PRIu64 " %s", r->lost.lost, samples ? "samples" : "records")
		       ?: give_mark(t, e);
}

int timeline_record(struct timeline *t, const struct data_record *rec, const struct pd_record *r)
{
	struct timeline_event e = {
		.time = rec->at.time,
		.cpu = r->id.cpu,
		.task = no_task(),
		.other = no_task(),
	};

	if (r->id.tid != TIMELINE_NONE)
		e.task = task_of(t, r->id.pid, r->id.tid, rec->at);
	t->text.len = 0;
	switch (rec->hdr->type) {
	case PERF_RECORD_SWITCH:
	case PERF_RECORD_SWITCH_CPU_WIDE: return take_switch_record(t, rec, r);
	case PERF_RECORD_LOST:
	case PERF_RECORD_LOST_SAMPLES: return take_lost(t, r, &e);
	case PERF_RECORD_THROTTLE:
	case PERF_RECORD_UNTHROTTLE: return take_throttle(t, r, &e);
	case PERF_RECORD_HEADER_EVENT_TYPE: return take_snapshot(t, rec);
	case PERF_RECORD_AUX:
		if (!(r->aux.flags & PERF_AUX_FLAG_TRUNCATED))
			return 0;
		e.name = "lost trace";
		return give_mark(t, &e);
	case PERF_RECORD_COMM:
		if (!r->comm.exec)
			return 0;
		e.name = "exec";
		e.task = task_of(t, r->comm.pid, r->comm.tid, rec->at);
		return buf_printf(&t->text, "%s", r->comm.comm) ?: give_mark(t, &e);
	default: return 0;
	}
}

char timeline_state_letter(int64_t state)
{
	/* include/linux/sched.h: TASK_REPORT; one bit more says that the task was preempted. */
	static const char letters[] = "SDTtXZPI";

	if (!(state & 0xff))
		return 'R';
	return letters[__builtin_ctz((unsigned int)state & 0xff)];
}

void timeline_release(struct timeline *t)
{
	intern_release(&t->counters);
	buf_release(&t->text);
	free(t->cpus);
	free(t->values);
}
