/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How often the kernel throttled events, and for how long.
 *
 * An event that interrupts more often in a tick than kernel.perf_event_max_sample_rate allows is
 * stopped until the next tick, and does not count meanwhile; nothing that would have to be lost is
 * made. The kernel tells of both by records with the id of the event that was opened and the one
 * of the event itself, a child's if it is inherited (kernel/events/core.c, perf_log_throttle() of
 * Linux 6.1). How long is known where both came.
 *
 * A CPU that idles may have no ticks for seconds; then a clock is throttled at any frequency, since
 * what it interrupts counts for one tick (__perf_event_account_interrupt()). Nobody runs meanwhile.
 */
#ifndef RINGTAIL_RECORD_OPEN_THROTTLE_STATS_H
#define RINGTAIL_RECORD_OPEN_THROTTLE_STATS_H

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "record/plan/messages.h"
#include "record/plan/plan.h"

struct open_fd;
struct throttle_stats;

/* Of these descriptors' events of @plan; neither need outlive it. NULL when out of memory. */
struct throttle_stats *throttle_stats_new(const struct plan *plan, const struct open_fd *fds,
					  size_t nr);
void throttle_stats_free(struct throttle_stats *t); /* accepts NULL */

/*
 * Any thread: counts what @hdr says, with an id as the output has it, that came from @cpu. False if
 * it is neither a THROTTLE nor an UNTHROTTLE record. @t NULL: it is counted elsewhere.
 */
bool throttle_stats_count(struct throttle_stats *t, const struct perf_event_header *hdr, int cpu);

struct throttle_stats_figures {
	uint64_t times, nsec;	  /* of all events together */
	uint64_t idle, idle_nsec; /* of these, those of a CPU that was idle */
	unsigned int event; /* that was throttled most often but for these, its index in the plan */
	int cpu;	    /* where; -1: not known */
	uint64_t most;	    /* times */
};

/* Any thread. @t NULL: all are 0. */
void throttle_stats_figures(struct throttle_stats *t, struct throttle_stats_figures *ret);

/*
 * What it came to and would help: @max_rate is kernel.perf_event_max_sample_rate now. What was of
 * idle CPUs is a detail, and so is what comes to less than a millisecond.
 */
void throttle_stats_say(struct throttle_stats *t, const struct plan *plan, uint64_t max_rate,
			const struct messages *messages);

#endif
