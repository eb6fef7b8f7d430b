/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What time it is by the clock of a recording.
 *
 * The kernel's own clock of events can be read by nobody else. So we have an event of our own that
 * tells of names of tasks, and give ourselves the name that we have.
 *
 * One thread, which must be the one that made it.
 */
#ifndef RINGTAIL_RECORD_PLAN_CLOCK_H
#define RINGTAIL_RECORD_PLAN_CLOCK_H

#include "record/plan/options.h"
#include "ring/ring.h"

struct clock {
	bool posix; /* events have the time of @id */
	int id;
	int fd;	      /* else: of our event; -1: there could be none */
	void *memory; /* of its ring, a page */
	size_t page_size;
	struct ring ring;
};

#define CLOCK_INIT       \
	{                \
		.fd = -1 \
	}

/* Opens an event unless @opts name a POSIX clock. If the kernel refuses it, clock_now() returns 0.
 */
void clock_open(struct clock *c, const struct sample_opts *opts);
void clock_close(struct clock *c); /* accepts CLOCK_INIT */

/* In ns; 0: it cannot be known. */
uint64_t clock_now(struct clock *c);

#endif
