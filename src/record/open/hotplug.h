/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Watches CPUs go offline and come online during a recording.
 *
 * The kernel removes the events of a whole CPU that goes offline, and does not restore them when it
 * is online again. So the recorder opens them again (record/open/revive.h) on the CPUs that
 * hotplug_due() returns. It misses the events before that, and all events of a CPU that was missing
 * at the start, which has no rings. No record in the rings reports this: it is a message, and
 * counts as loss.
 *
 * Uevents of the kernel report CPUs that come and go. In containers, where there are none,
 * hotplug_poll() reads the list of online CPUs once a second; it misses shorter absences.
 *
 * Threads: the main thread's. All calls accept HOTPLUG_INIT, which watches nothing.
 */
#ifndef RINGTAIL_RECORD_OPEN_HOTPLUG_H
#define RINGTAIL_RECORD_OPEN_HOTPLUG_H

#include <time.h>

#include "record/plan/messages.h"
#include "record/plan/options.h"
#include "record/plan/plan.h"

struct hotplug {
	const struct messages *messages;
	int fd;	      /* of sys/kernel/uevent.h; -1: only hotplug_poll() finds changes */
	bool all;     /* all CPUs are recorded, not a list of them */
	bool reopens; /* there are events of whole CPUs */
	struct hotplug_cpu {
		int cpu;
		bool sampled;  /* else only sideband is recorded there */
		bool known;    /* at the start */
		bool recorded; /* its events are open */
		bool due;      /* the session must open its events again */
		bool missed;   /* it was online without events for some time */
		bool reported; /* as not recorded */
		unsigned int tries;
	} * cpus;
	size_t nr, capacity;
	time_t polled; /* seconds of CLOCK_MONOTONIC */
};

#define HOTPLUG_INIT     \
	{                \
		.fd = -1 \
	}

/*
 * Begins to watch, after the events of @plan were opened. @h has messages set, the rest zero.
 * Returns 0 or -ENOMEM; call hotplug_release() in both cases.
 */
int hotplug_init(struct hotplug *h, const struct target_opts *opts, const struct plan *plan);
void hotplug_release(struct hotplug *h);

/* Returns a descriptor that is readable when hotplug_due() has uevents to read; -1: never. */
int hotplug_fd(const struct hotplug *h);

/*
 * Reads queued uevents up to one of a CPU that is back. Returns whether the session must open the
 * events of *@ret_cpu again, and then call hotplug_revived() with the result: 0 or a negative
 * errno; -ENODEV: try later.
 */
bool hotplug_due(struct hotplug *h, int *ret_cpu);
void hotplug_revived(struct hotplug *h, int cpu, int rc);

/*
 * Reads which CPUs are online, at most once a second, and calls hotplug_update(). Call it when
 * hotplug_due() has returned false: a stale uevent must not override this scan.
 */
void hotplug_poll(struct hotplug *h);

/* Prints what has changed to @online; hotplug_due() returns the CPUs that are back. */
void hotplug_update(struct hotplug *h, const struct cpus *online);

/* The same for @cpu, which has come online or gone offline. */
void hotplug_event(struct hotplug *h, int cpu, bool online);

/* Returns how many CPUs were online without being recorded, even for a short time. */
size_t hotplug_missed(const struct hotplug *h);

/* Prints a line with these CPUs, if there are any. */
void hotplug_say(const struct hotplug *h);

#endif
