/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Counts how often and for how long the kernel throttled events.
 *
 * The kernel stops an event that interrupts more often in a tick than
 * kernel.perf_event_max_sample_rate allows, until the next tick. The event does not count
 * meanwhile, so no sample is lost. The kernel writes a record at both ends, with the id of the
 * opened event and the id of the event itself, a child's if inherited (kernel/events/core.c,
 * perf_log_throttle() of Linux 6.1). The time is known if both records came.
 *
 * An idle CPU may have no ticks for seconds. A clock is then throttled at any frequency, because
 * all its interrupts count for one tick (__perf_event_account_interrupt()). No task runs meanwhile,
 * so this module counts these apart.
 *
 * Threads: any may count and read; a lock guards the counts. Times are in ns.
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

/*
 * Returns counts of 0 for the events of @plan behind the @nr descriptors, neither of which need
 * outlive it, or NULL when out of memory.
 */
struct throttle_stats *throttle_stats_new(const struct plan *plan, const struct open_fd *fds,
					  size_t nr);
void throttle_stats_free(struct throttle_stats *t); /* accepts NULL */

/*
 * Any thread: counts @hdr, a record of @cpu with the ids of the output. Returns false if it is
 * neither a THROTTLE nor an UNTHROTTLE record. @t NULL: counts nothing.
 */
bool throttle_stats_count(struct throttle_stats *t, const struct perf_event_header *hdr, int cpu);

struct throttle_stats_figures {
	uint64_t times, nsec;	  /* all events together */
	uint64_t idle, idle_nsec; /* the part of these on idle CPUs */
	unsigned int event;	  /* throttled most often on busy CPUs: its index in the plan */
	int cpu;		  /* the CPU of that event; -1: not known */
	uint64_t most;		  /* times that it was throttled there */
};

/* Any thread: fills *@ret. @t NULL: all are 0. */
void throttle_stats_figures(struct throttle_stats *t, struct throttle_stats_figures *ret);

/*
 * Sends the counts, and advice, as messages. @max_rate: kernel.perf_event_max_sample_rate now.
 * Throttling on idle CPUs, or of less than a millisecond in all, is a MESSAGE_DETAIL.
 */
void throttle_stats_say(struct throttle_stats *t, const struct plan *plan, uint64_t max_rate,
			const struct messages *messages);

#endif
