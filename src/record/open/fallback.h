/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What to do when perf_event_open(2) refuses an event: change the plan so that the most is still
 * had, and say so; or say what the user can do.
 */
#ifndef RINGTAIL_RECORD_OPEN_FALLBACK_H
#define RINGTAIL_RECORD_OPEN_FALLBACK_H

#include "record/plan/plan.h"

/*
 * Which optional parts of the interface this kernel has, found out by opening dummy events. Asked
 * only when the kernel refuses something, since that costs a system call each.
 */
struct fallback {
	const struct limits *limits;
	const struct messages *messages;
	bool probed;
};

/*
 * The kernel refused @event with @code (negative errno). Changes the plan and returns true if it
 * is worth another try; every call that returns true takes something away, so there is an end.
 */
bool fallback_try(struct fallback *f, struct plan *plan, struct plan_event *event, int rc);

/* All is open: says what became of the events, a line for each kind of change. */
void fallback_say(const struct fallback *f, const struct plan *plan);

/* Fills @err with why @event cannot be opened and what helps. Returns @code. */
int fallback_explain(const struct fallback *f, const struct plan *plan,
		     const struct plan_event *event, int cpu, int rc, struct error *err);

#endif
