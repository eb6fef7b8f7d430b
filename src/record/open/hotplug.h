/* SPDX-License-Identifier: Apache-2.0 */
/*
 * CPUs that come and go while all of them, or some, are recorded (-a, -C).
 *
 * The kernel takes the events of a CPU that goes offline away, and does not give them back when it
 * is online again; so they are opened anew (record/revive.h). What happened there before that is
 * missing, as is all of a CPU that was not there at the start, for which there are no rings.
 * Nothing in the rings tells that: it is said, and counts as loss.
 *
 * The kernel tells which CPUs come and go; where it does not tell us (containers), those that are
 * online are looked at once a second, which misses one that is away for less.
 *
 * The main thread's. HOTPLUG_INIT looks at nothing; all calls accept it.
 */
#ifndef RINGTAIL_RECORD_OPEN_HOTPLUG_H
#define RINGTAIL_RECORD_OPEN_HOTPLUG_H

#include <time.h>

#include "record/plan/messages.h"
#include "record/plan/options.h"
#include "record/plan/plan.h"

struct hotplug {
	const struct messages *messages;
	/* Opens the events of a CPU again. Returns 0 or a negative errno; -ENODEV: not yet. */
	int (*revive)(void *arg, int cpu);
	void *arg;
	int fd;	  /* of sys/uevent.h; -1: only hotplug_look() tells */
	bool all; /* not only those that were named */
	struct hotplug_cpu {
		int cpu;
		bool sampled;  /* else what is known of tasks comes from there, too, and no more */
		bool known;    /* at the start */
		bool recorded; /* its events are there */
		bool missed;   /* for some time they were not, while it was online */
		bool told;     /* that they are not */
		unsigned int tries;
	} * cpus;
	size_t nr, capacity;
	time_t looked; /* seconds of CLOCK_MONOTONIC */
};

#define HOTPLUG_INIT     \
	{                \
		.fd = -1 \
	}

/*
 * Events were opened; @h has messages, revive and arg, the rest being zero. Returns 0 or -ENOMEM;
 * hotplug_release() is due in both cases.
 */
int hotplug_init(struct hotplug *h, const struct target_opts *opts, const struct plan *plan);
void hotplug_release(struct hotplug *h);

/* Readable when hotplug_dispatch() is due; -1: never. */
int hotplug_fd(const struct hotplug *h);
void hotplug_dispatch(struct hotplug *h);

/* Looks which CPUs are online, if a second has passed since it did. */
void hotplug_look(struct hotplug *h);

/* These are online now: revives what has come back, and says what has changed. */
void hotplug_update(struct hotplug *h, const struct cpus *online);

/* @cpu has come or gone. */
void hotplug_event(struct hotplug *h, int cpu, bool online);

/* How many CPUs were online without being recorded, for however short a time. */
size_t hotplug_missed(const struct hotplug *h);

/* A line with these, if there are any. */
void hotplug_say(const struct hotplug *h);

#endif
