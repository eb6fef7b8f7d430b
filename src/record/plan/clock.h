/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads the time by the clock of a recording's events, in ns.
 *
 * User space cannot read the kernel's default clock for events (local_clock()). So this module
 * opens an event that samples the page faults of the thread, causes one, and reads the time of the
 * sample. A throttled event takes no samples; then the thread sets its name to what it is already,
 * and the event's COMM record has the time. That is the second way since a COMM goes to each
 * recorder on the machine, and wakes their readers, ours among them. With -k it reads the POSIX
 * clock.
 *
 * Threads: only the thread that called clock_open(), because the event watches that thread.
 */
#ifndef RINGTAIL_RECORD_PLAN_CLOCK_H
#define RINGTAIL_RECORD_PLAN_CLOCK_H

#include "record/plan/options.h"
#include "ring/ring.h"

struct clock {
	bool posix; /* events use the POSIX clock @id */
	int id;
	int fd;	      /* else the event; -1: it could not be opened */
	void *memory; /* of its ring: header page and a page of data */
	void *page;   /* that is faulted in; NULL: there is none */
	size_t page_size;
	struct ring ring;
};

#define CLOCK_INIT       \
	{                \
		.fd = -1 \
	}

/* Opens the clock that @opts choose. If that fails, clock_now() returns 0. */
void clock_open(struct clock *c, const struct sample_opts *opts);
void clock_close(struct clock *c); /* accepts CLOCK_INIT */

/* Returns the time now in ns, or 0 if it is not known. */
uint64_t clock_now(struct clock *c);

#endif
