/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Decides what the recorder does when perf_event_open(2) refuses an event.
 *
 * It changes the plan to the nearest request that the kernel may accept and sends a message, or
 * explains what the user can do.
 *
 * Threads: the main thread's.
 */
#ifndef RINGTAIL_RECORD_OPEN_FALLBACK_H
#define RINGTAIL_RECORD_OPEN_FALLBACK_H

#include "record/plan/plan.h"

/* The caller's, with @limits and @messages set and the rest zero. */
struct fallback {
	const struct limits *limits;
	const struct messages *messages;
	/*
	 * Dummy events have shown which parts of the interface this kernel lacks. The recorder
	 * opens them only after a refusal, because each part costs a system call.
	 */
	bool probed;
};

/*
 * The kernel refused @event with @rc (negative errno). Changes the plan and returns true if another
 * try is worth it. Each true removes something from the plan, so that the tries end.
 */
bool fallback_try(struct fallback *f, struct plan *plan, struct plan_event *event, int rc);

/* When all is open: sends a message for each kind of change to the events. */
void fallback_say(const struct fallback *f, const struct plan *plan);

/* Fills @err with the reason why @event cannot be opened on @cpu, and what helps. Returns @rc. */
int fallback_explain(const struct fallback *f, const struct plan *plan,
		     const struct plan_event *event, int cpu, int rc, struct error *err);

#endif
