/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the samples of the scheduler's tracepoints say: sched_switch, sched_waking, sched_wakeup and
 * sched_wakeup_new.
 *
 * Where a recording has sched_waking, sched_wakeup says the same again and is left out. One thread
 * makes the table; then any may use it.
 */
#ifndef RINGTAIL_REPORT_WAITS_SCHED_EVENT_H
#define RINGTAIL_REPORT_WAITS_SCHED_EVENT_H

#include "report/trace/walk.h"

enum sched_event_kind {
	SCHED_EVENT_NONE, /* another event */
	SCHED_EVENT_SWITCH,
	SCHED_EVENT_WAKEUP,
	SCHED_EVENT_WAKEUP_NEW,
};

struct sched_event {
	enum sched_event_kind kind;
	uint32_t tid;	/* SWITCH: it leaves; else it is woken */
	uint32_t next;	/* SWITCH: it arrives */
	int64_t state;	/* SWITCH: prev_state */
	bool interrupt; /* the sampled thread was interrupted */
};

/* Kinds by evsel index. */
struct sched_events {
	const struct trace *trace;
	enum sched_event_kind *kinds;
	size_t nr;
	bool switches, wakeups; /* the recording has these tracepoints */
};

/* Returns 0 or -ENOMEM. The caller calls sched_events_release() also after failure. */
int sched_events_init(struct sched_events *s, const struct trace *t);
void sched_events_release(struct sched_events *s);

/* Reads the sample @ws. @ret->kind is SCHED_EVENT_NONE if it is of another event or damaged. */
void sched_event_read(const struct sched_events *s, const struct walk_sample *ws,
		      struct sched_event *ret);

#endif
