// SPDX-License-Identifier: Apache-2.0
#include "report/waits/sched_event.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* common_flags: TRACE_FLAG_HARDIRQ and _SOFTIRQ (include/linux/trace_events.h). */
#define IN_INTERRUPT 0x18

static bool is_named(const struct pd_evsel *evsel, const char *name)
{
	return evsel->attr.type == PERF_TYPE_TRACEPOINT && !strcmp(evsel->name, name);
}

static bool has(const struct trace *t, const char *name)
{
	for (size_t i = 0; i < pd_evlist_count(t->evlist); i++)
		if (is_named(pd_evlist_at(t->evlist, i), name))
			return true;
	return false;
}

static enum sched_event_kind kind_of(const struct pd_evsel *evsel, const char *wakeup)
{
	if (is_named(evsel, "sched:sched_switch"))
		return SCHED_EVENT_SWITCH;
	if (is_named(evsel, "sched:sched_wakeup_new"))
		return SCHED_EVENT_WAKEUP_NEW;
	return is_named(evsel, wakeup) ? SCHED_EVENT_WAKEUP : SCHED_EVENT_NONE;
}

int sched_events_init(struct sched_events *s, const struct trace *t)
{
	const char *wakeup =
		has(t, "sched:sched_waking") ? "sched:sched_waking" : "sched:sched_wakeup";

	*s = (struct sched_events){.trace = t, .nr = pd_evlist_count(t->evlist)};
	s->kinds = calloc(s->nr + 1, sizeof(*s->kinds));
	if (!s->kinds)
		return -ENOMEM;
	for (size_t i = 0; i < s->nr; i++) {
		s->kinds[i] =
			t->tracing ? kind_of(pd_evlist_at(t->evlist, i), wakeup) : SCHED_EVENT_NONE;
		s->switches |= s->kinds[i] == SCHED_EVENT_SWITCH;
		s->wakeups |= s->kinds[i] == SCHED_EVENT_WAKEUP;
	}
	return 0;
}

void sched_events_release(struct sched_events *s)
{
	free(s->kinds);
	*s = (struct sched_events){0};
}

static bool read_number(const struct sched_events *s, const struct tracing_raw *raw,
			const char *field, int64_t *ret)
{
	return tracing_number(s->trace->tracing, raw, field, ret);
}

void sched_event_read(const struct sched_events *s, const struct walk_sample *ws,
		      struct sched_event *ret)
{
	const struct tracing_raw raw = {.evsel = ws->evsel, .p = ws->s.raw, .size = ws->s.raw_size};
	int64_t tid = 0, next = 0, flags = 0;
	bool known;

	*ret = (struct sched_event){.kind = SCHED_EVENT_NONE};
	if (!ws->evsel || ws->made || !s->kinds[ws->evsel->index] || !raw.p)
		return;
	ret->kind = s->kinds[ws->evsel->index];
	if (ret->kind == SCHED_EVENT_SWITCH)
		known = read_number(s, &raw, "prev_pid", &tid) &&
			read_number(s, &raw, "next_pid", &next) &&
			read_number(s, &raw, "prev_state", &ret->state);
	else
		known = read_number(s, &raw, "pid", &tid);
	if (read_number(s, &raw, "common_flags", &flags))
		ret->interrupt = flags & IN_INTERRUPT;
	ret->tid = (uint32_t)tid;
	ret->next = (uint32_t)next;
	if (!known)
		ret->kind = SCHED_EVENT_NONE;
}
